package monitor

import (
	"fmt"
	"math"
	"strings"
)

// maxRed is the number of checks that get a line of their own.
const maxRed = 4

// RenderStatus is the text of `ralph status`: the facts of the screen, each
// line at most width cells wide, ending in a newline. A long reason takes several lines. A width of 0
// cuts nothing.
func RenderStatus(s Snapshot, width int) string {
	if width <= 0 {
		width = math.MaxInt
	}
	v := newView(s, &history{notes: s.notes}, s.At)
	var b strings.Builder
	row := func(label, text string) {
		if text != "" {
			b.WriteString(strings.TrimRight(fit(fmt.Sprintf("%-9s %s", label, text), width), " ") + "\n")
		}
	}
	row("project", v.Project)
	wrapped := func(label, text string) { // what a person must not miss the end of
		start := 0
		for _, end := range rows(text, max(width-10, 20)) {
			row(label, text[start:end])
			label, start = "", end
		}
	}
	row("state", join(" · ", v.Mark+" "+strings.ToLower(v.Word), v.Asked))
	wrapped("", v.News)
	wrapped("next", v.Advice)
	row("progress", join(" · ", v.Iteration, v.Elapsed))
	row("agent", v.Identity)
	if s.State != StateNone {
		row("plan", join(" · ", v.Plan.Counts, v.Plan.Task))
		for _, g := range v.Gauges {
			row(g.Label, join(" · ", g.Value, g.Note))
		}
		row("cost", join(" · ", v.Cost, v.Tokens))
	}
	var passed []string
	label := "checks"
	for i, k := range v.Checks {
		if k.Tone == good || i >= maxRed {
			passed = append(passed, k.Text)
			continue
		}
		row(label, k.Text)
		label = ""
	}
	row(label, join(" · ", passed...))
	for _, n := range v.Notes {
		row("finding", join(" ", clock(n.at, s.At), n.text))
	}
	row("breaker", join(" · ", v.Breaker.State, v.Breaker.Counters))
	row("", v.Breaker.Reason)
	for _, p := range v.Problems {
		row("problem", p)
	}
	return b.String()
}
