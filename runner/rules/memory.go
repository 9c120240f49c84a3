package rules

import (
	"fmt"
	"strings"
	"time"

	"ralph/runner/agent/ending"
	"ralph/runner/agent/statusblock"
	"ralph/runner/turn"
	"ralph/state"
)

// Memory is what a run remembers between iterations: streaks and totals. The
// breaker inside outlives the run.
type Memory struct {
	Breaker    state.Breaker
	Claims     int  // consecutive claims of completion; those of turns that close one task of several do not count
	IdleClaims int  // consecutive turns without a plan that say, also in words, that all is done, and change nothing
	TestOnly   int  // consecutive test-only iterations
	BadPlans   int  // consecutive iterations whose agent left a plan that cannot be used
	Damages    int  // iterations in which state files were damaged
	Retries    int  // transient failures since the last answer
	Limits     int  // usage limits since the last answer
	Failures   int  // failed calls in a row, without retries that cost nothing
	Stale      bool // the session was refused and a fresh start was tried
	Usage      state.Usage
	Iterations int // iterations that count
	Repairs    int // iterations since the plan has nothing left; without a plan, since the agent claims completion
	// Contradiction is how the latest turn contradicts a plan that is done; empty:
	// it does not. Verified: a turn was asked to clear it up.
	Contradiction string
	Verified      bool
}

// After folds a turn into the memory. A retry or a limit costs nothing but its
// own counter. damaged is true when the turn damaged files that ralph needs.
func (m Memory) After(r turn.Result, damaged bool, p Policy, now time.Time) Memory {
	if !r.Call.Made {
		return m
	}
	m.Usage = m.Usage.Add(r.Call.Usage)
	if damaged {
		m.Damages++
	}
	if r.Cut == state.RequestAbort {
		return m
	}
	m = m.contradiction(r)
	switch KindOf(r.Call.Outcome.Class) {
	case KindLimit:
		m.Limits++
		return m
	case KindTransient:
		if m.Retries < MaxRetries {
			m.Retries++
			return m
		}
	case KindStale:
		if !m.Stale {
			m.Stale = true
			return m
		}
	case KindUnusable:
		return m
	}
	m.Retries, m.Limits, m.Stale = 0, 0, false
	m.Iterations++
	if p := r.Work.Before; p.Remaining > 0 || p.Total == 0 && m.Claims == 0 {
		m.Repairs = 0
	} else {
		m.Repairs++
	}
	m.Failures = m.failures(r)
	m.Claims = streak(m.Claims, insists(r))
	m.IdleClaims = streak(m.IdleClaims, r.Proof.After.Total == 0 && !r.Progress() && r.Cut == "" &&
		(r.Claims() || !r.Call.Signalled && r.Call.Outcome.Class.Success() && statusblock.SaysDone(r.Call.Final)))
	m.TestOnly = streak(m.TestOnly, r.TestOnly())
	m.BadPlans = streak(m.BadPlans, r.Work.PlanBroken != "")
	// An agent that asks a question is not stuck. A breaker that is open ends the run: its other turns count no more.
	if r.Cut == "" && len(r.Call.Asks) == 0 && m.Breaker.State != state.BreakerOpen {
		m.Breaker = breakerAfter(m.Breaker, r, p, now)
	}
	return m
}

// insists reports whether the agent claims completion without an excuse. An agent that closes its task and thinks that
// it was the last one is excused: the next prompt gives it the next task.
func insists(r turn.Result) bool {
	oneOfSeveral := r.Closed() && r.Proof.After.Remaining > 0
	warned := (r.Proof.Unearned || r.Proof.Warned) && r.Progress()
	return r.Claims() && !r.Proof.ToReview && !oneOfSeveral && !warned
}

// failures counts failed calls in a row, even if they changed something. The count stays at 1
// for an agent that stops at its own bound and makes progress.
func (m Memory) failures(r turn.Result) int {
	class := r.Call.Outcome.Class
	switch {
	case !r.Failed() || r.Cut != "":
		return 0
	case r.Progress() && (class == ending.MaxTurns || class == ending.MaxBudget):
		return 1
	}
	return m.Failures + 1
}

// contradiction notes how the turn contradicts a plan that is done. A usage
// limit says nothing about the work, so what the turn before said stands; after
// a failure that is retried, the turn that clears it up is still to come.
func (m Memory) contradiction(r turn.Result) Memory {
	was := m
	m.Verified = m.Contradiction != ""
	m.Contradiction = ""
	if p := r.Proof.After; p.Total == 0 || p.Remaining > 0 {
		m.Verified = false
		return m
	}
	kind := KindOf(r.Call.Outcome.Class)
	retried := kind == KindTransient && m.Retries < MaxRetries || kind == KindStale && !m.Stale
	switch s := r.Call.Signal; {
	case kind == KindLimit, retried && was.Contradiction != "":
		return was
	case r.Cut != "": // the turn could not clear it up
		m.Contradiction = was.Contradiction
	case r.Failed():
		m.Contradiction = fmt.Sprintf("the agent's last call failed (%s)", r.Call.Outcome.Class)
	case !r.Call.Signalled:
	case s.Status == statusblock.Blocked:
		m.Contradiction = strings.TrimSuffix("the agent says that it is blocked: "+s.Recommendation, ": ")
	case s.Status == statusblock.Error:
		m.Contradiction = strings.TrimSuffix("the agent reports an error: "+s.Recommendation, ": ")
	case s.Tests == "FAILING":
		m.Contradiction = "the agent says that tests fail"
	}
	return m
}

func streak(n int, again bool) int {
	if again {
		return n + 1
	}
	return 0
}

// IsLimit tells whether a call met a usage limit.
func IsLimit(c ending.Class) bool { return KindOf(c) == KindLimit }

// Kind groups the outcome classes by the answer that they get.
type Kind int

// The kinds of outcome classes.
const (
	KindCounts    Kind = iota // an iteration like any other
	KindLimit                 // wait for the window
	KindTransient             // the service failed: try again
	KindUnusable              // no try can succeed
	KindStale                 // the session is gone: once more without it
)

// KindOf returns the kind of a class.
func KindOf(c ending.Class) Kind {
	if c.Transient() {
		return KindTransient
	}
	switch c {
	case ending.UsageLimit, ending.SpendLimit:
		return KindLimit
	case ending.Auth, ending.NoCredit, ending.DisabledByAdmin, ending.BadModel, ending.BadFlag:
		return KindUnusable
	case ending.StaleSession:
		return KindStale
	}
	return KindCounts
}
