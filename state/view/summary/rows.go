package summary

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"ralph/logs/termtext"
	"ralph/state"
	"ralph/state/view"
)

// IterationRow is one iteration as a row of a list.
type IterationRow struct {
	Number   int
	Duration string
	Title    string // of its task; empty: none
	Text     string // what was unusual, and how many files changed
	Mark     string
	Tone     Tone
	Cost     string
}

// Row formats the iteration with this index. Call it only for visible rows: a run may
// have thousands.
func Row(m *view.Model, i int, now time.Time) IterationRow {
	it := &m.Run.Iterations[i]
	v := IterationRow{Number: it.Number, Duration: view.Span(view.Seconds(it.Seconds)), Cost: view.Dollars(it.CostUSD),
		Title: termtext.Line(it.Task)}
	calls := termtext.Count(it.Tools, "tool call")
	switch {
	case it.Running():
		doing := "running"
		if runningCheck(m.Status, now) != "" {
			doing = "checking"
		}
		v.Duration, v.Mark, v.Tone, v.Text = view.Span(now.Sub(it.StartedAt)), "●", Busy, view.Join(", ", doing, calls)
	case it.Ended.IsZero():
		v.Duration, v.Mark, v.Tone, v.Text = "?", "?", Warn, view.Join(", ", "cut off", calls)
	default:
		files := "no change"
		if it.Files > 0 {
			files = termtext.Count(it.Files, "file")
		}
		why := ""
		if it.Rule != "continue" {
			why = cmp.Or(it.Reason, it.Rule)
		}
		if said := verdictsOf(it); said != "" { // they say it all
			files, why = said, ""
		}
		v.Text = lineOf(": ", lineOf(", ", outcomeOf(it), why, files), it.Failed)
		v.Mark, v.Tone = iterationMark(it)
	}
	return v
}

// outcomeOf is what was unusual about the agent's call.
func outcomeOf(it *view.Iteration) string {
	switch {
	case it.Cut == string(state.RequestSkip):
		return "skipped"
	case it.Cut != "", it.Rule == "candidate_lost":
		return "aborted"
	case it.Says == saysBlocked && it.Outcome == view.CompletedTurn:
		return "the agent is blocked"
	case it.Says == saysError && it.Outcome == view.CompletedTurn:
		return "the agent reports an error"
	}
	return view.Unless(view.CompletedTurn, it.Outcome)
}

// verdictsOf is what reviewers said; empty: none looked.
func verdictsOf(it *view.Iteration) string {
	var all []string
	for _, v := range it.Verdicts {
		all = append(all, v.Short())
	}
	return view.Prefix("review: ", strings.Join(all, ", "))
}

// What an agent says when it did not succeed, even if its call ended well.
const (
	saysBlocked = "BLOCKED"
	saysError   = "ERROR"
)

func iterationMark(it *view.Iteration) (string, Tone) {
	unwell := it.Says == saysBlocked || it.Says == saysError
	switch {
	case view.Succeeds(it.Rule) && unwell:
		return "!", Warn
	case view.Succeeds(it.Rule):
		return "✓", Good
	case it.Action == "stop":
		return "■", Bad
	case it.Cut != "", it.Rule == "candidate_lost":
		return "»", Calm
	case it.Action == "wait":
		return "○", Warn
	case it.Rule == "review_passed":
		return "✓", Good
	case it.Outcome != view.CompletedTurn || it.Rule != "continue" || unwell:
		return "!", Warn
	case it.Files == 0:
		return "·", Calm
	}
	return "✓", Good
}

// CheckLine is one of the project's checks.
type CheckLine struct {
	Mark string // the result as one character
	Text string // "test running 12s", "test failed since 07:30", "test passed 1.2s"
	Tone Tone
}

// checkLines formats the checks of a run: running ones first, then failed ones.
func checkLines(m *view.Model, now time.Time) []CheckLine {
	all := slices.Clone(m.Checks())
	rank := map[string]int{"running": -2, "failed": -1}
	slices.SortStableFunc(all, func(a, b state.CheckStatus) int { return cmp.Compare(rank[a.Result], rank[b.Result]) })
	var lines []CheckLine
	for _, c := range all {
		name, red := termtext.Line(c.Name), ""
		if !c.RedSince.IsZero() {
			red = "since " + view.Clock(c.RedSince, now)
		}
		v := CheckLine{"✓", view.Join(" ", name, termtext.Line(c.Result), view.Took(c.Seconds)), Good}
		switch {
		case c.Result == "running" && !m.Active():
			v = CheckLine{"?", name + " cut off", Warn}
		case c.Result == "running":
			running := name + " running " + view.Span(now.Sub(c.StartedAt))
			v = CheckLine{"●", view.Join(", ", running, view.Prefix("red ", red)), Busy}
		case c.Result == "skipped":
			v = CheckLine{"-", name + " has nothing to check yet", Calm}
		case c.Result == "failed":
			v = CheckLine{"✗", view.Join(" ", name, "failed", red), Bad}
		}
		lines = append(lines, v)
	}
	return lines
}

// runningCheck names the running check and its time; empty: none.
func runningCheck(st state.Status, now time.Time) string {
	for _, c := range st.Checks {
		if c.Result == "running" {
			return fmt.Sprintf("check %s is running, %s", termtext.Line(c.Name), view.Span(now.Sub(c.StartedAt)))
		}
	}
	return ""
}

// Gauge is one bar of API usage. Part is 0..1; below zero: there is no limit.
type Gauge struct {
	Label string
	Part  float64
	Value string
	Note  string
	Tone  Tone
}

func gauges(m *view.Model, now time.Time) []Gauge {
	st := m.Status
	calls, tokens := m.Calls.Calls, m.Calls.Tokens
	reset := m.Calls.Hour.Add(time.Hour)
	if m.Calls.Hour.IsZero() || !reset.After(now) {
		calls, tokens, reset = 0, 0, time.Time{}
	}
	note := ""
	if !reset.IsZero() {
		note = resets(reset, now)
	}
	all := []Gauge{
		bounded("calls", int64(calls), int64(st.MaxCallsPerHour), note),
		bounded("tokens", tokens, st.MaxTokensPerHour, ""),
	}
	for _, l := range m.Limits() {
		if !l.ResetsAt.IsZero() && l.ResetsAt.Before(now) {
			continue // the window has reset
		}
		g := Gauge{Label: view.WindowName(l.Name), Part: -1, Value: "not reached"}
		if l.Utilization >= 0 {
			g.Part = min(l.Utilization, 1)
			g.Value = fmt.Sprintf("%.0f %%", l.Utilization*100)
			g.Tone = level(g.Part)
		}
		if l.Rejected {
			g.Value, g.Tone, g.Part = "reached", Bad, 1
		}
		if !l.ResetsAt.IsZero() {
			g.Note = resets(l.ResetsAt, now)
		}
		all = append(all, g)
	}
	return all
}

func resets(t, now time.Time) string {
	return fmt.Sprintf("resets %s, in %s", view.Clock(t, now), rough(t.Sub(now)))
}

func bounded(label string, used, most int64, note string) Gauge {
	g := Gauge{Label: label, Part: -1, Value: Count(used) + " this hour", Note: note}
	if most > 0 {
		g.Part = min(float64(used)/float64(most), 1)
		g.Value = Count(used) + "/" + Count(most)
		g.Tone = level(g.Part)
	}
	return g
}

func level(part float64) Tone {
	switch {
	case part >= 0.95:
		return Bad
	case part >= 0.75:
		return Warn
	}
	return Good
}

// TaskMark is the state of a task, as the plan says it, in one cell.
func TaskMark(state string) (mark string, tone Tone) {
	switch state {
	case "open":
		return "○", Calm
	case "active":
		return "▸", Busy
	case "review":
		return "⏸", Warn
	case "blocked":
		return "⊘", Warn
	case "done":
		return "✓", Good
	case "dropped":
		return "✗", Calm
	}
	return "?", Calm
}
