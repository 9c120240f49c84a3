package turn

import (
	"ralph/runner/gate"
	"ralph/state"
)

// stepPayload is the start, or the end, of one run of a check.
func stepPayload(s gate.Step) state.Payload {
	run := ""
	switch {
	case s.Again:
		run = state.CheckAgain
	case s.Baseline:
		run = state.CheckBaseline
	}
	if s.Result == nil {
		return state.Phase{Name: state.PhaseChecking, Check: s.Check.Name, Run: run}
	}
	r := *s.Result
	c := state.Check{Name: r.Name, Command: r.Command, Run: run, Passed: r.Passed, Seconds: r.Duration.Seconds()}
	switch {
	case r.Verdict == gate.VerdictSkipped:
		c.Skipped = r.Reason
	case !r.Passed:
		c.Says, c.Output = r.FirstLine(), r.Output
	}
	return c
}
