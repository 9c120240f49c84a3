package rules

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"ralph/runner/agent"
	"ralph/runner/audit"
	"ralph/runner/gate"
	"ralph/state"
)

const (
	// maxRetries bounds the transient failures that cost nothing; one more
	// counts as a failed iteration and feeds the breaker.
	maxRetries = 10
	// testOnlyBound is the number of consecutive test-only iterations.
	testOnlyBound = 3
	// LimitMargin is added to a reset time: vendors' clocks are not ours.
	LimitMargin = 5 * time.Second
	// limitPause is the least time between two calls that meet a limit.
	limitPause = time.Minute
	// limitPatience is the longest wait that is worth a living process.
	limitPatience = 24 * time.Hour
	// limitUnknown is the first wait when no reset time was given.
	limitUnknown = 15 * time.Minute
)

func interrupted(f Facts) (Decision, bool) {
	if f.Interrupt == nil {
		return Decision{}, false
	}
	return Decision{Action: ActionStop, Reason: f.Interrupt.Why, Exit: f.Interrupt.Exit,
		ExitReason: f.Interrupt.ExitReason, Status: state.StatusStopped, Next: "go on with: ralph resume"}, true
}

// withEvidence adds the record that was seen to the reason.
func withEvidence(o agent.Outcome) string {
	seen := strings.Join(strings.Fields(o.Evidence), " ")
	if seen == "" || strings.Contains(o.Reason, seen) {
		return o.Reason
	}
	return fmt.Sprintf("%s (%.200s)", o.Reason, seen)
}

func usageLimit(f Facts) (Decision, bool) {
	var until time.Time
	var reason string
	switch {
	case f.Starting && matches(f, planUnusable, tasksPutAside, planComplete, ceilings, breakerOpen(ruleStagnation, ""), breakerOpen(ruleSameError, ""), breakerOpen(ruleDecline, "")):
		return Decision{}, false // these need no call
	case f.Starting && f.Now.Before(f.LimitedUntil):
		until, reason = f.LimitedUntil, "the usage limit that an earlier run met is not over"
	case f.Starting || kindOf(f.It.Outcome.Class) != kindLimit:
		return Decision{}, false
	case f.Plan.Total > 0 && f.Plan.Remaining == 0:
		return Decision{Action: ActionContinue, Reason: f.It.Outcome.Reason + "; the plan has nothing left"}, true
	case f.Fallback != "":
		return Decision{Action: ActionRetry, Reason: fmt.Sprintf("%s; going on with %s", f.It.Outcome.Reason, f.Fallback)}, true
	default:
		until, reason = f.LimitedUntil, withEvidence(f.It.Outcome)
	}
	far := until.Sub(f.Now) > limitPatience
	if far {
		reason += fmt.Sprintf("; it resets in more than a day, %s", until.Local().Format("Mon Jan 2 15:04"))
	} else if o := f.Options; o.MaxDuration > 0 && until.Sub(f.Now) > o.MaxDuration-f.Now.Sub(f.Started) {
		far = true
		reason += fmt.Sprintf("; it resets at %s, after the end of the run's time", until.Local().Format("15:04"))
	}
	if f.Options.OnLimit == "stop" || far {
		return Decision{Action: ActionStop, Reason: reason, Until: until, Exit: ExitLimited,
			ExitReason: "usage_limit", Status: state.StatusStopped,
			Next: fmt.Sprintf("after %s: ralph resume; or name other agents in FALLBACK_AGENTS", until.Local().Format("Jan 2 15:04"))}, true
	}
	return Decision{Action: ActionWait, Reason: reason, Until: until}, true
}

// LimitEnd is when to try again: the reset plus a margin, and never less than
// a minute after a try that was refused again. Without a reset time the waits
// grow from a quarter of an hour to an hour.
func LimitEnd(o agent.Outcome, limits int, now time.Time) time.Time {
	if o.ResetsAt.IsZero() {
		return now.Add(min(limitUnknown*time.Duration(max(limits, 1)), time.Hour))
	}
	until := o.ResetsAt.Add(LimitMargin)
	least := now.Add(LimitMargin)
	if limits > 1 {
		least = now.Add(min(limitPause<<min(limits-2, 5), 30*time.Minute))
	}
	if until.Before(least) {
		return least
	}
	return until
}

// matches tells whether one of these rules has an answer.
func matches(f Facts, all ...func(Facts) (Decision, bool)) bool {
	return slices.ContainsFunc(all, func(rule func(Facts) (Decision, bool)) bool { _, ok := rule(f); return ok })
}

func transient(f Facts) (Decision, bool) {
	if f.Starting {
		return Decision{}, false
	}
	switch kindOf(f.It.Outcome.Class) {
	case kindStale:
		if f.Memory.Stale { // folded in: this is the first refusal
			return Decision{Action: ActionRetry, Reason: f.It.Outcome.Reason + "; once more without the session", Until: f.Now}, true
		}
	case kindTransient:
		if f.Memory.Retries > 0 {
			wait := max(retryDelay(f.Memory.Retries), f.It.Outcome.RetryAfter)
			return Decision{Action: ActionRetry, Until: f.Now.Add(wait),
				Reason: fmt.Sprintf("%s; try %d of %d in %s", f.It.Outcome.Reason, f.Memory.Retries, maxRetries, wait.Round(time.Second))}, true
		}
	}
	return Decision{}, false
}

// retryDelay is 5 s, doubled with every try, at most 10 minutes.
func retryDelay(try int) time.Duration {
	return min(5*time.Second<<min(try-1, 10), 10*time.Minute)
}

func integrity(f Facts) (Decision, bool) {
	if f.Starting {
		return Decision{}, false
	}
	sure := slices.IndexFunc(f.It.Findings, func(x audit.Finding) bool { return !x.Doubt })
	if sure >= 0 && f.Options.AntiCheat == CheatHalt {
		d := halt("the audit found: "+FindingText(f.It.Findings[sure]), "integrity_failure")
		d.Next = "look at what it found in .ralph/live.log and git diff, then: ralph resume"
		return d, true
	}
	if len(f.It.Damaged) == 0 {
		return Decision{}, false
	}
	files := strings.Join(f.It.Damaged, ", ")
	if f.Memory.Damages > 1 {
		return halt("the agent deleted or emptied files that ralph needs, again: "+files, "integrity_failure"), true
	}
	return Decision{Action: ActionRetry, Reason: "restored files of .ralph/ that the agent deleted or emptied: " + files}, true
}

func planUnusable(f Facts) (Decision, bool) {
	var reason string
	switch {
	case f.Plan.Err != nil:
		reason = f.Plan.Err.Error()
	case f.HadPlan && f.Plan.Total == 0:
		reason = "the plan has no tasks any more"
	case len(f.Undoable) > 0:
		reason = "every open task waits for one that does not exist or waits for it: " + strings.Join(f.Undoable, ", ")
	default:
		return Decision{}, false
	}
	return Decision{Action: ActionStop, Reason: reason, Exit: ExitUsage, ExitReason: "plan_unusable", Status: state.StatusFailed, Next: "mend the plan, then: ralph"}, true
}

func permissionDenied(f Facts) (Decision, bool) {
	if f.Starting || f.Memory.Breaker.State != state.BreakerOpen || len(f.It.Denied) == 0 ||
		f.Memory.Breaker.PermissionDenials < f.Options.DenialThreshold {
		return Decision{}, false
	}
	d := halt(denialText(f.It), "permission_denied")
	d.Next = "allow what it needs (ALLOWED_TOOLS in .ralphrc), then: ralph reset --circuit && ralph resume"
	return d, true
}

// denialText names every refused call and what would allow it.
func denialText(it Iteration) string {
	parts := make([]string, 0, len(it.Denied))
	for i, t := range it.Denied {
		parts = append(parts, fmt.Sprintf("%s(%s): %s", t.Name, t.Arg, it.Advice[i]))
	}
	return "denied " + strings.Join(parts, "; ")
}

func gateFailed(f Facts) (Decision, bool) {
	if !f.Report.Blocked() || f.Memory.Breaker.State == state.BreakerOpen || f.Starting && matches(f, ceilings, hourly) {
		return Decision{}, false
	}
	if !f.Starting && f.It.Claims() && f.Memory.Claims >= f.Options.CompletionClaims && !f.It.Progress() {
		return Decision{}, false // it insists and does nothing: claimed_incomplete
	}
	failed := blockingNames(f.Report)
	d := Decision{Action: ActionRetry, Reason: "required check failed: " + failed, Feedback: []string{f.Report.Feedback()}}
	if f.It.Unticked {
		d.Feedback = append(d.Feedback, "The box of your task was opened again: a task is done when the required checks pass.")
	}
	if f.It.Claims() {
		d.Refused = "a required check fails: " + failed
	}
	answer := f.Report.Answer()
	switch {
	case answer == gate.Stop:
		return Decision{Action: ActionStop, Reason: d.Reason, Exit: ExitClaimed, ExitReason: "claimed_incomplete", Status: state.StatusStopped,
			Next: "see what fails with: ralph check"}, true
	case !f.Starting && f.It.Task.ID != "" && (answer == gate.BlockTask || f.Options.MaxRetries > 0 && f.It.Tries > f.Options.MaxRetries):
		d.Action, d.PutAside = ActionContinue, true
		d.Feedback = []string{"A task that is put aside has left this behind. Nothing counts as done until it is mended.", f.Report.Feedback()}
		d.Reason += fmt.Sprintf("; task %q is put aside after %s", f.It.Task.Title, tries(f.It.Tries))
	}
	return d, true
}

func tries(n int) string {
	if n == 1 {
		return "1 try"
	}
	return fmt.Sprintf("%d tries", n)
}

func blockingNames(r gate.Report) string {
	var names []string
	for _, x := range r.Blocking() {
		names = append(names, x.Name)
	}
	return strings.Join(names, ", ")
}

func tasksPutAside(f Facts) (Decision, bool) {
	if !f.Starting || len(f.PutAside) == 0 {
		return Decision{}, false
	}
	return Decision{Action: ActionStop, Reason: "what is open was put aside: " + strings.Join(f.PutAside, "; "), Exit: ExitClaimed,
		ExitReason: "claimed_incomplete", Status: state.StatusStopped, Next: "look at these tasks and at: ralph check; then: ralph"}, true
}

func complete(f Facts) (Decision, bool) {
	if f.Starting || f.Report.Blocked() || !f.It.Outcome.Class.Success() || f.It.Cut != "" {
		return Decision{}, false
	}
	if f.Plan.Total == 0 {
		if f.Memory.Claims >= f.Options.CompletionClaims {
			return completed(fmt.Sprintf("the agent signalled completion %d times in a row; there is no plan to compare with", f.Memory.Claims), "project_complete"), true
		}
		return Decision{}, false
	}
	switch {
	case f.Plan.Remaining > 0:
		return Decision{}, false
	case f.It.Claims():
		return completed(fmt.Sprintf("%d of %d tasks are done and the agent's final message says so", f.Plan.Done, f.Plan.Total), "plan_complete"), true
	case f.HasChecks:
		proof := "all required checks pass"
		if red := f.Report.KnownRed(); len(red) > 0 {
			proof = "no required check got worse; red since before the run: " + strings.Join(red, ", ")
		}
		return completed(fmt.Sprintf("%d of %d tasks are done and %s", f.Plan.Done, f.Plan.Total, proof), "plan_complete"), true
	}
	return Decision{}, false
}

func planComplete(f Facts) (Decision, bool) {
	if !f.Starting || f.Plan.Total == 0 || f.Plan.Remaining > 0 || f.Report.Blocked() {
		return Decision{}, false
	}
	return completed(fmt.Sprintf("the plan has nothing left: %d of %d tasks are done", f.Plan.Done, f.Plan.Total), "plan_complete"), true
}

func claimedIncomplete(f Facts) (Decision, bool) {
	failed := f.Report.Blocked()
	if f.Starting || !f.It.Claims() || f.Plan.Remaining == 0 && !failed {
		return Decision{}, false
	}
	why, next := fmt.Sprintf("%d of %d tasks are open", f.Plan.Remaining, f.Plan.Total), "look at the open tasks: do they need a decision of yours? then: ralph"
	if failed {
		why, next = "a required check fails: "+blockingNames(f.Report), "see what fails with: ralph check"
	}
	if f.Memory.Claims < f.Options.CompletionClaims {
		return Decision{Action: ActionContinue, Reason: "claim of completion refused: " + why, Refused: why}, true
	}
	return Decision{Action: ActionStop, Reason: fmt.Sprintf("the agent claimed completion %d times in a row, but %s", f.Memory.Claims, why),
		Exit: ExitClaimed, ExitReason: "claimed_incomplete", Status: state.StatusStopped,
		Next: next}, true
}

func testSaturation(f Facts) (Decision, bool) {
	if f.Starting || f.Memory.TestOnly < testOnlyBound {
		return Decision{}, false
	}
	return halt(fmt.Sprintf("%d consecutive iterations only tested and finished no task", f.Memory.TestOnly), "test_saturation"), true
}

// breakerOpen matches an open breaker whose counters say that this rule opened
// it; stagnation also answers for a breaker whose counters fit no rule any more.
func breakerOpen(rule, exitReason string) func(Facts) (Decision, bool) {
	return func(f Facts) (Decision, bool) {
		b := f.Memory.Breaker
		if b.State != state.BreakerOpen {
			return Decision{}, false
		}
		opened := openRule(b, f.Options)
		if opened == "" || opened == ruleDenied {
			opened = ruleStagnation
		}
		if opened != rule {
			return Decision{}, false
		}
		d := halt(b.Reason, exitReason)
		if o := f.It.Outcome; !f.Starting && !o.Class.Success() {
			d.Reason += "; the last call: " + withEvidence(o)
		} else if said := said(f.It); !f.Starting && said != "" {
			d.Reason += "; " + said
		}
		if f.Starting {
			until := b.OpenedAt.Add(f.Options.Cooldown).Local().Format("15:04")
			d.Reason = fmt.Sprintf("the circuit breaker is open since %s (%s) and cools down until %s; close it with: ralph reset --circuit",
				b.OpenedAt.Local().Format("15:04"), b.Reason, until)
		}
		return d, true
	}
}

// said is what an iteration that just goes on should not keep from the user.
func said(it Iteration) string {
	switch {
	case !it.Outcome.Class.Success():
		return ""
	case !it.Signalled:
		return "the final message has no status block"
	case it.Signal.Status == "BLOCKED":
		return strings.TrimSpace("the agent says that it is blocked: " + it.Signal.Recommendation)
	}
	return ""
}

func ceilings(f Facts) (Decision, bool) {
	o := f.Options
	var reason, exitReason, flag string
	switch {
	case !f.Starting && f.Plan.Total > 0 && f.Plan.Remaining == 0 && !f.Report.Blocked():
		return Decision{}, false // to see that it is complete needs no call
	case o.MaxIterations > 0 && f.Memory.Iterations >= o.MaxIterations:
		reason, exitReason = fmt.Sprintf("%d of at most %d iterations made", f.Memory.Iterations, o.MaxIterations), "max_iterations"
		flag = "--max-iterations"
	case o.MaxDuration > 0 && f.Now.Sub(f.Started) >= o.MaxDuration:
		reason, exitReason = fmt.Sprintf("ran for %s of at most %s", f.Now.Sub(f.Started).Round(time.Second), o.MaxDuration), "max_duration"
		flag = "--max-duration"
	case o.MaxCost > 0 && f.Memory.Usage.CostUSD >= o.MaxCost:
		reason, exitReason = fmt.Sprintf("the agent's estimate of the cost is %.2f of at most %.2f USD", f.Memory.Usage.CostUSD, o.MaxCost), "max_cost"
		flag = "--max-cost"
	default:
		return Decision{}, false
	}
	next := "raise " + flag + " and run ralph again"
	if flag == "--max-iterations" && o.MaxIterations == 1 {
		next = "ralph once again, or the rest with: ralph"
	}
	return Decision{Action: ActionStop, Reason: reason, Exit: ExitCeiling, ExitReason: exitReason, Status: state.StatusStopped,
		Next: next}, true
}

func hourly(f Facts) (Decision, bool) {
	o := f.Options
	var reason string
	switch {
	case !f.Starting:
		return Decision{}, false // only the next call needs the hour's budget
	case f.Calls.Calls >= o.CallsPerHour:
		reason = fmt.Sprintf("%d of %d calls of this hour made", f.Calls.Calls, o.CallsPerHour)
	case o.TokensPerHour > 0 && f.Calls.Tokens >= o.TokensPerHour:
		reason = fmt.Sprintf("%d of %d tokens of this hour used", f.Calls.Tokens, o.TokensPerHour)
	default:
		return Decision{}, false
	}
	until := NextHour(f.Calls.Hour)
	if o.MaxDuration > 0 && until.Sub(f.Now) > o.MaxDuration-f.Now.Sub(f.Started) {
		return Decision{Action: ActionStop, Reason: reason + "; the run's time is over before the next hour", Exit: ExitCeiling, ExitReason: "max_duration",
			Status: state.StatusStopped, Next: fmt.Sprintf("after %s: ralph resume; or raise --calls, --max-duration", until.Local().Format("15:04"))}, true
	}
	return Decision{Action: ActionWait, Reason: reason, Until: until}, true
}
