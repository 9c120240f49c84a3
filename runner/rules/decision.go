// Package rules has the ordered tables that decide what a run does next, or that it ends. Facts go
// in, and the first matching row answers. It is pure: no clock, no files, no
// processes.
//
// Admit says whether another turn may start, Conclude what follows from the Result of the latest one, and
// ConcludeReview what follows from the verdicts on a task. DecideCase answers what leaves no choice. Each has its
// table.
package rules

import (
	"slices"
	"strings"
	"time"

	"ralph/runner/gate"
	"ralph/runner/rules/pace"
	"ralph/runner/turn"
	"ralph/state"
)

// Decision is the answer of a table.
type Decision struct {
	Action state.Action
	Rule   string    // name of the row that matched
	Reason string    // one sentence for people: what was seen
	Until  time.Time // end of a wait
	// Feedback goes into the next prompt, verbatim.
	Feedback []string
	// Refused says why a claim of completion was not accepted.
	Refused string
	// PutAside is true when the iteration's task is given up; with Stuck, only until no other task can be worked on.
	PutAside, Stuck bool

	// Of a stop:
	Exit       int
	ExitReason string
	Status     string             // state.StatusCompleted, ...
	Next       string             // what a person types or does next; empty: nothing
	Review     []state.ReviewItem // what a person has to look at
	Unproven   string             // why the end of a complete run is not proven; empty: it is
}

// Facts are what both tables look at.
type Facts struct {
	Policy    Policy
	Memory    Memory
	Plan      turn.Plan   // as it is now
	HadPlan   bool        // the plan had tasks earlier in this run
	Calls     state.Calls // of this hour
	Started   time.Time   // of the run
	Now       time.Time
	End       time.Time  // of the run at the latest; zero: no bound
	Interrupt *Interrupt // a signal or a request to end; nil: none
	// Review is what a person has to look at before the run counts as complete;
	// set only when the plan has nothing left, or there is none.
	Review []state.ReviewItem
	// LimitedUntil is when the first usage limit of the agents that may work ends;
	// zero: one is free now.
	LimitedUntil time.Time
	// Paced is set when PACE holds back every agent that is under no usage limit.
	Paced pace.Hold
	// Elsewhere is true if the run is complete only after checks on other machines, for which Admit is asked.
	Elsewhere bool
}

// Admission is what Admit looks at.
type Admission struct {
	Facts
	// Report is of the checks that ran because the plan has nothing left; zero: none ran.
	Report gate.Report
	// Blocked are open tasks that somebody has blocked, Never names those that depend on
	// a task that cannot be done, PutAside those that were given up, each with its
	// reason. They are set only when no other task is open.
	Blocked         []state.TaskName
	Never, PutAside []string
	// Waiting are the questions of agents, set only when nothing else can be done, and
	// WaitingSince is when that began.
	Waiting      []string
	WaitingSince time.Time
	// Ends says why a hook wants the run to end as complete, or with Claimed, why it is complete without a plan; empty: it is not.
	Ends    string
	Claimed bool
	// Unchecked is true when a person skipped the checks that Report would be of.
	Unchecked bool
}

// Conclusion is what Conclude looks at. The Result is folded into Memory.
type Conclusion struct {
	Facts
	Result turn.Result
	// Damaged names files of .ralph/ that the agent removed or emptied. They have
	// been restored.
	Damaged []string
	// Attempts counts the turns that worked on the task, this one included.
	Attempts int
	// Another is true when another task could be worked on if this one were put aside.
	Another bool
	// Causes are the errors for which other tasks were put aside.
	Causes []string
	// Fallback is an agent that can take over after a usage limit; empty: none.
	Fallback string
}

// Interrupt is a person's wish to end the run.
type Interrupt struct {
	Exit       int
	ExitReason string // "interrupted" or "aborted"
	Why        string // "SIGINT", "ralph stop", ...
	// Lenient is true for ralph stop: a run that is complete still ends as complete.
	Lenient bool
}

// Now reports whether the run ends immediately, even if it is complete. It is false for nil.
func (i *Interrupt) Now() bool { return i != nil && !i.Lenient }

// Error makes an Interrupt the cause of a cancelled context.
func (i *Interrupt) Error() string { return i.Why }

// Rule is one row of a table. It looks only at the facts, never at whether another row matches.
type Rule[F any] struct {
	Name, When, Then string
	match            func(F) (Decision, bool)
}

func first[F any](table []Rule[F], f F) Decision {
	for _, r := range table {
		if d, ok := r.match(f); ok {
			d.Rule = r.Name
			return d
		}
	}
	panic("the last rule always matches")
}

// admits turns a rule on Facts into one on Admission.
func admits(rule func(Facts) (Decision, bool)) func(Admission) (Decision, bool) {
	return func(f Admission) (Decision, bool) { return rule(f.Facts) }
}

const (
	resume = "ralph resume"
	reopen = "ralph reset --circuit && ralph resume"
	allow  = "allow what it needs (ALLOWED_TOOLS in .ralphrc), then: " + reopen
)

// stopped ends the run with an exit code and its reason; next says how to continue.
func stopped(exit int, exitReason, reason, next string) Decision {
	return Decision{Action: state.ActionStop, Reason: reason, Exit: exit, ExitReason: exitReason,
		Status: state.StatusStopped, Next: next}
}

// theTasks is what the advice of halt asks about.
const theTasks = "the tasks of the plan be done"

func (f Facts) halt(reason, exitReason string) Decision {
	then := resume
	if f.Memory.Breaker.State == state.BreakerOpen { // without the reset, the next run halts at once
		then = reopen
	}
	return Decision{Action: state.ActionStop, Reason: reason, Exit: state.ExitHalted, ExitReason: exitReason,
		Status: state.StatusHalted, Next: "is the prompt clear? can " + theTasks + "? what does .ralph/live.log say? then: " + then}
}

// reviewed is d, the end of a complete run, when a person has to look first.
func reviewed(d Decision, items []state.ReviewItem) Decision {
	texts := make([]string, len(items))
	for i, item := range items {
		texts[i] = item.Text
	}
	d.Reason += ", but it needs your review: " + strings.Join(texts, "; ")
	d.Exit, d.ExitReason, d.Status, d.Review = state.ExitReview, "review", state.StatusReview, items
	d.Next = "ralph accept"
	if len(items) > 0 && items[0].Show != "" {
		d.Next = items[0].Show + ", then: ralph accept"
	}
	return d
}

// nothingLeft is true when the plan has tasks, and none is open.
func (f Facts) nothingLeft() bool { return f.Plan.Total > 0 && f.Plan.Remaining == 0 }

// Names of items about a check that was red before the run, has tests that never passed, or fails on other machines.
const (
	ItemKnownRed  = "known_red"
	ItemNewRed    = "new_red"
	ItemElsewhere = "red_elsewhere"
)

// mends reports whether an agent should still repair checks that only block the end of the run: not if a turn for it has
// changed nothing, MAX_RETRIES turns have tried, or a person has accepted the failure.
func (f Facts) mends(r gate.Report) bool {
	red := func(i state.ReviewItem) bool {
		return slices.Contains([]string{ItemKnownRed, ItemNewRed, ItemElsewhere}, i.Name)
	}
	if len(r.AtEnd().Blocking()) == 0 || !slices.ContainsFunc(f.Review, red) || f.over() {
		return false
	}
	tried := f.Memory.Repairs
	return tried == 0 || f.Memory.Breaker.NoProgress == 0 && (f.Policy.MaxRetries == 0 || tried < f.Policy.MaxRetries)
}

// contradicted is true when the plan is done, the agent's last word says
// otherwise, and a turn may still clear it up.
func (f Facts) contradicted() bool {
	return f.nothingLeft() && f.Memory.Contradiction != "" && !f.Memory.Verified && !f.over()
}

// verifying asks for one more turn, to clear up the contradiction.
func verifying(f Facts) Decision {
	return Decision{Action: state.ActionRetry, Reason: "the plan is done, but " + f.Memory.Contradiction, Feedback: []string{
		"Every task of the plan is ticked, but " + f.Memory.Contradiction + ". Check the work against the plan. " +
			"Fix what is missing, and open the boxes of tasks that are not done. Then say in your final message how it stands."}}
}

// completed ends the run. report is of its last checks.
func completed(reason, exitReason string, report gate.Report) Decision {
	return Decision{Unproven: unproven(report), Action: state.ActionStop, Reason: reason, Exit: state.ExitComplete, ExitReason: exitReason,
		Status: state.StatusCompleted}
}
