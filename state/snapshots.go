package state

import "time"

// The values of Status.Status.
const (
	StatusRunning   = "running"
	StatusWaiting   = "waiting"
	StatusPaused    = "paused"
	StatusCompleted = "completed"
	StatusHalted    = "halted"
	StatusStopped   = "stopped"
	StatusFailed    = "failed"
)

// Status is status.json. The zero value means that nothing has run here.
type Status struct {
	Timestamp          time.Time             `json:"timestamp"`
	RunID              string                `json:"run_id"`
	PID                int                   `json:"pid"`
	StartedAt          time.Time             `json:"started_at"`
	LoopCount          int                   `json:"loop_count"`
	MaxIterations      int                   `json:"max_iterations"` // 0: no bound
	CallsThisHour      int                   `json:"calls_made_this_hour"`
	MaxCallsPerHour    int                   `json:"max_calls_per_hour"`
	TokensThisHour     int64                 `json:"tokens_used_this_hour"`
	MaxTokensPerHour   int64                 `json:"max_tokens_per_hour"` // 0: off
	NextReset          time.Time             `json:"next_reset"`
	Status             string                `json:"status"`
	LastAction         string                `json:"last_action"`
	ExitReason         string                `json:"exit_reason"`
	ExitCode           int                   `json:"exit_code"`
	Rule               string                `json:"rule"`
	Reason             string                `json:"reason"` // one sentence that explains rule and exit_reason
	Next               string                `json:"next"`   // after the end: what the user types or does next
	Agent              string                `json:"agent"`
	Model              string                `json:"model"`
	SessionID          string                `json:"session_id"`
	Task               TaskStatus            `json:"task"`
	Phase              string                `json:"phase"`
	IterationStartedAt time.Time             `json:"iteration_started_at"`
	LastTool           string                `json:"last_tool"`
	Outcome            string                `json:"outcome"`
	Usage              Usage                 `json:"usage"` // of the whole run
	Breaker            BreakerStatus         `json:"breaker"`
	Limit              *Limit                `json:"limit"` // the latest record; null when none was seen
	WakeAt             time.Time             `json:"wake_at,omitzero"`
	LimitedUntil       map[string]time.Time  `json:"limited_until,omitempty"` // by agent: end of its latest usage limit, also a past one
	Tasks              map[string]TaskMemory `json:"tasks,omitempty"`         // open tasks, by id
	Checks             []CheckStatus         `json:"checks,omitempty"`        // in the order in which they first ran
	// Pending is a request to pause or stop after this iteration; empty: none. It
	// stays set if SIGTERM or SIGHUP ends the run before that.
	Pending Request `json:"pending,omitempty"`
}

// Active reports whether the status is running, waiting or paused.
func (s Status) Active() bool {
	return s.Status == StatusRunning || s.Status == StatusWaiting || s.Status == StatusPaused
}

// TaskMemory is what one run hands on to the next about an open task.
type TaskMemory struct {
	Worked   bool `json:"worked,omitempty"`   // some work was done
	Refused  int  `json:"refused,omitempty"`  // ticks without work
	Skipped  bool `json:"skipped,omitempty"`  // by a person
	Attempts int  `json:"attempts,omitempty"` // turns
}

// CheckStatus is the latest run of one check.
type CheckStatus struct {
	Name      string    `json:"name"`
	Result    string    `json:"result"` // running, passed or failed
	StartedAt time.Time `json:"started_at"`
	Seconds   float64   `json:"seconds"`            // of the latest finished run
	RedSince  time.Time `json:"red_since,omitzero"` // zero: it passes
}

// TaskStatus is the current task and the counts of the plan.
type TaskStatus struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	Done  int    `json:"done"`
	Total int    `json:"total"` // 0: no plan
}

// BreakerStatus is the part of the breaker's state in status.json.
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
	LastError         string    `json:"last_error,omitempty"`   // the normalised text that SameError counts
	OutputSizes       []int     `json:"output_sizes,omitempty"` // bytes of the latest 5 final messages
}

// BreakerChange is one line of .circuit_breaker_history.
type BreakerChange struct {
	Timestamp time.Time `json:"timestamp"`
	Loop      int       `json:"loop"`
	FromState string    `json:"from_state"`
	ToState   string    `json:"to_state"`
	Reason    string    `json:"reason"`
}

// Calls are the counters of one clock hour: .call_count, .token_count and
// .last_reset. Hour is the local start of that hour.
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
	SessionID   string    `json:"session_id"` // empty: start a new one
	CreatedAt   time.Time `json:"created_at"`
	LastUsed    time.Time `json:"last_used"`
	ResetAt     time.Time `json:"reset_at,omitzero"`
	ResetReason string    `json:"reset_reason,omitempty"`
	// Counted is usage that is already counted: some agents report session totals.
	Counted Usage `json:"counted,omitzero"`
}
