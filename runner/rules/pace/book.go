package pace

import (
	"fmt"
	"maps"
	"time"

	"ralph/state"
)

// What a call may use at most is not known before it is made. It is taken to be more
// than any call before it: the fewer there were, the more.
const (
	minCalls    = 5     // calls of a model; with fewer, the next one may use more than they did
	defaultNeed = 0.05  // of a window: what the next call is then expected to use at least
	rounding    = 0.005 // agents report whole percents
)

// Book is what a run knows about the use of windows. The zero value holds nothing back.
type Book struct {
	Plan   Plan
	Waived time.Time // until then a person wants the run to work
	Used   []state.WindowUse
	calls  map[string]call
}

type call struct {
	agent, model string
	before       map[string]state.Limit
	seen         map[string]bool // windows that it reported
}

// Hold is what keeps a call from beginning.
type Hold struct {
	Until  time.Time // zero: nothing does
	Reason string
}

// Held is true when the call has to wait.
func (h Hold) Held() bool { return !h.Until.IsZero() }

// Begin notes that a call begins; key tells it from others under way.
func (b *Book) Begin(key, agent, model string) {
	if len(b.Plan.Rules) == 0 {
		return
	}
	c := call{agent, model, map[string]state.Limit{}, map[string]bool{}}
	for _, u := range b.Used {
		if u.Agent == agent {
			c.before[u.Limit.Name] = u.Limit
		}
	}
	if b.calls == nil {
		b.calls = map[string]call{}
	}
	b.calls[key] = c
}

// Note takes what an agent reports during a call.
func (b *Book) Note(key string, l state.Limit) {
	c, under := b.calls[key]
	if under && l.Utilization >= 0 {
		b.use(c.agent, l.Name).Limit = l
		c.seen[l.Name] = true
	}
}

// End learns what the call used, also of what others used meanwhile.
func (b *Book) End(key string) {
	c, under := b.calls[key]
	if !under {
		return
	}
	delete(b.calls, key)
	for i := range b.Used {
		u := &b.Used[i]
		was, known := c.before[u.Limit.Name]
		if u.Agent != c.agent || !c.seen[u.Limit.Name] {
			continue
		}
		used := u.Limit.Utilization
		if known && same(was.ResetsAt, u.Limit.ResetsAt) {
			used -= was.Utilization
		} else if !known {
			continue // how much of it was there before is not known
		}
		if u.Models == nil {
			u.Models = map[string]state.ModelUse{}
		}
		m := u.Models[c.model]
		u.Models[c.model] = state.ModelUse{Calls: m.Calls + 1, Most: max(m.Most, used)}
	}
}

// same compares ends of windows, which agents give with a second or so of difference.
func same(a, b time.Time) bool { return a.Sub(b).Abs() < time.Minute }

func (b *Book) use(agent, window string) *state.WindowUse {
	for i := range b.Used {
		if u := &b.Used[i]; u.Agent == agent && u.Limit.Name == window {
			return u
		}
	}
	b.Used = append(b.Used, state.WindowUse{Agent: agent})
	return &b.Used[len(b.Used)-1]
}

// Hold says whether another call of this agent and model has to wait. Of several rules
// the one that holds longest decides.
func (b *Book) Hold(agent, model string, now time.Time) (h Hold) {
	if now.Before(b.Waived) {
		return h
	}
	for _, r := range b.Plan.Rules {
		for _, u := range b.Used {
			if u.Agent != agent || u.Limit.Name != r.Window || !r.covers(model) {
				continue
			}
			if one := b.hold(r, u, model, now); one.Until.After(h.Until) {
				h = one
			}
		}
	}
	return h
}

func (b *Book) hold(r Rule, u state.WindowUse, model string, now time.Time) Hold {
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
	need := Need(u.Models[model]) * float64(1+busy)
	line := r.Line(reset, now)
	if used+need <= line || line == 1 {
		return Hold{}
	}
	return Hold{Until: r.until(used+need, reset, now), Reason: fmt.Sprintf(
		"PACE %s: %.0f%% of %s is used; up to %.0f%% is allowed now, and the next call may use %.0f%%", r, used*100,
		r.Window, line*100, min(need, 1)*100)}
}

// Need is the share of a window that the next call may use.
func Need(m state.ModelUse) float64 {
	if m.Calls == 0 {
		return defaultNeed
	}
	need := m.Most*(1+min(2, 10/float64(m.Calls))) + rounding
	if m.Calls < minCalls {
		need = max(need, defaultNeed)
	}
	return need
}

// Kept is what the next run has to know.
func (b *Book) Kept() []state.WindowUse {
	var kept []state.WindowUse
	for _, u := range b.Used {
		u.Models = maps.Clone(u.Models)
		kept = append(kept, u)
	}
	return kept
}
