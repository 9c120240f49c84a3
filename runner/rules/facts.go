package rules

import (
	"fmt"
	"strings"
	"time"

	"ralph/runner/agent"
	"ralph/runner/agent/argv"
	"ralph/runner/agent/ending"
	"ralph/runner/agent/statusblock"
	"ralph/runner/audit"
	"ralph/runner/gate"
	"ralph/runner/git"
	"ralph/runner/task"
	"ralph/state"
)

// Iteration holds the facts of one agent call, no opinions. The zero value is
// the moment before the first call.
type Iteration struct {
	Number  int
	Task    task.Task // zero without a plan
	Agent   string    // name of the row
	Outcome agent.Outcome
	Signal  statusblock.Signal
	// Signalled is true when the agent's own final message ended with a status block.
	Signalled bool
	// Denied are the refused tool calls that need an answer; compound commands
	// whose parts are all allowed are Advised instead.
	Denied, Advised []state.Tool
	Advice          []string // how each of Denied can be allowed
	ToolCalls       int
	FinalBytes      int // size of the final message
	Usage           state.Usage
	Duration        time.Duration
	Change          git.Change
	Before, After   PlanFacts
	Report          gate.Report // of the checks, after the agent's turn
	Tries           int         // failed checks for this task so far, this one counted
	Unticked        bool        // the task's box was ticked and is open again: a check blames the agent
	// Reopened is set when the audit had boxes opened again. What an agent that
	// goes forward says of the whole plan was then said of another one, and counts
	// for nothing. OnlyTicks: these boxes are all that it changed.
	Reopened, OnlyTicks bool
	// Findings are what an honest change would not have done.
	Findings []audit.Finding
	List     task.List // the plan before the call
	Left     task.List // and after it
	// Damaged names files of .ralph/ that the agent deleted or emptied; they
	// have been restored.
	Damaged []string
	// Cut is set when a person ended the call early: skip, or abort, which also
	// stands for a signal. Such a call says nothing about the agent.
	Cut state.Request
}

// Heard adds what the agent itself reported in its call.
func (it *Iteration) Heard(t *agent.Transcript, spec agent.Spec, allowed []string) {
	it.ToolCalls, it.FinalBytes, it.Usage = t.ToolCalls, len(t.Final), t.Usage
	it.Signal, it.Signalled = statusblock.Parse(t.Final)
	for _, d := range t.Denials {
		switch {
		case agent.Asks(d): // a question, answered as such
		case argv.Compound(d.Name, d.Arg, allowed):
			it.Advised = append(it.Advised, d)
		default:
			it.Denied = append(it.Denied, d)
			it.Advice = append(it.Advice, spec.Advice(d))
		}
	}
}

// PlanFacts is what the plan file said at one moment. The zero value is no plan.
type PlanFacts struct {
	Known     bool // a plan file is in use
	Err       error
	Done      int
	Total     int
	Remaining int
	// Print changes whenever a text or a box of the plan changes.
	Print string
}

// Progress is what the breaker asks: HEAD moved, the tree changed, or fewer
// tasks are open.
func (it Iteration) Progress() bool {
	return it.Change.Progress() && !it.OnlyTicks || it.After.Err == nil && it.After.Remaining < it.Before.Remaining
}

// Failed tells whether the agent call itself went wrong in a way that counts
// as an error of this iteration.
func (it Iteration) Failed() bool {
	if it.Outcome.Class == agent.ClassTimeoutWithWork {
		return !it.Progress() // a productive timeout keeps its work and is no error
	}
	return !it.Outcome.Class.Success()
}

// ErrorText is the normalised text that "same error" compares: the agent's
// error, else the first failed check. Empty when there was no error.
func (it Iteration) ErrorText() string {
	if it.Failed() {
		return ending.Normalize(string(it.Outcome.Class) + ": " + it.Outcome.Evidence)
	}
	blocking := it.Report.Blocking()
	if len(blocking) == 0 {
		return ""
	}
	first := blocking[0]
	if len(first.Blamed) == 0 {
		return ending.Normalize(first.Name + ": " + first.FirstLine())
	}
	var names []string
	for _, t := range first.Blamed {
		names = append(names, t.Name)
	}
	return first.Name + ": " + strings.Join(names, ", ")
}

// Claims tells whether the agent says that everything is done.
func (it Iteration) Claims() bool {
	return it.Signalled && it.Signal.Exit && it.Outcome.Class.Success()
}

// TestOnly is an iteration that only ran or wrote tests and finished no task.
func (it Iteration) TestOnly() bool {
	return it.Signalled && it.Signal.WorkType == "TESTING" && it.After.Remaining >= it.Before.Remaining
}

// Memory is what a run remembers between iterations: streaks and totals. The
// breaker inside outlives the run.
type Memory struct {
	Breaker    state.Breaker
	Claims     int  // consecutive claims of completion
	TestOnly   int  // consecutive test-only iterations
	Damages    int  // iterations in which state files were damaged
	Retries    int  // transient failures since the last answer
	Limits     int  // usage limits since the last answer
	Stale      bool // the session was refused and a fresh start was tried
	Usage      state.Usage
	Iterations int // iterations that count
}

// After folds an iteration into the memory. A retry or a limit costs nothing
// but its own counter.
func (m Memory) After(it Iteration, o Options, now time.Time) Memory {
	m.Usage = m.Usage.Add(it.Usage)
	if len(it.Damaged) > 0 {
		m.Damages++
	}
	if it.Cut == state.RequestAbort {
		return m
	}
	switch kindOf(it.Outcome.Class) {
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
	m.Claims = streak(m.Claims, it.Claims() && !(it.Reopened && it.Progress()))
	m.TestOnly = streak(m.TestOnly, it.TestOnly())
	if it.Cut == "" {
		m.Breaker = breakerAfter(m.Breaker, it, o, now)
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
func Answer(c agent.Class) string {
	switch kindOf(c) {
	case kindLimit:
		return "wait until the reset, or stop with exit code 7; costs nothing"
	case kindTransient:
		return fmt.Sprintf("retry after 5 s, doubled up to 10 min, %d times; costs nothing until then", maxRetries)
	case kindUnusable:
		return "stop with exit code 6"
	case kindStale:
		return "once more without the session; costs nothing"
	}
	switch {
	case c == agent.ClassPermissionDenied:
		return "go on, told about it; exit code 3 after `CB_PERMISSION_DENIAL_THRESHOLD` in a row"
	case c == agent.ClassTimeoutWithWork:
		return "go on, the work counts; without any change it is an error"
	case len(Hints(Iteration{Outcome: agent.Outcome{Class: c}})) > 0:
		return "go on, told about it; the circuit breaker counts it when nothing changed"
	case c.Success():
		return "go on, or end by the rules of completion"
	}
	return "go on; the circuit breaker counts it as an error"
}

// IsLimit tells whether a call met a usage limit.
func IsLimit(c agent.Class) bool { return kindOf(c) == kindLimit }

// kind groups the outcome classes by the answer that they get.
type kind int

const (
	kindCounts    kind = iota // an iteration like any other
	kindLimit                 // wait for the window
	kindTransient             // the service failed: try again
	kindUnusable              // no try can succeed
	kindStale                 // the session is gone: once more without it
)

func kindOf(c agent.Class) kind {
	if c.Transient() {
		return kindTransient
	}
	switch c {
	case agent.ClassUsageLimit, agent.ClassSpendLimit:
		return kindLimit
	case agent.ClassAuth, agent.ClassNoCredit, agent.ClassDisabledByAdmin, agent.ClassBadModel, agent.ClassBadFlag:
		return kindUnusable
	case agent.ClassStaleSession:
		return kindStale
	}
	return kindCounts
}
