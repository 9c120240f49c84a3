package monitor

import (
	"fmt"
	"math"
	"strings"
)

// RenderStatus is the text of `ralph status`: the facts of the screen on at
// most 20 lines, each cut to width cells, ending in a newline. A width of 0
// cuts nothing.
func RenderStatus(s Snapshot, width int) string {
	if width <= 0 {
		width = math.MaxInt
	}
	v := newView(s, &history{}, s.At)
	var b strings.Builder
	row := func(label, text string) {
		if text != "" {
			b.WriteString(strings.TrimRight(fit(fmt.Sprintf("%-9s %s", label, text), width), " ") + "\n")
		}
	}
	row("project", v.Project)
	row("state", v.Mark+" "+strings.ToLower(v.Word))
	row("", v.News)
	row("", v.Advice)
	row("progress", join(" · ", v.Iteration, v.Elapsed))
	row("agent", v.Identity)
	if s.State != StateNone {
		row("plan", join(" · ", v.Plan.Counts, v.Plan.Task))
		for _, g := range v.Gauges {
			row(g.Label, join(" · ", g.Value, g.Note))
		}
		row("cost", join(" · ", v.Cost, v.Tokens))
	}
	row("checks", v.Checks)
	row("breaker", join(" · ", v.Breaker.State, v.Breaker.Counters))
	row("", v.Breaker.Reason)
	for _, p := range v.Problems {
		row("problem", p)
	}
	return b.String()
}
