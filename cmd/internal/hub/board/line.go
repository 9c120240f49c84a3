package board

import (
	"time"
	"unicode/utf8"

	"ralph/state/view"
)

// maxColumn is how much of a line of the live log is sent, in bytes.
const maxColumn = 500

// row is a line of a log as the page shows it.
type row struct {
	At   string `json:"at,omitempty"`
	Text string `json:"text"`
	Role string `json:"role"`
}

func shownLine(l view.Line) row {
	r := row{Text: l.Text, Role: l.Role.String()}
	if !l.At.IsZero() {
		r.At = l.At.Local().Format(time.TimeOnly)
	}
	if l.Sub {
		r.Text = "  " + r.Text
	}
	if len(r.Text) > maxColumn {
		end := maxColumn
		for end > 0 && !utf8.RuneStart(r.Text[end]) {
			end--
		}
		r.Text = r.Text[:end] + "…"
	}
	return r
}
