package summary

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"time"

	"ralph/logs/termtext"
	"ralph/state"
	"ralph/state/view"
)

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
	sort.SliceStable(all, func(i, j int) bool { return rank[all[i].Result] < rank[all[j].Result] })
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

// Gauge is one bar of API usage. Part is 0..1; negative if there is no limit.
type Gauge struct {
	Label string
	Part  float64
	Value string
	Note  string
	Tone  Tone
	Idle  bool // nothing is used, and there is no limit
}

func gauges(m *view.Model, now time.Time) []Gauge {
	st := m.Status
	calls, tokens := m.Calls.Calls, m.Calls.Tokens
	reset := m.Calls.Hour.Add(time.Hour)
	if m.Calls.Hour.IsZero() || !reset.After(now) {
		calls, tokens, reset = 0, 0, time.Time{}
	}
	note := ""
	if !reset.IsZero() && m.Active() {
		note = resets(reset, now)
	}
	all := []Gauge{
		bounded("calls", int64(calls), int64(st.MaxCallsPerHour), note),
		bounded("tokens", tokens, st.MaxTokensPerHour, ""),
	}
	if after := st.LoopCount > 1 || st.RunID != "" && !m.Active(); after && tokens == 0 && st.Usage.Total() == 0 &&
		st.MaxTokensPerHour == 0 {
		all[1].Value, all[1].Idle = "-", false // the agent reports none
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
			g.Note = "resets " + view.Clock(l.ResetsAt, now)
			if m.Active() {
				g.Note = resets(l.ResetsAt, now)
			}
		}
		all = append(all, g)
	}
	return all
}

func resets(t, now time.Time) string {
	return fmt.Sprintf("resets %s, in %s", view.Clock(t, now), rough(t.Sub(now)))
}

func bounded(label string, used, most int64, note string) Gauge {
	g := Gauge{Label: label, Part: -1, Value: Count(used) + " this hour", Note: note, Idle: used == 0 && most <= 0}
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

// sign is how a state looks.
type sign struct {
	mark string // one cell
	tone Tone
}

var taskSigns = map[string]sign{
	"open": {"○", Calm}, "active": {"▸", Busy}, "review": {"⏸", Warn},
	"blocked": {"⊘", Warn}, "done": {"✓", Good}, "dropped": {"✗", Calm},
}

// TaskMark is the state of a task, as the plan says it, in one cell.
func TaskMark(state string) (mark string, tone Tone) {
	s := taskSigns[state]
	return cmp.Or(s.mark, "?"), s.tone
}
