package state

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
		{KindText, Text{}, "what the agent says, in pieces"},
		{KindTool, Tool{}, "the agent called a tool"},
		{KindToolResult, ToolResult{}, "what the tool answered"},
		{KindUsage, Usage{}, "tokens and cost of this call so far"},
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

// Streams reports whether an agent causes such events with each line or tool call. They stay
// on this machine, because they are too many to send one by one.
func (k Kind) Streams() bool {
	switch k {
	case KindText, KindToolResult, KindTool, KindUsage:
		return true
	}
	return false
}

// Kind implements Payload.
func (RunStart) Kind() Kind { return KindRunStart }

// Kind implements Payload.
func (IterationStart) Kind() Kind { return KindIterationStart }

// Kind implements Payload.
func (Phase) Kind() Kind { return KindPhase }

// Kind implements Payload.
func (AgentChange) Kind() Kind { return KindAgent }

// Kind implements Payload.
func (Baseline) Kind() Kind { return KindBaseline }

// Kind implements Payload.
func (Feedback) Kind() Kind { return KindFeedback }

// Kind implements Payload.
func (SessionStart) Kind() Kind { return KindSession }

// Kind implements Payload.
func (Text) Kind() Kind { return KindText }

// Kind implements Payload.
func (Tool) Kind() Kind { return KindTool }

// Kind implements Payload.
func (ToolResult) Kind() Kind { return KindToolResult }

// Kind implements Payload.
func (Usage) Kind() Kind { return KindUsage }

// Kind implements Payload.
func (Denied) Kind() Kind { return KindDenied }

// Kind implements Payload.
func (Blocked) Kind() Kind { return KindBlocked }

// Kind implements Payload.
func (Limit) Kind() Kind { return KindLimit }

// Kind implements Payload.
func (Retry) Kind() Kind { return KindRetry }

// Kind implements Payload.
func (AgentError) Kind() Kind { return KindError }

// Kind implements Payload.
func (FinalMessage) Kind() Kind { return KindResult }

// Kind implements Payload.
func (Finding) Kind() Kind { return KindFinding }

// Kind implements Payload.
func (Check) Kind() Kind { return KindCheck }

// Kind implements Payload.
func (Hook) Kind() Kind { return KindHook }

// Kind implements Payload.
func (TaskChange) Kind() Kind { return KindTask }

// Kind implements Payload.
func (Question) Kind() Kind { return KindQuestion }

// Kind implements Payload.
func (Answer) Kind() Kind { return KindAnswer }

// Kind implements Payload.
func (Commit) Kind() Kind { return KindCommit }

// Kind implements Payload.
func (Paused) Kind() Kind { return KindPaused }

// Kind implements Payload.
func (Decision) Kind() Kind { return KindDecision }

// Kind implements Payload.
func (IterationEnd) Kind() Kind { return KindIterationEnd }

// Kind implements Payload.
func (RunEnd) Kind() Kind { return KindRunEnd }
