package state

import (
	"fmt"
	"strings"
	"time"
)

// Kind names what an Event reports.
type Kind string

// The kinds, roughly in the order in which one iteration produces them. One
// kind means one thing.
const (
	KindRunStart       Kind = "run_start"
	KindIterationStart Kind = "iteration_start"
	KindPhase          Kind = "phase"       // the turn reached another step
	KindAgent          Kind = "agent"       // another agent works from now on
	KindBaseline       Kind = "baseline"    // checks that failed before the agent did anything
	KindFeedback       Kind = "feedback"    // what the next prompt says about the past
	KindSession        Kind = "session"     // the agent named its session and model
	KindText           Kind = "text"        // what the agent says
	KindTool           Kind = "tool"        // the agent called a tool
	KindToolResult     Kind = "tool_result" // what the tool answered
	KindUsage          Kind = "usage"       // tokens and cost so far in this call
	KindDenied         Kind = "denied"      // a tool call was refused by the permission rules
	KindBlocked        Kind = "blocked"     // the sandbox refused a connection
	KindLimit          Kind = "limit"       // a usage-limit record, rejected or not
	KindRetry          Kind = "retry"       // the agent CLI retries by itself
	KindError          Kind = "error"       // the agent CLI's own error text: never the model's words
	KindResult         Kind = "result"      // the agent's final record
	KindFinding        Kind = "finding"     // the audit or a check found something to look at
	KindCheck          Kind = "check"       // a check ran
	KindHook           Kind = "hook"        // a hook of the user ran
	KindVerdict        Kind = "verdict"     // a reviewer has looked at a task
	KindTask           Kind = "task"        // ralph changed the state of a task in the plan
	KindQuestion       Kind = "question"    // a task waits for an answer
	KindAnswer         Kind = "answer"      // a person has answered
	KindCommit         Kind = "commit"      // ralph committed what the agent had left uncommitted
	KindPaused         Kind = "paused"      // the run waits for `ralph resume`
	KindDecision       Kind = "decision"    // a rule matched
	KindIterationEnd   Kind = "iteration_end"
	KindRunEnd         Kind = "run_end"
)

// Payload is what an event of one kind carries: a plain value of the type that the table Kinds names.
type Payload any

// RunStart opens a run.
type RunStart struct {
	Agent   string `json:"agent"`
	Model   string `json:"model"` // empty: the agent's own default
	Plan    string `json:"plan"`  // relative to the project; empty: no plan
	Prompt  string `json:"prompt,omitempty"`
	Version string `json:"version,omitempty"` // of ralph
	Resumed bool   `json:"resumed,omitempty"` // keeps the counters of the previous run
	// Parallel is how many turns may run side by side, if that is more than one.
	Parallel int `json:"parallel,omitempty"`
	Done     int `json:"done"` // tasks of the plan
	Total    int `json:"total"`
	// Killed is the previous run when it was killed; empty: it ended by itself.
	Killed          string `json:"killed,omitempty"`
	KilledIteration int    `json:"killed_iteration,omitempty"` // in which it was killed
	LastError       string `json:"last_error,omitempty"`       // that it had met; empty: none is known
}

// IterationStart opens an iteration.
type IterationStart struct {
	Title string `json:"title,omitempty"` // of the task; empty if there is none, see Why
	Why   string `json:"why,omitempty"`   // the iteration runs without a task
	Agent string `json:"agent,omitempty"`
	Model string `json:"model,omitempty"`
	Done  int    `json:"done"`
	Total int    `json:"total"`
}

// The steps of a turn, as Phase and Status.Phase name them.
const (
	PhaseAgent     = "agent"     // the agent works
	PhaseObserving = "observing" // what it left is looked at
	PhaseChecking  = "checking"  // a check runs
	PhaseHook      = "hook"      // a hook runs; Phase.Check is its point
)

// Phase says that a turn reached another step.
type Phase struct {
	Name  string `json:"name"`            // one of the steps
	Check string `json:"check,omitempty"` // that runs now
	Run   string `json:"run,omitempty"`   // CheckBaseline, CheckAgain, CheckOldTests; empty: the usual run
}

// AgentChange says that another agent works from now on.
type AgentChange struct {
	Name    string    `json:"name"`
	Model   string    `json:"model,omitempty"`
	Instead string    `json:"instead,omitempty"` // the preferred agent, which cannot work now; empty: none
	Until   time.Time `json:"until,omitzero"`    // end of its usage limit; zero: unknown, or there is none
	Why     string    `json:"why,omitempty"`     // what PACE says; empty: a limit, a person or the plan is the reason
}

// Baseline lists the checks that failed before the agent did anything, one
// line each.
type Baseline struct {
	Red []string `json:"red"`
}

// Feedback is what the next prompt says about the past, word for word.
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
	FromModel TextSource = ""       // the agent's own words
	FromCLI   TextSource = "cli"    // a line that its CLI printed beside its records
	FromHint  TextSource = "notice" // a warning or a hint in a record of its CLI
)

// Text is narration, in pieces as they come.
type Text struct {
	Text   string     `json:"text"`
	Source TextSource `json:"source,omitempty"`
}

// Tool is one tool call. Arg is its main argument (the command, the path, the
// pattern): one line, at most 400 runes.
type Tool struct {
	ID   string `json:"id,omitempty"`
	Name string `json:"name"`
	Arg  string `json:"arg,omitempty"`
	// Hunk has the lines that an edit removes and adds, marked - and +; empty: no edit.
	Hunk string `json:"hunk,omitempty"`
	File bool   `json:"file,omitempty"` // Arg is the path of a file that is read or written
	// Sum is the same for calls whose arguments are all the same; empty: unknown.
	Sum string `json:"-"`
	// Parent is the call that started the sub-agent which made this call; empty:
	// the agent itself made it.
	Parent string `json:"parent,omitempty"`
	// Asks are the questions that the call puts to the user; nil: it asks nothing.
	Asks []Ask `json:"asks,omitempty"`
}

// Ask is what an agent asks a person.
type Ask struct {
	Text    string   `json:"text"`
	Options []string `json:"options,omitempty"` // to choose from, a line each; nil: the answer is free
}

// ToolResult is what a tool answered. Tool is the call.
type ToolResult struct {
	Tool  Tool   `json:"tool"`
	Text  string `json:"text,omitempty"`
	Error bool   `json:"error,omitempty"` // the record says that the tool failed
}

// Usage counts tokens and the agent's own estimate of the cost in US dollars.
// As an event it is cumulative over the call, never a delta.
type Usage struct {
	InputTokens      int64   `json:"input_tokens"`
	OutputTokens     int64   `json:"output_tokens"`
	CacheReadTokens  int64   `json:"cache_read_tokens"`
	CacheWriteTokens int64   `json:"cache_write_tokens,omitempty"`
	CostUSD          float64 `json:"cost_usd"`
	// EstimatedUSD is the part of CostUSD that ralph estimated: most agents name the cost of a call only at its end.
	EstimatedUSD float64 `json:"estimated_usd,omitempty"`
	// UnpricedCalls counts calls that were cut off and that CostUSD does not include.
	UnpricedCalls int `json:"unpriced_calls,omitempty"`
}

// Total is what counts against the hourly token budget: everything but cache reads.
func (u Usage) Total() int64 { return u.InputTokens + u.OutputTokens + u.CacheWriteTokens }

// CutOff says what the cost of calls that were cut off means for CostUSD; empty: there were none.
func (u Usage) CutOff() string {
	var all []string
	if u.EstimatedUSD > 0 {
		all = append(all, fmt.Sprintf("about %.2f USD of it estimated for calls that were cut off", u.EstimatedUSD))
	}
	if n := u.UnpricedCalls; n == 1 {
		all = append(all, "the cost of 1 call that was cut off is unknown")
	} else if n > 1 {
		all = append(all, fmt.Sprintf("the cost of %d calls that were cut off is unknown", n))
	}
	return strings.Join(all, "; ")
}

// Priced returns the usage with an estimate of the cost of so many unpriced calls.
func (u Usage) Priced(calls int, usd float64) Usage {
	u.CostUSD, u.EstimatedUSD, u.UnpricedCalls = u.CostUSD+usd, u.EstimatedUSD+usd, u.UnpricedCalls-calls
	return u
}

// Add sums two usages.
func (u Usage) Add(v Usage) Usage {
	return Usage{
		u.InputTokens + v.InputTokens, u.OutputTokens + v.OutputTokens,
		u.CacheReadTokens + v.CacheReadTokens, u.CacheWriteTokens + v.CacheWriteTokens, u.CostUSD + v.CostUSD,
		u.EstimatedUSD + v.EstimatedUSD, u.UnpricedCalls + v.UnpricedCalls,
	}
}

// Denied is a tool call that the permission rules refused.
type Denied struct {
	Tool   Tool   `json:"tool"`
	Reason string `json:"reason,omitempty"`
}

// Blocked is a connection that the sandbox refused.
type Blocked struct {
	Host string `json:"host"` // HOST:PORT
}

// Limit is one usage-limit window as the agent reported it.
type Limit struct {
	// Name is the vendor's name of the window: five_hour, seven_day, ...
	Name string `json:"kind"`
	// Rejected is true when the window refused work; false for information only.
	Rejected bool `json:"rejected,omitempty"`
	// ResetsAt is zero when the agent did not say.
	ResetsAt time.Time `json:"resets_at,omitzero"`
	// Utilization is 0..1; below zero is unknown.
	Utilization float64 `json:"utilization"`
}

// Retry says that the agent CLI retries by itself.
type Retry struct {
	Text  string   `json:"text,omitempty"`
	Codes []string `json:"codes,omitempty"`
}

// AgentError is the agent CLI's own error text: never the model's words.
type AgentError struct {
	Text string `json:"text,omitempty"`
	// Codes are the machine-readable names that the record gave its failure:
	// HTTP status ("429"), subtype ("error_max_turns"), terminal reason.
	Codes []string `json:"codes,omitempty"`
}

// FinalMessage is the agent's final record.
type FinalMessage struct {
	Text    string   `json:"text,omitempty"`
	Error   bool     `json:"error,omitempty"` // the record reports a failure
	Codes   []string `json:"codes,omitempty"` // as in AgentError
	Session string   `json:"session,omitempty"`
}

// Why a check runs, besides the usual run after the agent's work.
const (
	CheckBaseline = "baseline"  // before the work
	CheckAgain    = "again"     // a second time, because it failed
	CheckOldTests = "old-tests" // in a copy, with the tests as they were before the task, or with other code
)

// Check is one run of a check.
type Check struct {
	Name    string  `json:"name"`
	Command string  `json:"command"`
	Run     string  `json:"run,omitempty"` // CheckBaseline, CheckAgain, CheckOldTests; empty: the usual run
	Passed  bool    `json:"passed"`
	Seconds float64 `json:"seconds"`
	Says    string  `json:"says,omitempty"`   // the most telling line of the output
	Output  string  `json:"output,omitempty"` // shortened; empty when it passed
	// Skipped says why there is nothing to check yet; empty: it passed or failed.
	Skipped string `json:"skipped,omitempty"`
}

// Hook is one run of a hook.
type Hook struct {
	Point   string   `json:"point"`
	Command string   `json:"command"`          // or the prompt of an agent
	Failed  string   `json:"failed,omitempty"` // why; empty: it did not fail
	Then    string   `json:"then,omitempty"`   // what its row says about a failure; empty: it did not fail
	Seconds float64  `json:"seconds"`
	Says    string   `json:"says,omitempty"`   // how ralph ended it
	Output  string   `json:"output,omitempty"` // shortened
	Files   []string `json:"files,omitempty"`  // that changed while it ran
	Blocks  bool     `json:"blocks,omitempty"`
	Reason  string   `json:"reason,omitempty"` // of Blocks
	Note    string   `json:"note,omitempty"`   // for the next prompt
}

// The sources of findings.
const (
	FoundByAudit  = "audit"
	FoundByChecks = "checks"
	FoundByReview = "review"
	FoundUnread   = "unread_output" // a Name: a check's output does not say which tests ran. It asks for nothing.
)

// Finding is something that a person should look at.
type Finding struct {
	Source string `json:"source"`           // one of the sources
	Name   string `json:"name,omitempty"`   // for this kind of finding, by the audit; or FoundUnread
	Task   string `json:"task,omitempty"`   // id of the task it is about
	File   string `json:"file,omitempty"`   // relative to the repository
	Text   string `json:"text"`             // one sentence
	Doubt  bool   `json:"doubt,omitempty"`  // a question rather than a fault
	Answer string `json:"answer,omitempty"` // what ralph did about it
}

// TaskChange says that ralph, or a person during a call, changed a task in the plan.
type TaskChange struct {
	ID    string `json:"id"`
	Title string `json:"title,omitempty"`
	State string `json:"state"` // TaskOpen, ...
	Why   string `json:"why"`
	// Person is true for an edit of the plan that a person made during a call.
	Person bool `json:"person,omitempty"`
}

// Question says that a task waits for a person's answer. `ralph questions` shows the whole question.
type Question struct {
	ID    string `json:"id"`
	Title string `json:"title,omitempty"` // of the task; empty: the whole run waits
	Ask
}

// Answer says that a person has answered a question.
type Answer struct {
	ID   string `json:"id"`
	Text string `json:"text"`
	By   string `json:"by"` // where it came from
}

// Commit says what ralph committed of the changes that were left uncommitted: the agent's, and people's in the plan.
type Commit struct {
	OID     string    `json:"oid,omitempty"`    // empty: nothing was committed
	Landed  string    `json:"landed,omitempty"` // the branch that finished work was merged into; empty: not a merge
	Files   int       `json:"files"`
	Refused []Refusal `json:"refused,omitempty"` // each reported once
	Why     string    `json:"why,omitempty"`     // why the commit failed; empty: it did not fail
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
	Action Action    `json:"action"`
	Rule   string    `json:"rule"`
	Reason string    `json:"reason,omitempty"`
	WakeAt time.Time `json:"wake_at,omitzero"`
}

// Why the merge queue sends work back.
const (
	MergeConflict = "conflict" // with what has landed
	MergeChecks   = "checks"   // they fail together with what has landed
)

// IterationEnd is how an iteration ended, and what follows.
type IterationEnd struct {
	Decision
	Title   string  `json:"title,omitempty"`  // of the task; empty if there is none
	Outcome string  `json:"outcome"`          // class of the agent call
	Detail  string  `json:"detail,omitempty"` // the outcome in words
	Failed  bool    `json:"failed,omitempty"` // the call went wrong
	Cut     string  `json:"cut,omitempty"`    // skip or abort: a person ended the call
	Says    string  `json:"says,omitempty"`   // STATUS of the agent's status block; empty: it has none
	Files   int     `json:"files"`            // changed
	Seconds float64 `json:"seconds"`          // of the agent call and the checks after it
	Done    int     `json:"done"`             // tasks of the plan
	Total   int     `json:"total"`
	// TaskDone is true when the iteration's task is done now.
	TaskDone bool `json:"task_done,omitempty"`
	// RedBefore names the checks that fail only as they did before the run.
	RedBefore []string `json:"red_before,omitempty"`
	Usage     Usage    `json:"usage"`
	// Merge says why finished work did not land: one of the values above; empty: it landed, or was not to.
	Merge string `json:"merge,omitempty"`
}
