// Package rules decides: the facts of an iteration go in, the answer of one
// ordered table comes out. It is pure: no clock, no files, no processes.
package rules

import (
	"time"

	"ralph/runner/gate"
	"ralph/state"
)

// Action is what the loop does next.
type Action string

// The actions.
const (
	ActionContinue Action = "continue" // next iteration
	ActionRetry    Action = "retry"    // the same task again, told why
	ActionWait     Action = "wait"     // until Decision.Until, then go on
	ActionStop     Action = "stop"     // end of the run
)

// Decision is the answer to one iteration, or to the wish to begin one.
type Decision struct {
	Action Action
	Rule   string
	Reason string    // one sentence for people: what was seen
	Until  time.Time // end of a wait
	// Feedback goes into the next prompt verbatim.
	Feedback []string
	// Refused is why a claim of completion was not accepted.
	Refused string
	// PutAside is set when the iteration's task is given up for this run.
	PutAside bool

	// Of a stop:
	Exit       int
	ExitReason string
	Status     string // state.StatusCompleted, ...
	Next       string // what a person types or does next; empty: nothing
}

// Facts is everything that a decision may look at.
type Facts struct {
	// Starting is true before an iteration, when It is the one before.
	Starting bool
	It       Iteration
	Memory   Memory // It is folded in
	Options  Options
	Plan     PlanFacts // as it is now
	// Undoable names open tasks whose dependencies cannot be met; set only
	// when no other task is open.
	Undoable []string
	HadPlan  bool // the plan had tasks in this run
	// Report is of the checks that ran now, before an iteration only when the
	// plan has nothing left. HasChecks: there are some that can block.
	Report    gate.Report
	HasChecks bool
	// PutAside names open tasks that were given up, each with its reason; set
	// only when no other task is open.
	PutAside  []string
	Calls     state.Calls // of this hour
	Started   time.Time   // of the run
	Now       time.Time
	Interrupt *Interrupt // a signal or a request to end
	// Held names what the agent did not get of the environment; needed only when
	// it could not log in.
	Held []string
	// LimitedUntil is when the first of the agents that may work is free of its
	// usage limit; zero before an iteration when one is free.
	LimitedUntil time.Time
	// Fallback is an agent that is free, after a call that met a limit; empty: none.
	Fallback string
}

// Interrupt is a person's wish to end the run.
type Interrupt struct {
	Exit       int
	ExitReason string // "interrupted" or "aborted"
	Why        string // "SIGINT", "ralph stop", ...
}

// Error makes an Interrupt the cause of a cancelled context.
func (i *Interrupt) Error() string { return i.Why }

// Rule is one row of the table of decisions.
type Rule struct {
	Name, When, Then string
	match            func(Facts) (Decision, bool)
}

// All is the table: ordered, first match wins.
func All() []Rule {
	return []Rule{
		{"interrupted", "signal, `ralph abort`, `ralph stop`", "stop 130, or 143 after SIGTERM and SIGHUP", interrupted},
		{"agent_unusable", "not installed, auth, credit, admin, unknown model or flag", "stop 6", agentUnusable},
		{"usage_limit", "structured rejection, or the agent CLI's own error text; also one that an earlier run met and that is not over", "another agent of `FALLBACK_AGENTS`; else wait to the real reset (+ margin), or stop 7, also when that is more than a day away or after the end of `MAX_DURATION`; costs no iteration and no breaker count", usageLimit},
		{"transient", "429, 5xx, overloaded, network, dropped stream, a session that is gone", "retry with growing delay, bounded; costs no iteration", transient},
		{"integrity", "files of `.ralph/` that ralph needs were deleted or emptied by the agent; with `ANTI_CHEAT=halt` any finding of the audit that is no question", "restored and told to the agent; the second time, or at a finding: stop 3", integrity},
		{"plan_unusable", "the plan vanished, broke, was emptied, or only tasks with impossible dependencies are open", "stop 2", planUnusable},
		{"tasks_put_aside", "before an iteration only tasks are open that were put aside", "stop 8, naming them", tasksPutAside},
		{"permission_denied", "denials in `CB_PERMISSION_DENIAL_THRESHOLD` consecutive iterations", "stop 3; names each denied command and the entry that would allow it", permissionDenied},
		{"gate_failed", "a required check failed", "retry with the failure in the next prompt; the task's box is opened again; after `MAX_RETRIES` retries the task is put aside", gateFailed},
		{"complete", "the plan has nothing left and the final message signals or all required checks pass; without a plan: `COMPLETION_CLAIMS` consecutive signals", "stop 0", complete},
		{"plan_complete", "before an iteration the plan has nothing left and the required checks, where there are any, pass", "stop 0 without a call", planComplete},
		{"claimed_incomplete", "the final message signals completion, but tasks are open or a check fails", "refused and answered in the next prompt; `COMPLETION_CLAIMS` in a row: stop 8", claimedIncomplete},
		{"test_saturation", "3 consecutive iterations that only tested", "stop 3", testSaturation},
		{ruleStagnation, "no progress in `CB_NO_PROGRESS_THRESHOLD` consecutive iterations, or the breaker is still open from before", "stop 3", breakerOpen(ruleStagnation, "stagnation_detected")},
		{ruleSameError, "the same error in `CB_SAME_ERROR_THRESHOLD` consecutive iterations", "stop 3", breakerOpen(ruleSameError, "same_error")},
		{ruleDecline, "no progress in 2 iterations and 3 ever shorter answers, together by `CB_OUTPUT_DECLINE_THRESHOLD` percent", "stop 3", breakerOpen(ruleDecline, "output_decline")},
		{"ceilings", "`MAX_ITERATIONS`, `MAX_DURATION` or `MAX_COST_USD` reached", "stop 4", ceilings},
		{"hourly", "calls or tokens of this clock hour used up", "wait to the next hour; stop 4 when `MAX_DURATION` ends before it", hourly},
		{"continue", "otherwise", "next iteration", func(f Facts) (Decision, bool) { return Decision{Action: ActionContinue, Reason: said(f.It)}, true }},
	}
}

// Decide answers facts by the first rule that matches. Pure.
func Decide(f Facts) Decision {
	for _, r := range All() {
		if d, ok := r.match(f); ok {
			d.Rule = r.Name
			return d
		}
	}
	panic("the last rule always matches")
}

func halt(reason, exitReason string) Decision {
	return Decision{Action: ActionStop, Reason: reason, Exit: ExitHalted, ExitReason: exitReason, Status: state.StatusHalted,
		Next: "look at .ralph/live.log and the plan, then: ralph reset --circuit && ralph resume"}
}

func completed(reason, exitReason string) Decision {
	return Decision{Action: ActionStop, Reason: reason, Exit: ExitComplete, ExitReason: exitReason, Status: state.StatusCompleted}
}
