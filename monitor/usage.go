package monitor

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"ralph/state"
)

// gauges are the bars of API usage, those that always exist first.
func gauges(s Snapshot, h *history, now time.Time) []gauge {
	st := s.Status
	calls, tokens := s.Calls.Calls, s.Calls.Tokens
	reset := s.Calls.Hour.Add(time.Hour)
	if s.Calls.Hour.IsZero() || !reset.After(now) {
		calls, tokens, reset = 0, 0, time.Time{}
	}
	note := ""
	if !reset.IsZero() {
		note = resets(reset, now)
	}
	all := []gauge{
		bounded("calls", int64(calls), int64(st.MaxCallsPerHour), note),
		bounded("tokens", tokens, st.MaxTokensPerHour, ""),
	}
	for _, l := range limits(st, h) {
		if !l.ResetsAt.IsZero() && l.ResetsAt.Before(now) {
			continue // over: what it said is history
		}
		g := gauge{Label: windowName(l.Kind), Part: -1, Value: "not reached"}
		if l.Utilization >= 0 {
			g.Part = min(l.Utilization, 1)
			g.Value = fmt.Sprintf("%.0f %%", l.Utilization*100)
			g.Tone = level(g.Part)
		}
		if l.Rejected {
			g.Value, g.Tone = "reached", bad
			g.Part = 1
		}
		if !l.ResetsAt.IsZero() {
			g.Note = resets(l.ResetsAt, now)
		}
		all = append(all, g)
	}
	return all
}

func resets(t, now time.Time) string {
	return fmt.Sprintf("resets %s, in %s", clock(t, now), rough(t.Sub(now)))
}

func limits(st state.Status, h *history) []state.Limit {
	if st.Limit == nil {
		return h.Limits
	}
	all := history{Limits: slices.Clone(h.Limits)}
	all.limit(*st.Limit)
	return all.Limits
}

func bounded(label string, used, most int64, note string) gauge {
	g := gauge{Label: label, Part: -1, Value: count(used) + " this hour", Note: note}
	if most > 0 {
		g.Part = min(float64(used)/float64(most), 1)
		g.Value = count(used) + "/" + count(most)
		g.Tone = level(g.Part)
	}
	return g
}

func level(part float64) tone {
	switch {
	case part >= 0.95:
		return bad
	case part >= 0.75:
		return warn
	}
	return good
}

// windowName turns a vendor's name of a limit window into words.
func windowName(kind string) string {
	switch kind {
	case "":
		return "usage"
	case "five_hour":
		return "5-hour"
	case "seven_day":
		return "7-day"
	}
	return strings.ReplaceAll(strings.Replace(oneLine(kind), "seven_day_", "7-day ", 1), "_", " ")
}
