package rules

import (
	"fmt"
	"time"

	"ralph/runner/turn"
	"ralph/state"
)

// outputsKept bounds Breaker.OutputSizes.
const outputsKept = 5

// halfOpenAfter is the number of idle iterations after which a closed breaker
// becomes half open.
const halfOpenAfter = 2

// breakerAfter is the breaker after an iteration. Pure.
//
//	CLOSED --2 idle--> HALF_OPEN --threshold--> OPEN --cool-down--> HALF_OPEN
//	   ^------progress-----'
//
// An iteration that leaves a merge open is idle, whatever it changed: none of that can be committed.
func breakerAfter(b state.Breaker, r turn.Result, p Policy, now time.Time) state.Breaker {
	b.CurrentLoop = r.Origin.Iteration
	b.OutputSizes = append(append([]int(nil), b.OutputSizes...), len(r.Call.Final))
	if len(b.OutputSizes) > outputsKept {
		b.OutputSizes = b.OutputSizes[len(b.OutputSizes)-outputsKept:]
	}
	b.PermissionDenials = streak(b.PermissionDenials, len(r.Call.Denied) > 0)
	b = sameErrors(b, errorsOf(r))
	if r.Progress() && r.Unfinished() == "" {
		b.NoProgress, b.LastProgressLoop = 0, r.Origin.Iteration
		if b.State == state.BreakerHalfOpen {
			b = move(b, state.BreakerClosed, "progress", now)
		}
	} else {
		b.NoProgress++
	}
	if reason := openReason(b, p); reason != "" {
		b.TotalOpens++
		b.OpenedAt = now
		return move(b, state.BreakerOpen, reason, now)
	}
	if b.State == state.BreakerClosed && b.NoProgress >= halfOpenAfter {
		b = move(b, state.BreakerHalfOpen, fmt.Sprintf("no progress in %d iterations", b.NoProgress), now)
	}
	return b
}

// errorsOf are the errors of a turn. A failing tool is an error only in a turn that closes
// no task: otherwise the agent has found another way. It does not count when the call was
// cut off, because that may be why the tool failed.
func errorsOf(r turn.Result) []string {
	var texts []string
	if text := r.ErrorText(); text != "" {
		texts = append(texts, text)
	}
	if r.Proof.After.Remaining < r.Work.Before.Remaining || !r.Call.Outcome.Class.Success() {
		return texts
	}
	return append(texts, r.Call.Failing...)
}

// sameErrors counts, for each error, the consecutive iterations in which it occurred.
// SameError and LastError are those of the error with the highest count.
func sameErrors(b state.Breaker, texts []string) state.Breaker {
	before := b.Errors
	if b.LastError == "" {
		before = nil // the count was reset
	}
	b.SameError, b.LastError, b.Errors = 0, "", nil
	for _, text := range texts {
		n := before[text] + 1
		if b.Errors == nil {
			b.Errors = map[string]int{}
		}
		if b.Errors[text] = n; n > b.SameError {
			b.SameError, b.LastError = n, text
		}
	}
	return b
}

// Repeats says which tools fail iteration after iteration in the same way.
func (m Memory) Repeats(r turn.Result) (repeats []string) {
	for _, text := range r.Call.Failing {
		if n := m.Breaker.Errors[text]; n > 1 {
			repeats = append(repeats,
				fmt.Sprintf("a tool call failed in the same way in %d iterations in a row: %s", n, text))
		}
	}
	return repeats
}

func openReason(b state.Breaker, p Policy) string {
	return map[string]string{
		state.RulePermissionDenied: fmt.Sprintf("permission denials in %d consecutive iterations", b.PermissionDenials),
		state.RuleStagnation:       fmt.Sprintf("no progress in %d consecutive iterations", b.NoProgress),
		state.RuleSameError:        fmt.Sprintf("the same error in %d consecutive iterations: %s", b.SameError, b.LastError),
		state.RuleOutputDecline:    "no progress and ever shorter answers",
	}[openRule(b, p)]
}

// openRule names the rule whose threshold is reached; empty: none.
func openRule(b state.Breaker, p Policy) string {
	switch {
	case b.PermissionDenials >= p.DenialThreshold:
		return state.RulePermissionDenied
	case b.NoProgress >= p.NoProgressThreshold:
		return state.RuleStagnation
	case b.SameError >= p.SameErrorThreshold:
		return state.RuleSameError
	case declining(b, p.OutputDeclineThreshold):
		return state.RuleOutputDecline
	}
	return ""
}

// openedBy is openRule for a breaker that is open. It returns stagnation for
// denials, and when no threshold is reached any more, because options changed.
func openedBy(b state.Breaker, p Policy) string {
	rule := openRule(b, p)
	if rule == "" || rule == state.RulePermissionDenied {
		return state.RuleStagnation
	}
	return rule
}

// declining is true after two idle iterations and three answers, each shorter than
// the one before, if the third is shorter than the first by at least percent.
func declining(b state.Breaker, percent int) bool {
	n := len(b.OutputSizes)
	if b.NoProgress < 2 || n < 3 {
		return false
	}
	first, second, third := b.OutputSizes[n-3], b.OutputSizes[n-2], b.OutputSizes[n-1]
	return first > second && second > third && (first-third)*100 >= percent*first
}

// CoolDown gives an open breaker a new chance after the cool-down: half open,
// with counters that allow two idle iterations. The second opens it again.
func CoolDown(b state.Breaker, p Policy, now time.Time) state.Breaker {
	if b.State != state.BreakerOpen || now.Sub(b.OpenedAt) < p.Cooldown {
		return b
	}
	b.NoProgress = max(p.NoProgressThreshold-halfOpenAfter, 0)
	b.SameError, b.PermissionDenials, b.LastError, b.Errors, b.OutputSizes = 0, 0, "", nil, nil
	return move(b, state.BreakerHalfOpen, "cool-down over", now)
}

func move(b state.Breaker, to, reason string, now time.Time) state.Breaker {
	b.State, b.Reason, b.LastChange = to, reason, now
	if to != state.BreakerOpen {
		b.OpenedAt = time.Time{}
	}
	return b
}
