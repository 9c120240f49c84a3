package monitor

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"ralph/logs/termtext"
	"ralph/state"
	"ralph/state/view"
	"ralph/state/view/summary"
)

// openReview shows an iteration as a person reviews it: how it ended, its checks and findings.
func (u *ui) openReview(n int) {
	if u.indexOf(n) < 0 {
		u.say("there is no iteration %d to review", n)
		return
	}
	p := newText(u, fmt.Sprintf("Review of iteration %d", n), "r", nil)
	p.remake = func() []view.Line {
		i := u.indexOf(n)
		if i < 0 {
			return p.logView.lines // it is of another run, or too old for the model
		}
		return reviewOf(&u.model, i, summary.Row(&u.model, i, u.o.Now()))
	}
	p.keys = func() []binding {
		return append([]binding{
			{"enter", "read", "the transcript of the iteration", func() { u.openTranscript(n) }},
			{"d", "diff", "what the iteration changed", func() { u.openChanges(n) }},
		}, neighbours(n, u.openReview)...)
	}
	u.open("review", p)
	p.Update(view.Update{})
}

// reviewOf says how the iteration with this index ended.
func reviewOf(m *view.Model, i int, row summary.IterationRow) []view.Line {
	it, all := &m.Run.Iterations[i], []view.Line(nil)
	add := func(role view.Role, text string) {
		if text != "" {
			all = append(all, view.Line{Text: termtext.Line(text), Role: role, First: true})
		}
	}
	add(view.RoleHeading, view.Join(" · ", fmt.Sprintf("iteration %d", it.Number), it.Task))
	if it.Running() { // no figures: a text that keeps changing cannot be read
		row = summary.IterationRow{Mark: row.Mark, Text: "still running",
			Duration: "since " + it.StartedAt.Local().Format("15:04")}
	}
	add(view.RoleText, view.Join(" · ", row.Mark+" "+strings.TrimSuffix(row.Text, ": "+termtext.Line(it.Failed)),
		row.Duration, row.Cost))
	why := it.Reason
	if it.Rule != "" {
		why += " (rule " + it.Rule + ")"
	}
	add(view.RoleNote, why)
	add(view.RoleError, view.Prefix("the call failed: ", it.Failed))
	for _, name := range slices.Sorted(maps.Keys(it.Checks)) {
		if it.Checks[name] {
			add(view.RoleGood, "check "+name+" passed")
		} else {
			add(view.RoleError, "check "+name+" failed")
			all = append(all, linesOf(it.Output[name], view.RoleAnswer)...)
		}
	}
	for i, said := range state.VerdictLines(it.Verdicts) {
		role := view.RoleWarning
		switch {
		case i == len(it.Verdicts): // the score of all, which decides nothing
			role = view.RoleNote
		case it.Verdicts[i].Passes():
			role = view.RoleGood
		}
		add(role, "verdict of "+said)
	}
	switch {
	case len(it.Checks)+len(it.Verdicts) > 0:
	case it.Running():
		add(view.RoleNote, "no check has run yet")
	default:
		add(view.RoleNote, "no check ran")
	}
	for _, text := range it.Findings {
		add(view.RoleWarning, "finding: "+summary.Numbered(m.Status.Review, text))
	}
	return all
}
