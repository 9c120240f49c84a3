package summary

import (
	"fmt"
	"time"

	"ralph/logs/termtext"
	"ralph/state"
	"ralph/state/view"
)

// Burn says how fast a run spends money or tokens, and when it reaches its cost limit at that rate.
func Burn(m *view.Model, now time.Time) []string {
	st := m.Status
	if !m.Active() {
		now = st.Timestamp
	}
	hours := now.Sub(m.Run.StartedAt).Hours()
	usage := st.Usage // as the panel of usage says it
	if usage == (state.Usage{}) {
		usage = m.Run.Usage
	}
	if m.Run.StartedAt.IsZero() || hours <= 0 {
		return nil
	}
	const least = 1.0 / 60 // hours; less time is not enough to compute a rate
	rate := func(text string) string {
		if hours < least {
			return ""
		}
		return text
	}
	cost, ceiling := "", ""
	if usage.CostUSD > 0 {
		perHour := usage.CostUSD / hours
		cost = view.Join(" · ", "cost "+view.Dollars(usage.CostUSD), rate(view.Dollars(perHour)+" an hour"))
		for _, b := range st.EndsWhen {
			if b.Name != state.BoundCost || b.Most <= 0 {
				continue
			}
			ceiling = fmt.Sprintf("%.0f %% of %s", 100*usage.CostUSD/b.Most, view.Dollars(b.Most))
			if left := view.Seconds((b.Most - usage.CostUSD) / perHour * 3600); hours >= least && left > 0 &&
				m.Active() {
				ceiling += ", used up at this rate " + ahead(now, left)
			}
		}
	}
	tokens := ""
	if n := usage.Total(); n > 0 {
		tokens = view.Join(" · ", "tokens "+Count(n), rate(Count(int64(float64(n)/hours))+" an hour"))
	}
	var all []string
	for _, line := range []string{cost, ceiling, tokens} {
		if line != "" {
			all = append(all, termtext.Line(line))
		}
	}
	return all
}

// ahead says when something happens; in the far future only roughly.
func ahead(now time.Time, left time.Duration) string {
	if left > 14*24*time.Hour {
		return "in more than two weeks"
	}
	return fmt.Sprintf("%s, in %s", view.Clock(now.Add(left), now), rough(left))
}
