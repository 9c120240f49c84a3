package state

import (
	"reflect"
	"slices"
	"sync"
)

// KindRow is a row of the table of event kinds.
type KindRow struct {
	Kind    Kind
	Payload Payload // the zero value; its JSON fields are those of Event.Data
	Meaning string
}

// Kinds lists every kind, in the order of the documentation.
func Kinds() []KindRow {
	return []KindRow{
		{KindRunStart, RunStart{}, "a run started"},
		{KindIterationStart, IterationStart{}, "an iteration started"},
		{KindPhase, Phase{}, "the turn reached another step: `agent`, `observing`, `checking`, or `hook`"},
		{KindAgent, AgentChange{}, "another agent works from here on"},
		{KindBaseline, Baseline{}, "these checks failed before the agent did anything"},
		{KindFeedback, Feedback{}, "what the next prompt says about earlier attempts, word for word"},
		{KindSession, SessionStart{}, "the agent named its session and model"},
		{KindText, Text{}, "what the agent says, in pieces; of a flood only a part"},
		{KindTool, Tool{}, "the agent called a tool"},
		{KindToolResult, ToolResult{}, "what the tool answered; of a flood only a part"},
		{KindUsage, Usage{}, "tokens and cost of this call so far, about once a second"},
		{KindDenied, Denied{}, "the permission rules refused a tool call"},
		{KindBlocked, Blocked{}, "the sandbox refused a connection to this host, which `SANDBOX_NET` does not list"},
		{KindLimit, Limit{}, "the agent reported a usage limit; `rejected` if it refused work"},
		{KindRetry, Retry{}, "the agent CLI retries on its own"},
		{KindError, AgentError{}, "the agent CLI's own error text, never the model's words"},
		{KindResult, FinalMessage{}, "the agent's final record"},
		{KindFinding, Finding{}, "the audit or a check found something to look at"},
		{KindCheck, Check{}, "a check ran"},
		{KindHook, Hook{}, "a hook of the user ran"},
		{KindVerdict, Verdict{}, "a reviewer (`qa`, or a judge) has looked at a task"},
		{KindTask, TaskChange{}, "ralph, or a person during a call, changed a task in the plan"},
		{KindQuestion, Question{}, "a task waits for a person's answer to this question of its agent"},
		{KindAnswer, Answer{}, "a person has answered a question"},
		{KindCommit, Commit{}, "ralph committed what was left uncommitted, or says why not"},
		{KindPaused, Paused{}, "the run waits for `ralph resume`"},
		{KindDecision, Decision{}, "a rule matched, outside the end of an iteration or a run"},
		{KindIterationEnd, IterationEnd{}, "an iteration ended, and the rule that matched"},
		{KindRunEnd, RunEnd{}, "the run ended, and the rule that ended it"},
	}
}

// kindTypes has the type of the payload of each kind, kindOf the kind of each type.
var (
	kindTypes = sync.OnceValue(func() map[Kind]reflect.Type {
		types := map[Kind]reflect.Type{}
		for _, row := range Kinds() {
			types[row.Kind] = reflect.TypeOf(row.Payload)
		}
		return types
	})
	kindOf = sync.OnceValue(func() map[reflect.Type]Kind {
		kinds := map[reflect.Type]Kind{}
		for kind, t := range kindTypes() {
			kinds[t] = kind
		}
		return kinds
	})
)

// Streams reports whether an agent causes such events with each line or tool call. They stay
// on this machine, because they are too many to send one by one.
func (k Kind) Streams() bool {
	return slices.Contains([]Kind{KindText, KindToolResult, KindTool, KindUsage}, k)
}
