package state

import "time"

// Kind names what an Event reports.
type Kind string

// The kinds of events, in the order in which one iteration produces them.
const (
	KindRunStart       Kind = "run_start"
	KindIterationStart Kind = "iteration_start"
	KindSession        Kind = "session"     // the agent named its session and model
	KindText           Kind = "text"        // narration of the agent
	KindTool           Kind = "tool"        // the agent called a tool
	KindToolResult     Kind = "tool_result" // what the tool answered
	KindUsage          Kind = "usage"       // tokens and cost so far in this iteration
	KindDenied         Kind = "denied"      // a tool call was refused by the permission rules
	KindLimit          Kind = "limit"       // a usage-limit record, rejected or not
	KindRetry          Kind = "retry"       // the agent CLI retries by itself
	KindError          Kind = "error"       // the agent CLI's own error text: never the model's words
	KindResult         Kind = "result"      // the agent's final record
	KindGate           Kind = "gate"        // a check ran
	KindDecision       Kind = "decision"    // a rule matched
	KindIterationEnd   Kind = "iteration_end"
	KindRunEnd         Kind = "run_end"
)

// Event is the one record that travels from the decoder to events.jsonl and to
// the screen. Time, Run and Iteration are stamped by the Writer; a decoder
// leaves them zero. Fields that a kind does not use are zero and not written.
type Event struct {
	Time      time.Time `json:"time"`
	Run       string    `json:"run,omitempty"`
	Iteration int       `json:"iteration,omitempty"`
	Kind      Kind      `json:"kind"`
	// Text is for people: narration, the tool's output, the final message,
	// the error text, the reason of a decision.
	Text string `json:"text,omitempty"`
	// Error is true when the record itself reports a failure: a tool result
	// with an error, a final record with is_error, a failed check.
	Error bool `json:"error,omitempty"`
	// Codes are the machine-readable names that the record gave its failure:
	// HTTP status ("429"), subtype ("error_max_turns"), terminal reason.
	Codes []string `json:"codes,omitempty"`
	Tool  *Tool    `json:"tool,omitempty"`
	// Usage is cumulative over the iteration, never a delta.
	Usage   *Usage `json:"usage,omitempty"`
	Session string `json:"session,omitempty"`
	Model   string `json:"model,omitempty"`
	Limit   *Limit `json:"limit,omitempty"`
	// End is set on decision, iteration_end and run_end.
	End *End `json:"end,omitempty"`
}

// Tool is one tool call. Arg is its main argument (the command, the path, the
// pattern), one line, at most 400 runes. Parent is the call that started the
// sub-agent which made this one, empty for the agent itself.
type Tool struct {
	ID     string `json:"id,omitempty"`
	Name   string `json:"name"`
	Arg    string `json:"arg,omitempty"`
	Parent string `json:"parent,omitempty"`
}

// Usage counts tokens and the agent's own estimate of the cost in US dollars.
type Usage struct {
	InputTokens      int64   `json:"input_tokens"`
	OutputTokens     int64   `json:"output_tokens"`
	CacheReadTokens  int64   `json:"cache_read_tokens"`
	CacheWriteTokens int64   `json:"cache_write_tokens,omitempty"`
	CostUSD          float64 `json:"cost_usd"`
}

// Total is what counts against the hourly token budget: everything but cache reads.
func (u Usage) Total() int64 { return u.InputTokens + u.OutputTokens + u.CacheWriteTokens }

// Add sums two usages.
func (u Usage) Add(v Usage) Usage {
	return Usage{
		u.InputTokens + v.InputTokens, u.OutputTokens + v.OutputTokens,
		u.CacheReadTokens + v.CacheReadTokens, u.CacheWriteTokens + v.CacheWriteTokens, u.CostUSD + v.CostUSD,
	}
}

// Limit is one usage-limit window as the agent reported it.
type Limit struct {
	// Kind is the vendor's name of the window: five_hour, seven_day, ...
	Kind string `json:"kind"`
	// Rejected is true when the window refused work; false for information only.
	Rejected bool `json:"rejected,omitempty"`
	// ResetsAt is zero when the agent did not say.
	ResetsAt time.Time `json:"resets_at,omitzero"`
	// Utilization is 0..1; below zero is unknown.
	Utilization float64 `json:"utilization"`
}

// End says how an iteration or a run ended and why.
type End struct {
	Outcome  string        `json:"outcome,omitempty"` // class of the agent call
	Action   string        `json:"action,omitempty"`  // continue, retry, wait, stop
	Rule     string        `json:"rule,omitempty"`
	Reason   string        `json:"reason,omitempty"`
	Exit     int           `json:"exit,omitempty"` // ralph's exit code, on run_end
	Files    int           `json:"files,omitempty"`
	Duration time.Duration `json:"duration_ns,omitempty"`
	WakeAt   time.Time     `json:"wake_at,omitzero"`
}
