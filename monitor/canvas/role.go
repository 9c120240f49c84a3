package canvas

import (
	"github.com/gdamore/tcell/v2"

	"ralph/state/view"
	"ralph/state/view/summary"
)

// Mark shows the role of a line without color.
func Mark(r view.Role) string {
	marks := [...]string{view.RoleText: " ", view.RoleTool: "▸", view.RoleAnswer: "│", view.RoleError: "✗",
		view.RoleHeading: "━", view.RoleNote: "·", view.RoleResult: "■", view.RoleGood: "✓", view.RoleWarning: "!",
		view.RoleTold: "»"}
	return marks[r]
}

// Role is the style of a role.
func (c Canvas) Role(r view.Role) tcell.Style {
	switch r {
	case view.RoleTool, view.RoleTold:
		return c.Tone(summary.Busy)
	case view.RoleWarning:
		return c.Tone(summary.Warn)
	case view.RoleAnswer, view.RoleNote:
		return c.Dim()
	case view.RoleError:
		return c.Tone(summary.Bad)
	case view.RoleGood:
		return c.Tone(summary.Good)
	case view.RoleHeading, view.RoleResult:
		return tcell.StyleDefault.Bold(true)
	}
	return tcell.StyleDefault
}
