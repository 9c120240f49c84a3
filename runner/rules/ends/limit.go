package ends

import (
	"time"

	"ralph/runner/pool"
	"ralph/runner/rules"
)

// MeetLimit remembers a usage limit that the latest call met, and finds out who of these
// agents can take over, and when somebody can.
func MeetLimit(f *rules.Conclusion, p *pool.Pool, names []string, now time.Time) {
	o, name := f.Result.Call.Outcome, f.Result.Agent
	if !rules.IsLimit(o.Class) {
		return
	}
	again := f.Memory.Limits
	if _, met := p.Limits[name]; !met { // another agent's refusals say nothing about this one
		again = 1
	}
	p.Limits[name] = rules.LimitEnd(o, again, now)
	f.Fallback, _ = p.Free(names, now)
	f.LimitedUntil = p.FreeAt(append(names, name), now)
}
