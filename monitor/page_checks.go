package monitor

import (
	"slices"

	"ralph/state"
	"ralph/state/view"
	"ralph/state/view/summary"
)

// openChecks shows the checks and all that was found or told to the agent, newest first.
func (u *ui) openChecks() {
	p := newText(u, "Checks and findings", "c", func() (all []view.Line) {
		v := summary.Of(&u.model, u.o.Now())
		for _, k := range v.Checks {
			all = append(all, view.Line{Text: k.Mark + " " + k.Text, Role: roleOf(k.Tone)})
		}
		if len(all) == 0 {
			all = []view.Line{{Text: "no check has run yet", Role: view.RoleNote}}
		}
		for _, item := range u.model.Status.Review {
			all = append(all, view.Line{Text: summary.Numbered([]state.ReviewItem{item}, item.Text) + "; show: " + item.Show, Role: view.RoleWarning})
		}
		for _, n := range slices.Backward(v.Notes) {
			all = append(all, view.Line{Text: view.Clock(n.At, u.o.Now()) + " " + n.Text, Role: n.Role})
		}
		return all
	})
	p.bare = true
	p.replace(p.remake())
	u.open("checks", p)
}
