package state

import (
	"encoding/json"
	"fmt"
	"reflect"
	"sync"
	"time"
)

// Kind names what an Event reports.
type Kind string

// The kinds, roughly in the order in which they occur in an iteration. Each means
// exactly one thing.
const (
	KindRunStart       Kind = "run_start"
	KindIterationStart Kind = "iteration_start"
	KindPhase          Kind = "phase"       // the turn reached another step
	KindAgent          Kind = "agent"       // the run switches to another agent
	KindBaseline       Kind = "baseline"    // checks that failed before the agent started
	KindFeedback       Kind = "feedback"    // what the next prompt says about the past
	KindSession        Kind = "session"     // the agent named its session and model
	KindText           Kind = "text"        // what the agent says
	KindTool           Kind = "tool"        // the agent calls a tool
	KindToolResult     Kind = "tool_result" // a result of a tool
	KindUsage          Kind = "usage"       // tokens and cost so far in this call
	KindDenied         Kind = "denied"      // the permission rules refused a tool call
	KindLimit          Kind = "limit"       // a usage limit as the agent reports it
	KindRetry          Kind = "retry"       // the agent CLI retries on its own
	KindError          Kind = "error"       // the agent CLI's own error text, never the model's words
	KindResult         Kind = "result"      // the agent's final record
	KindFinding        Kind = "finding"     // from the audit or a check
	KindCheck          Kind = "check"       // a check ran
	KindTask           Kind = "task"        // ralph changed the state of a task in the plan
	KindCommit         Kind = "commit"      // ralph committed changes that the agent left uncommitted
	KindPaused         Kind = "paused"      // the run waits for `ralph resume`
	KindDecision       Kind = "decision"    // a rule matched
	KindIterationEnd   Kind = "iteration_end"
	KindRunEnd         Kind = "run_end"
)

// Payload is the data of an event: one of the structs below, by value.
type Payload interface{ kind() Kind }

// payloadTypes maps each kind to the type of its payload.
var payloadTypes = sync.OnceValue(func() map[Kind]reflect.Type {
	types := map[Kind]reflect.Type{}
	for _, p := range []Payload{
		RunStart{}, IterationStart{}, Phase{}, AgentChange{}, Baseline{}, Feedback{}, SessionStart{}, Text{},
		Tool{}, ToolResult{}, Usage{}, Denied{}, Limit{}, Retry{}, AgentError{}, FinalMessage{}, Finding{},
		Check{}, TaskChange{}, Commit{}, Paused{}, Decision{}, IterationEnd{}, RunEnd{},
	} {
		types[p.kind()] = reflect.TypeOf(p)
	}
	return types
})

// decodePayload returns nil for a kind that this version does not know.
func decodePayload(kind Kind, data json.RawMessage) (Payload, error) {
	t, known := payloadTypes()[kind]
	if !known {
		return nil, nil
	}
	p := reflect.New(t)
	if len(data) > 0 {
		if err := json.Unmarshal(data, p.Interface()); err != nil {
			return nil, fmt.Errorf("decode event %q: %w", kind, err)
		}
	}
	return p.Elem().Interface().(Payload), nil
}

// RunStart opens a run.
type RunStart struct {
	Agent           string `json:"agent"`
	Model           string `json:"model,omitempty"` // empty: the agent's own default
	Plan            string `json:"plan,omitempty"`  // relative to the project; empty: no plan
	Prompt          string `json:"prompt,omitempty"`
	Version         string `json:"version,omitempty"` // of ralph
	Resumed         bool   `json:"resumed,omitempty"` // keeps the counters of the previous run
	Done            int    `json:"done"`              // tasks of the plan
	Total           int    `json:"total"`
	Killed          string `json:"killed,omitempty"`           // the previous run, if it was killed
	KilledIteration int    `json:"killed_iteration,omitempty"` // in which it was killed
}

// IterationStart opens an iteration.
type IterationStart struct {
	Title string `json:"title,omitempty"` // of the task; empty: no task, see Why
	Why   string `json:"why,omitempty"`   // why there is no task
	Agent string `json:"agent,omitempty"`
	Model string `json:"model,omitempty"`
	Done  int    `json:"done"`
	Total int    `json:"total"`
}

// The steps of a turn, as in Phase and Status.Phase.
const (
	PhaseAgent     = "agent"     // the agent works
	PhaseObserving = "observing" // ralph looks at the result
	PhaseChecking  = "checking"  // a check runs
)

// Phase says that a turn reached another step.
type Phase struct {
	Name  string `json:"name"`            // one of the steps
	Check string `json:"check,omitempty"` // name of the running check
	Run   string `json:"run,omitempty"`   // as in Check
}

// AgentChange says that the run switches to another agent.
type AgentChange struct {
	Name    string    `json:"name"`
	Model   string    `json:"model,omitempty"`
	Instead string    `json:"instead,omitempty"` // the preferred agent, which is limited; empty: none
	Until   time.Time `json:"until,omitzero"`    // end of that limit
}

// Baseline lists the checks that failed before the agent started, a line each.
type Baseline struct {
	Red []string `json:"red"`
}

// Feedback is the part of the next prompt that is about earlier iterations.
type Feedback struct {
	Items []string `json:"items"`
}

// SessionStart names the agent's own session.
type SessionStart struct {
	ID    string `json:"id"`
	Model string `json:"model,omitempty"`
}

// TextSource says whose words a Text is.
type TextSource string

// The sources of text.
const (
	FromModel TextSource = ""       // the model
	FromCLI   TextSource = "cli"    // a line that the CLI printed between its records
	FromHint  TextSource = "notice" // a warning or a hint in a record of the CLI
)

// Text is a piece of the agent's narration.
type Text struct {
	Text   string     `json:"text"`
	Source TextSource `json:"source,omitempty"`
}

// Tool is one tool call. Arg is its main argument (command, path, pattern): one line
// of at most 400 runes.
type Tool struct {
	ID     string `json:"id,omitempty"`
	Name   string `json:"name"`
	Arg    string `json:"arg,omitempty"`
	Parent string `json:"parent,omitempty"` // id of the call that started the sub-agent; empty: not a sub-agent
}

// ToolResult is the result of a tool call.
type ToolResult struct {
	Tool  Tool   `json:"tool"`
	Text  string `json:"text,omitempty"`
	Error bool   `json:"error,omitempty"` // the record says that the tool failed
}

// Usage is tokens, and the agent's own estimate of the cost in US dollars. An event
// has the totals of the call so far, not a delta.
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

// Denied is a tool call that the permission rules refused.
type Denied struct {
	Tool   Tool   `json:"tool"`
	Reason string `json:"reason,omitempty"`
}

// Limit is one usage-limit window as the agent reports it.
type Limit struct {
	Name        string    `json:"kind"`               // the vendor's name of the window: five_hour, seven_day, ...
	Rejected    bool      `json:"rejected,omitempty"` // the limit was reached; false: information only
	ResetsAt    time.Time `json:"resets_at,omitzero"` // zero: unknown
	Utilization float64   `json:"utilization"`        // 0 to 1; negative: unknown
}

// Retry says that the agent CLI retries on its own.
type Retry struct {
	Text  string   `json:"text,omitempty"`
	Codes []string `json:"codes,omitempty"`
}

// AgentError is the agent CLI's own error text: never the model's words.
type AgentError struct {
	Text  string   `json:"text,omitempty"`
	Codes []string `json:"codes,omitempty"` // HTTP status ("429"), subtype ("error_max_turns"), terminal reason
}

// FinalMessage is the agent's final record.
type FinalMessage struct {
	Text    string   `json:"text,omitempty"`
	Error   bool     `json:"error,omitempty"` // the record reports a failure
	Codes   []string `json:"codes,omitempty"` // as in AgentError
	Session string   `json:"session,omitempty"`
}

// The values of Check.Run besides "", the usual run after the agent's work.
const (
	CheckBaseline = "baseline" // before the work
	CheckAgain    = "again"    // a second time, because it failed
)

// Check is one run of a check.
type Check struct {
	Name    string  `json:"name"`
	Command string  `json:"command"`
	Run     string  `json:"run,omitempty"` // CheckBaseline, CheckAgain or empty
	Passed  bool    `json:"passed"`
	Seconds float64 `json:"seconds"`
	Output  string  `json:"output,omitempty"` // shortened; empty if it passed
}

// The sources of findings.
const (
	FoundByAudit  = "audit"
	FoundByChecks = "checks"
)

// Finding is something that a person should look at.
type Finding struct {
	Source string `json:"source"`           // FoundByAudit or FoundByChecks
	Name   string `json:"name,omitempty"`   // the audit's name for this kind of finding
	Task   string `json:"task,omitempty"`   // id
	File   string `json:"file,omitempty"`   // relative to the repository
	Text   string `json:"text"`             // one sentence
	Doubt  bool   `json:"doubt,omitempty"`  // a question rather than a fault
	Answer string `json:"answer,omitempty"` // what ralph did about it
}

// TaskChange says that ralph changed the state of a task in the plan.
type TaskChange struct {
	ID    string `json:"id"`
	Title string `json:"title,omitempty"`
	State string `json:"state"` // the new one: "open"
	Why   string `json:"why"`
}

// Commit reports ralph's commit of the changes that the agent left uncommitted.
type Commit struct {
	OID     string    `json:"oid,omitempty"` // empty: nothing was committed
	Files   int       `json:"files"`
	Refused []Refusal `json:"refused,omitempty"` // each reported once
}

// Refusal is a file that ralph did not commit.
type Refusal struct {
	File string `json:"file"`
	Why  string `json:"why"`
}

// Paused says that the run waits for `ralph resume`.
type Paused struct{}

// Decision is a rule that matched.
type Decision struct {
	Action string    `json:"action"` // continue, retry, wait, stop
	Rule   string    `json:"rule"`
	Reason string    `json:"reason,omitempty"`
	WakeAt time.Time `json:"wake_at,omitzero"`
}

// IterationEnd is how an iteration ended, and what follows.
type IterationEnd struct {
	Decision
	Title    string  `json:"title,omitempty"`  // of the task; empty: none
	Outcome  string  `json:"outcome"`          // class of the agent call
	Detail   string  `json:"detail,omitempty"` // the outcome in words
	Failed   bool    `json:"failed,omitempty"` // the call went wrong
	Files    int     `json:"files"`            // changed
	Seconds  float64 `json:"seconds"`          // of the agent call
	Done     int     `json:"done"`             // tasks of the plan
	Total    int     `json:"total"`
	TaskDone bool    `json:"task_done,omitempty"` // the task is done now
	Usage    Usage   `json:"usage"`
}

// RunEnd is how a run ended.
type RunEnd struct {
	Decision
	Exit    int     `json:"exit"` // ralph's exit code
	Seconds float64 `json:"seconds"`
	Usage   Usage   `json:"usage"`
	Next    string  `json:"next,omitempty"` // what the user types or does next
}

func (RunStart) kind() Kind       { return KindRunStart }
func (IterationStart) kind() Kind { return KindIterationStart }
func (Phase) kind() Kind          { return KindPhase }
func (AgentChange) kind() Kind    { return KindAgent }
func (Baseline) kind() Kind       { return KindBaseline }
func (Feedback) kind() Kind       { return KindFeedback }
func (SessionStart) kind() Kind   { return KindSession }
func (Text) kind() Kind           { return KindText }
func (Tool) kind() Kind           { return KindTool }
func (ToolResult) kind() Kind     { return KindToolResult }
func (Usage) kind() Kind          { return KindUsage }
func (Denied) kind() Kind         { return KindDenied }
func (Limit) kind() Kind          { return KindLimit }
func (Retry) kind() Kind          { return KindRetry }
func (AgentError) kind() Kind     { return KindError }
func (FinalMessage) kind() Kind   { return KindResult }
func (Finding) kind() Kind        { return KindFinding }
func (Check) kind() Kind          { return KindCheck }
func (TaskChange) kind() Kind     { return KindTask }
func (Commit) kind() Kind         { return KindCommit }
func (Paused) kind() Kind         { return KindPaused }
func (Decision) kind() Kind       { return KindDecision }
func (IterationEnd) kind() Kind   { return KindIterationEnd }
func (RunEnd) kind() Kind         { return KindRunEnd }
