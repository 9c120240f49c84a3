package summary

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"ralph/logs/termtext"
	"ralph/state"
	"ralph/state/view"
)

// maxRed is how many checks that have not passed get their own line.
const maxRed = 4

// Text returns what ralph status prints: lines of at most width cells, each with a
// newline. It wraps long news and cuts other lines. A width of 0 means no limit.
func Text(m *view.Model, now time.Time, width int) string {
	if width <= 0 {
		width = math.MaxInt
	}
	v := Of(m, now)
	var b strings.Builder
	row := func(label, text string) {
		if text != "" {
			b.WriteString(strings.TrimRight(termtext.Fit(fmt.Sprintf("%-9s %s", label, text), width), " ") + "\n")
		}
	}
	wrapped := func(label, text string) {
		for _, part := range termtext.Wrap(text, max(width-10, 20)) {
			row(label, part)
			label = ""
		}
	}
	row("project", v.Project)
	row("state", view.Join(" · ", v.Mark+" "+strings.ToLower(v.Word), v.Asked))
	wrapped("", v.What)
	looks := toAccept(m.Status)
	for _, item := range looks {
		wrapped(fmt.Sprintf("look %d", item.N), termtext.Line(fmt.Sprintf("%s; show: %s; accept: ralph accept %d",
			item.Text, item.Show, item.N)))
	}
	if n := len(m.Status.Uncommitted); n > 0 {
		last := m.Status.Uncommitted[n-1]
		wrapped("kept out",
			termtext.Line(fmt.Sprintf("%s of this run not committed: %s (%s)", termtext.Count(n, "file"),
				last.File, last.Why)))
	}
	wrapped("next", v.Advice)
	row("progress", view.Join(" · ", v.Iteration, v.Elapsed))
	row("agent", v.Identity)
	if m.State != view.StateNone {
		v.Plan.rows(row)
		for _, g := range v.Gauges {
			row(g.Label, view.Join(" · ", g.Value, g.Note))
		}
		row("cost", view.Join(" · ", v.Cost, v.Tokens))
	}
	checkRows(v.Checks, row)
	for _, n := range v.Notes {
		if among(looks, n) {
			continue // it is shown above
		}
		row(label(n), view.Join(" ", view.Clock(n.At, now), n.Text))
	}
	for i, said := range state.VerdictLines(m.Status.Verdicts) { // of the latest phase
		wrapped([]string{"review", ""}[min(i, 1)], termtext.Line(said))
	}
	for i, line := range ending(v, !m.Active(), min(width, 80)-10) {
		row([]string{"stuck", "limits", ""}[min(i, 2)], line)
	}
	for _, p := range v.Problems {
		row("problem", p)
	}
	return b.String()
}

// toAccept are the items that a person has to look at now.
func toAccept(s state.Status) []state.ReviewItem {
	if s.Status != state.StatusReview || s.Undone > 0 {
		return nil
	}
	return s.Review
}

// among reports whether a note says what one of the items says.
func among(items []state.ReviewItem, n view.Note) bool {
	return slices.ContainsFunc(items, func(item state.ReviewItem) bool {
		return strings.Contains(n.Text, termtext.Line(item.Text))
	})
}

// checkRows are those that have not passed, a line each, and then the others.
func checkRows(all []CheckLine, row func(label, text string)) {
	var passed []string
	label := "checks"
	for i, k := range all {
		if k.Tone == Good || i >= maxRed {
			passed = append(passed, k.Text)
			continue
		}
		row(label, k.Text)
		label = ""
	}
	row(label, view.Join(" · ", passed...))
}

func (p Plan) rows(row func(label, text string)) {
	if len(p.Slots) > 0 {
		p.Task = "" // each turn has its own
	}
	row("plan", view.Join(" · ", p.Counts, view.Prefix(p.Lastly(), p.Task)))
	for _, slot := range p.Slots {
		row("slot", slot)
	}
	row("fleet", p.Fleet)
}

// ending says how the breaker stands and, in lines of at most width cells, what ends
// the run: the bounds that it has come nearer to. over: no run is alive.
func ending(v Summary, over bool, width int) []string {
	lines := []string{view.Prefix(v.Breaker.Stuck+": ", v.Breaker.Says), ""}
	if over {
		return lines[:1] // nothing counts towards them, or nothing does any more
	}
	for _, e := range v.Ends {
		last := &lines[len(lines)-1]
		if e.Far {
			break
		}
		if longer := view.Join(" · ", *last, e.Text); *last == "" || termtext.Width(longer) <= width {
			*last = longer
		} else {
			lines = append(lines, e.Text)
		}
	}
	return lines
}

// label is what a note is about.
func label(n view.Note) string {
	switch {
	case n.Task:
		return "task"
	case n.Role == view.RoleTold:
		return "feedback"
	}
	return "finding"
}
