package pace

import (
	"fmt"
	"slices"
	"time"

	"ralph/state"
)

// reserve is the share of a window that a call is expected to use at most. What it will use is not known before.
const reserve = 0.05

// Book is what a run knows about the use of windows. The zero value holds nothing back.
type Book struct {
	Rules  []Rule
	Waived time.Time // until then a person wants the run to work
	Used   []state.WindowUse
	calls  map[string]call
}

type call struct{ agent, model string }

// Hold is what keeps a call from beginning.
type Hold struct {
	Until  time.Time // zero: nothing does
	Reason string
}

// Held is true when the call has to wait.
func (h Hold) Held() bool { return !h.Until.IsZero() }

// Begin notes that a call begins; key tells it from others under way.
func (b *Book) Begin(key, agent, model string) {
	if b.calls == nil {
		b.calls = map[string]call{}
	}
	b.calls[key] = call{agent, model}
}

// Note takes what an agent reports during a call.
func (b *Book) Note(key string, l state.Limit) {
	c, under := b.calls[key]
	if !under || len(b.Rules) == 0 || l.Utilization < 0 {
		return
	}
	b.Used = slices.DeleteFunc(b.Used, func(u state.WindowUse) bool { return u.Agent == c.agent && u.Limit.Name == l.Name })
	b.Used = append(b.Used, state.WindowUse{Agent: c.agent, Limit: l})
}

// End notes that a call is over.
func (b *Book) End(key string) { delete(b.calls, key) }

// Hold says whether another call of this agent and model has to wait. Of several rules
// the one that holds longest decides.
func (b *Book) Hold(agent, model string, now time.Time) (h Hold) {
	if now.Before(b.Waived) {
		return h
	}
	for _, r := range b.Rules {
		for _, u := range b.Used {
			if u.Agent != agent || u.Limit.Name != r.Window || !r.covers(model) {
				continue
			}
			if one := b.hold(r, u, now); one.Until.After(h.Until) {
				h = one
			}
		}
	}
	return h
}

func (b *Book) hold(r Rule, u state.WindowUse, now time.Time) Hold {
	used, reset := u.Limit.Utilization, u.Limit.ResetsAt
	length, _, _ := parts(r.Window)
	busy := 0
	for _, c := range b.calls {
		if c.agent == u.Agent && r.covers(c.model) {
			busy++
		}
	}
	switch over := !reset.After(now); {
	case over && r.Keep == 0 && (busy == 0 || reset.IsZero()):
		return Hold{} // the next call begins another window
	case over && r.Keep == 0:
		return Hold{Until: now.Add(time.Second), Reason: "PACE " + r.String() +
			": the first call of a window has reported nothing yet"}
	case reset.IsZero():
		reset = now.Add(length) // not told: this late at most
	case over:
		used, reset = 0, now.Add(length)
	}
	need := reserve * float64(1+busy)
	line := r.Line(reset, now)
	if used+need <= line || line == 1 {
		return Hold{}
	}
	return Hold{Until: r.until(used+need, reset, now), Reason: fmt.Sprintf(
		"PACE %s: %.0f%% of %s is used; up to %.0f%% is allowed now, and the next call may use %.0f%%", r, used*100,
		r.Window, line*100, min(need, 1)*100)}
}
