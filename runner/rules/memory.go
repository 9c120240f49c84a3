package rules

import (
	"fmt"
	"strings"
	"time"

	"ralph/runner/agent"
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
	switch kindOf(r.Call.Outcome.Class) {
	case kindLimit:
		m.Limits++
		return m
	case kindTransient:
		if m.Retries < maxRetries {
			m.Retries++
			return m
		}
	case kindStale:
		if !m.Stale {
			m.Stale = true
			return m
		}
	case kindUnusable:
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
	kind := kindOf(r.Call.Outcome.Class)
	retried := kind == kindTransient && m.Retries < maxRetries || kind == kindStale && !m.Stale
	switch s := r.Call.Signal; {
	case kind == kindLimit, retried && was.Contradiction != "":
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

// Answer says in words what the loop does about an outcome.
func Answer(c ending.Class) string {
	switch kindOf(c) {
	case kindLimit:
		return "wait until the reset, or stop with exit code 7; costs nothing"
	case kindTransient:
		return fmt.Sprintf("retry after 5 s, doubling up to 10 min, up to %d times; these retries cost nothing", maxRetries)
	case kindUnusable:
		return "stop with exit code 6"
	case kindStale:
		return "retry once without the session; costs nothing"
	}
	switch {
	case c == ending.QuestionAsked:
		return "the task waits for an answer; the run takes the next one"
	case c == ending.PermissionDenied:
		return "continue and tell the agent; exit code 3 after `CB_PERMISSION_DENIAL_THRESHOLD` in a row"
	case c == ending.TimeoutWithWork:
		return "continue, and the work counts; without any change it is an error"
	case AgentHint(agent.Outcome{Class: c}) != "":
		return "continue and tell the agent; the circuit breaker counts it if nothing changed"
	case c.Success():
		return "continue, or end by the rules of completion"
	}
	return "continue after a wait (`COOLDOWN_ON_ERROR`); the circuit breaker counts it as an error"
}

// IsLimit tells whether a call met a usage limit.
func IsLimit(c ending.Class) bool { return kindOf(c) == kindLimit }

// kind groups the outcome classes by the answer that they get.
type kind int

const (
	kindCounts    kind = iota // an iteration like any other
	kindLimit                 // wait for the window
	kindTransient             // the service failed: try again
	kindUnusable              // no try can succeed
	kindStale                 // the session is gone: once more without it
)

func kindOf(c ending.Class) kind {
	if c.Transient() {
		return kindTransient
	}
	switch c {
	case ending.UsageLimit, ending.SpendLimit:
		return kindLimit
	case ending.Auth, ending.NoCredit, ending.DisabledByAdmin, ending.BadModel, ending.BadFlag:
		return kindUnusable
	case ending.StaleSession:
		return kindStale
	}
	return kindCounts
}
