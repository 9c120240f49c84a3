package board

import (
	"time"

	"ralph/logs/termtext"
	"ralph/state/view"
)

// maxColumn is how much of a line of the live log is sent, in cells.
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
	r.Text = termtext.Fit(r.Text, maxColumn)
	return r
}
