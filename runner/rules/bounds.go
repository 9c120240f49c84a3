package rules

// This file says how far each bound of a run is used.

import (
	"ralph/state"
)

// BoundsUsed lists the bounds that end a run, or put its task aside, and how far each is
// used. attempts and tries are those of the current task. Pure.
func BoundsUsed(f Facts, attempts, tries int) []state.Bound {
	p, m := f.Policy, f.Memory
	until := 0.0
	if !f.End.IsZero() {
		until = max(f.End.Sub(f.Started).Seconds(), 1)
	}
	retries := 0
	if p.MaxRetries > 0 {
		retries = p.MaxRetries + 1
	}
	all := []state.Bound{
		{Name: state.BoundProgress, Have: float64(m.Breaker.NoProgress), Most: float64(p.NoProgressThreshold)},
		{Name: "same error", Have: float64(m.Breaker.SameError), Most: float64(p.SameErrorThreshold)},
		{Name: "denials", Have: float64(m.Breaker.PermissionDenials), Most: float64(p.DenialThreshold)},
		{Name: "claims", Have: float64(m.Claims), Most: float64(p.CompletionClaims)},
		{Name: "test-only", Have: float64(m.TestOnly), Most: TestOnlyBound},
		{Name: "attempts of this task", Have: float64(attempts), Most: float64(p.MaxPerTask)},
		{Name: "failed checks of this task", Have: float64(tries), Most: float64(retries)},
		{Name: "iterations", Have: float64(m.Iterations), Most: float64(p.MaxIterations)},
		{Name: state.BoundDuration, Most: p.MaxDuration.Seconds(), From: f.Started},
		{Name: state.BoundUntil, Most: until, From: f.Started},
		{Name: state.BoundCost, Have: m.Usage.CostUSD, Most: p.MaxCost},
	}
	set := all[:0]
	for _, b := range all {
		if b.Most > 0 {
			set = append(set, b)
		}
	}
	return set
}
