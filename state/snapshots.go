package state

import (
	"encoding/json"
	"slices"
	"time"
)

// The values of Status.Status.
const (
	StatusRunning   = "running"
	StatusWaiting   = "waiting"
	StatusPaused    = "paused"
	StatusCompleted = "completed"
	StatusReview    = "review" // everything is done, but it needs your review
	StatusHalted    = "halted"
	StatusStopped   = "stopped"
	StatusFailed    = "failed"
)

// statusVersion is the version of the schema of status.json.
const statusVersion = 1

// Status is status.json: everything that a script or a screen asks first.
// The zero value means that nothing has run here.
type Status struct {
	V                  int           `json:"v"` // SaveStatus sets it, and LastAction
	Timestamp          time.Time     `json:"timestamp"`
	RunID              string        `json:"run_id"`
	PID                int           `json:"pid"`
	StartedAt          time.Time     `json:"started_at"`
	LoopCount          int           `json:"loop_count"`
	MaxIterations      int           `json:"max_iterations"` // 0: no bound
	CallsThisHour      int           `json:"calls_made_this_hour"`
	MaxCallsPerHour    int           `json:"max_calls_per_hour"`
	TokensThisHour     int64         `json:"tokens_used_this_hour"`
	MaxTokensPerHour   int64         `json:"max_tokens_per_hour"` // 0: off
	NextReset          time.Time     `json:"next_reset"`
	Status             string        `json:"status"`
	LastAction         string        `json:"last_action"`
	ExitReason         string        `json:"exit_reason"`
	ExitCode           int           `json:"exit_code"`
	Rule               string        `json:"rule"`
	Reason             string        `json:"reason"`             // the sentence behind rule and exit_reason
	Next               string        `json:"next"`               // what a person types or does next, after an end
	Proven             bool          `json:"proven"`             // the run has completed, and its checks prove it
	Unproven           string        `json:"unproven,omitempty"` // why it is complete and not proven; empty: it is, or not complete
	Agent              string        `json:"agent"`
	Model              string        `json:"model"`
	AgentFrom          string        `json:"agent_from,omitempty"` // what names them: task, plan, agent use or options
	SessionID          string        `json:"session_id"`
	Task               TaskStatus    `json:"task"`
	Phase              string        `json:"phase"`
	IterationStartedAt time.Time     `json:"iteration_started_at"`
	LastTool           string        `json:"last_tool"`
	Outcome            string        `json:"outcome"`
	Usage              Usage         `json:"usage"` // of the whole run
	Breaker            BreakerStatus `json:"breaker"`
	Limit              *Limit        `json:"limit"` // the latest record; null when none was seen
	WakeAt             time.Time     `json:"wake_at,omitzero"`
	// LimitedUntil holds, by agent, the ends of the usage limits that were met, also of those that are over.
	LimitedUntil map[string]time.Time `json:"limited_until,omitempty"`
	// WindowUse is what is known about usage windows; set only with PACE.
	WindowUse []WindowUse `json:"window_use,omitempty"`
	// Tasks holds, by id, what is remembered of open tasks.
	Tasks  map[string]TaskMemory `json:"tasks,omitempty"`
	Checks []CheckStatus         `json:"checks,omitempty"` // in the order in which they first ran
	// Review is what a person has to look at; set when the status is review, and
	// while findings of an unfinished run are open.
	Review     []ReviewItem `json:"review,omitempty"`
	NextPrompt NextPrompt   `json:"next_prompt,omitzero"`
	// LastError is the latest error of the agent or of a check; empty: there was
	// none since the latest iteration that went well.
	LastError string `json:"last_error,omitempty"`
	// Undone counts the iterations that ralph undo has taken back since the run ended.
	Undone int `json:"undone,omitempty"`
	// Uncommitted are files that this run changed and did not commit, and why.
	Uncommitted []Refusal `json:"uncommitted,omitempty"`
	// Verdicts are those of the latest review in this run.
	Verdicts []Verdict `json:"verdicts,omitempty"`
	// Slots are the turns that run side by side; empty: one turn at a time.
	Slots []SlotStatus `json:"slots,omitempty"`
	// Fleet is the fleet that turns are sent to; nil: none.
	Fleet *FleetStatus `json:"fleet,omitempty"`
	// EndsWhen are the bounds that end the run, and how far each is used.
	EndsWhen []Bound `json:"ends_when,omitempty"`
	// Accepted holds the texts of items that a person has accepted.
	Accepted []string `json:"accepted,omitempty"`
	// Pending is the request that the end of the iteration answers: pause or
	// stop; empty: none. It stays where SIGTERM or SIGHUP ended the run before.
	Pending Request `json:"pending,omitempty"`
}

// SlotStatus is one of the turns that run side by side.
type SlotStatus struct {
	Slot      int       `json:"slot"`
	Worker    string    `json:"worker,omitempty"` // the machine, or fleet until one is known; empty: this one
	Iteration int       `json:"iteration"`
	TaskID    string    `json:"task"`
	Title     string    `json:"title"`
	Since     time.Time `json:"since"`
	Phase     string    `json:"phase,omitempty"` // landing: it waits for the merge queue
	LastTool  string    `json:"last_tool,omitempty"`
}

// FleetStatus is who works for the fleet, for this run or others.
type FleetStatus struct {
	Workers int `json:"workers"`
	Slots   int `json:"slots"`
	Busy    int `json:"busy"`
}

// WindowUse is what is known about one usage window of an agent.
type WindowUse struct {
	Agent string `json:"agent"`
	Limit Limit  `json:"limit"` // as it was reported last
}

// Bound is something that ends a run when it reaches Most.
type Bound struct {
	Name string  `json:"name"`
	Have float64 `json:"have"`
	Most float64 `json:"most"`
	// From is when a bound in seconds begins to count.
	From time.Time `json:"from,omitzero"`
}

// Bounds that are not counts: seconds, which a reader counts from Bound.From on, and US
// dollars, which it takes from usage.
const (
	BoundProgress = "no progress" // iterations
	BoundDuration = "duration"
	BoundUntil    = "until" // a time of day: Most seconds after From
	BoundCost     = "cost"
)

// TaskMemory is what one run leaves the next one about an open task.
type TaskMemory struct {
	// Work lists the turns whose changes earned the task, or may have; Proof says what shows that it is done: one of
	// the constants Proof*, empty while it is open. Done is true once it was done.
	Work  []Work `json:"work,omitempty"`
	Proof string `json:"proof,omitempty"`
	Done  bool   `json:"done,omitempty"`
	// ChangedTests lists the files of tests that existed before the task and that it changed, with the names of the tests.
	ChangedTests []string `json:"changed_tests,omitempty"`
	// Green are tests that were red before a turn of the task and passed after it, the first of them.
	Green []string `json:"green,omitempty"`

	CutOff  bool `json:"cut_off,omitempty"` // a turn for it was cut off, and may have done something that nobody saw
	Ticked  int  `json:"ticked,omitempty"`  // the iteration that ticked it without its work; its next turn has to check it
	Refused int  `json:"refused,omitempty"` // ticks without work
	Skipped bool `json:"skipped,omitempty"` // a person put it off
	// Attempts counts the turns that were made for it.
	Attempts int `json:"attempts,omitempty"`
	// Tries counts failed checks in a row.
	Tries int `json:"tries,omitempty"`
	// Past says what the latest attempts did, a line each.
	Past []string `json:"past,omitempty"`
	// Feedback is what the next attempt has to know.
	Feedback []string  `json:"feedback,omitempty"`
	Aside    Aside     `json:"aside,omitzero"`
	Returned bool      `json:"returned,omitempty"` // it was put aside and came back once
	Review   Reviewing `json:"review,omitzero"`
}

// Work is a turn whose change belongs to a task.
type Work struct {
	Run       string `json:"run"`
	Iteration int    `json:"iteration"`
	By        string `json:"by"`             // what connects it: see package audit
	What      string `json:"what,omitempty"` // the tests, files, names or words that connect it
}

// What shows that a task is done, the strongest first.
const (
	ProofTests  = "tests"  // tests that were red pass now
	ProofReview = "review" // a reviewer passed it
	ProofChecks = "checks" // the required checks passed when it was ticked
	ProofWord   = "word"   // somebody says so
	ProofNone   = "none"   // it is not done
)

// Latest returns the iterations of the latest run that worked on the task; never nil.
func (m TaskMemory) Latest() []int {
	if len(m.Work) == 0 {
		return []int{}
	}
	return m.Iterations(m.Work[len(m.Work)-1].Run)
}

// ProofOf says what shows that a task is done; see the constants.
func (m TaskMemory) ProofOf(done bool) string {
	switch {
	case !done:
		return ProofNone
	case m.Proof == "": // a person ticked it, or it was done before ralph looked
		return ProofWord
	}
	return m.Proof
}

// Worked reports whether a turn did something for the task, or may have.
func (m TaskMemory) Worked() bool { return m.CutOff || len(m.Work) > 0 }

// Iterations returns the iterations of a run whose work belongs to the task, in order, each once.
func (m TaskMemory) Iterations(run string) []int {
	all := []int{}
	for _, w := range m.Work {
		if w.Run == run {
			all = append(all, w.Iteration)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Aside says that a task is not worked on until it, or the plan, changes. The
// zero value: it is.
type Aside struct {
	Why   string `json:"why,omitempty"`
	Cause string `json:"cause,omitempty"` // the error it was put aside for; empty: none
	// Plan and Task are digests of their wording at that time.
	Plan string `json:"plan,omitempty"`
	Task string `json:"task,omitempty"`
	// Stuck is true if the task comes back once no other one can be worked on.
	Stuck bool `json:"stuck,omitempty"`
	// Marked is true if the plan says it, too: the task begins afresh when the mark is gone.
	Marked bool `json:"marked,omitempty"`
}

// NextPrompt is what the next prompt says about the past. It survives the end of
// a run that did not complete.
type NextPrompt struct {
	Task     string   `json:"task,omitempty"` // that Feedback and Review are about
	Last     string   `json:"last,omitempty"` // what the iteration before did
	Refused  string   `json:"refused,omitempty"`
	Feedback []string `json:"feedback,omitempty"`
	Review   []string `json:"review,omitempty"` // what reviewers have to say to the developer of Task, and to no other
}

// ReviewItem is something that a person has to look at and may accept.
type ReviewItem struct {
	N    int    `json:"n,omitempty"` // from 1, for ralph accept
	Name string `json:"name"`        // what kind of item it is
	Task string `json:"task,omitempty"`
	File string `json:"file,omitempty"`
	Text string `json:"text"` // one sentence
	Show string `json:"show"` // the command that shows it
	// Gone is what is gone from git, so that a later run can see whether somebody has brought it back; nil: nothing is.
	Gone json.RawMessage `json:"gone,omitempty"`
}

// CheckStatus is one of ralph's own checks: what its latest run said.
type CheckStatus struct {
	Name      string    `json:"name"`
	Result    string    `json:"result"` // running, passed, failed or skipped
	StartedAt time.Time `json:"started_at"`
	Seconds   float64   `json:"seconds"`            // of the latest finished run
	RedSince  time.Time `json:"red_since,omitzero"` // zero while it is green
}

// Ended takes over how a run of the check ended.
func (c *CheckStatus) Ended(check Check, at time.Time) {
	c.Seconds = check.Seconds
	switch {
	case check.Skipped != "":
		c.Result, c.RedSince = "skipped", time.Time{}
	case check.Passed:
		c.Result, c.RedSince = "passed", time.Time{}
	default:
		c.Result = "failed"
		if c.RedSince.IsZero() {
			c.RedSince = at
		}
	}
}

// TaskStatus is the current task and the counts of the plan.
type TaskStatus struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	Done  int    `json:"done"`
	Total int    `json:"total"` // 0: no plan
}

// BreakerStatus is the part of the breaker that status.json repeats.
type BreakerStatus struct {
	State  string `json:"state"`
	Reason string `json:"reason"`
}

// The states of the circuit breaker.
const (
	BreakerClosed   = "CLOSED"
	BreakerHalfOpen = "HALF_OPEN"
	BreakerOpen     = "OPEN"
)

// Breaker is .circuit_breaker_state. The zero value reads as CLOSED.
type Breaker struct {
	State             string    `json:"state"`
	LastChange        time.Time `json:"last_change"`
	NoProgress        int       `json:"consecutive_no_progress"`
	SameError         int       `json:"consecutive_same_error"`
	PermissionDenials int       `json:"consecutive_permission_denials"`
	LastProgressLoop  int       `json:"last_progress_loop"`
	TotalOpens        int       `json:"total_opens"`
	Reason            string    `json:"reason"`
	CurrentLoop       int       `json:"current_loop"`
	OpenedAt          time.Time `json:"opened_at,omitzero"`
	// LastError is the normalised error text that SameError counts; empty: the count
	// begins afresh.
	LastError string `json:"last_error,omitempty"`
	// Errors holds the count of each error of the latest iteration.
	Errors map[string]int `json:"errors,omitempty"`
	// OutputSizes are the final-message sizes, in bytes, of the latest iterations, at most 5.
	OutputSizes []int `json:"output_sizes,omitempty"`
}

// Closed is the breaker after a run completed.
func (b Breaker) Closed() Breaker {
	return Breaker{State: BreakerClosed, LastChange: b.LastChange, LastProgressLoop: b.LastProgressLoop,
		TotalOpens: b.TotalOpens}
}

// BreakerChange is one line of .circuit_breaker_history.
type BreakerChange struct {
	Timestamp time.Time `json:"timestamp"`
	Loop      int       `json:"loop"`
	FromState string    `json:"from_state"`
	ToState   string    `json:"to_state"`
	Reason    string    `json:"reason"`
}

// Calls are the counters of this clock hour: .call_count, .token_count and
// .last_reset. Hour is the local start of the hour that the counters belong to.
type Calls struct {
	Hour   time.Time
	Calls  int
	Tokens int64
}

// Signals is .exit_signals: iteration numbers, the latest 5 of each.
type Signals struct {
	TestOnlyLoops        []int `json:"test_only_loops"`
	DoneSignals          []int `json:"done_signals"`
	CompletionIndicators []int `json:"completion_indicators"`
}

// Session is .ralph_session: the agent session that --continue resumes.
type Session struct {
	Agent       string    `json:"agent"`
	SessionID   string    `json:"session_id"` // empty: start afresh
	CreatedAt   time.Time `json:"created_at"`
	LastUsed    time.Time `json:"last_used"`
	ResetAt     time.Time `json:"reset_at,omitzero"`
	ResetReason string    `json:"reset_reason,omitempty"`
	// Counted is the usage of this session that earlier calls have counted:
	// some agents report totals of the session, not of the call.
	Counted Usage `json:"counted,omitzero"`
}
