package runner

import (
	"time"

	"ralph/runner/agent"
)

// LimitEnd is when a run goes on that met this limit at now, for the first time.
func LimitEnd(o agent.Outcome, now time.Time) time.Time { return limitEnd(o, 1, now) }
