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

// End is a bound that ends the run: "no progress 2/3".
type End struct {
	Text string
	Tone Tone
	Far  bool // nothing counts towards it yet
}

// ends formats the bounds of a run, the nearest first.
func ends(m *view.Model, now time.Time) (all []End) {
	st := m.Status
	if !m.Active() {
		now = st.Timestamp
	}
	bounds := slices.Clone(st.EndsWhen)
	for i := range bounds {
		switch b := &bounds[i]; b.Name {
		case state.BoundDuration, state.BoundUntil:
			b.Have = max(now.Sub(b.From).Seconds(), 0)
		case state.BoundCost:
			b.Have = st.Usage.CostUSD
		}
	}
	bounds = slices.DeleteFunc(bounds, func(b state.Bound) bool {
		return !(b.Most > 0) || b.Have == 0 && b.Name != state.BoundCost && !m.Active() // nothing counts any more
	})
	sort.SliceStable(bounds, func(i, j int) bool {
		return bounds[i].Have/bounds[i].Most > bounds[j].Have/bounds[j].Most
	})
	for _, b := range bounds {
		tone := Calm
		switch {
		case b.Have >= b.Most:
			tone = Bad
		case b.Have > 0 && (b.Have+1 >= b.Most || b.Have >= 0.8*b.Most):
			tone = Warn
		}
		text := endText(b, now, m.Active())
		if b.Name == state.BoundCost && b.Have == 0 && (st.LoopCount > 1 || !m.Active()) {
			text = fmt.Sprintf("cost not reported, bound $%.2f", b.Most)
		}
		all = append(all, End{text, tone, b.Have == 0})
	}
	return all
}

func endText(b state.Bound, now time.Time, active bool) string {
	switch b.Name {
	case state.BoundDuration:
		return fmt.Sprintf("time %s/%s", rough(view.Seconds(b.Have)), rough(view.Seconds(b.Most)))
	case state.BoundUntil:
		end := b.From.Add(view.Seconds(b.Most)).Round(time.Second) // both have fractions
		if b.Have >= b.Most || !active {
			return "until " + view.Clock(end, now)
		}
		return fmt.Sprintf("until %s, %s left", view.Clock(end, now), rough(end.Sub(now)))
	case state.BoundCost:
		return fmt.Sprintf("cost $%.2f/$%.2f", b.Have, b.Most)
	}
	name := map[string]string{"denials": "refused permissions", "claims": "says it is done"}[b.Name]
	return fmt.Sprintf("%s %.0f/%.0f", cmp.Or(name, termtext.Line(b.Name)), b.Have, b.Most)
}

// forecast says when the open tasks may be done if they take as long as those of this run so far.
func forecast(m *view.Model, now time.Time) string {
	const enough = 3 // tasks
	done, open, took := m.Run.Finished(), m.Status.Task.Total-m.Status.Task.Done, now.Sub(m.Run.StartedAt)
	if done < enough || open <= 0 || took <= 0 || m.Run.StartedAt.IsZero() {
		return ""
	}
	return "done about " + ahead(now, took/time.Duration(done)*time.Duration(open))
}

// ahead says when something happens; in the far future only roughly.
func ahead(now time.Time, left time.Duration) string {
	if left > 14*24*time.Hour {
		return "in more than two weeks"
	}
	return fmt.Sprintf("%s, in %s", view.Clock(now.Add(left), now), rough(left))
}
