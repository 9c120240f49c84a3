package rules

import (
	"time"

	"ralph/runner/pool"
)

// MeetLimit records a usage limit that the latest call met. It sets f.Fallback to the first of
// these agents that can take over now, and f.LimitedUntil to when one of them can.
func MeetLimit(f *Conclusion, p *pool.Pool, names []string, now time.Time) {
	o, name := f.Result.Call.Outcome, f.Result.Agent
	if !IsLimit(o.Class) {
		return
	}
	again := f.Memory.Limits
	if _, met := p.Limits[name]; !met { // the refusals so far were those of another agent
		again = 1
	}
	p.Limits[name] = pool.LimitEnd(o, again, now)
	f.Fallback, _ = p.Free(names, now)
	f.LimitedUntil = p.FreeAt(append(names, name), now)
}
