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
		{KindPhase, Phase{}, "the turn reached another step: `agent`, `observing`, `checking`"},
		{KindAgent, AgentChange{}, "another agent works from now on"},
		{KindBaseline, Baseline{}, "these checks failed before the agent did anything"},
		{KindFeedback, Feedback{}, "what the next prompt says about the past, word for word"},
		{KindSession, SessionStart{}, "the agent named its session and model"},
		{KindText, Text{}, "what the agent says, in pieces"},
		{KindTool, Tool{}, "the agent called a tool"},
		{KindToolResult, ToolResult{}, "what the tool answered"},
		{KindUsage, Usage{}, "tokens and cost of this call so far"},
		{KindDenied, Denied{}, "the permission rules refused a tool call"},
		{KindLimit, Limit{}, "the agent reported a usage limit; `rejected` if it refused work"},
		{KindRetry, Retry{}, "the agent CLI retries by itself"},
		{KindError, AgentError{}, "the agent CLI's own error text, never the model's words"},
		{KindResult, FinalMessage{}, "the agent's final record"},
		{KindFinding, Finding{}, "the audit or a check found something to look at"},
		{KindCheck, Check{}, "a check ran"},
		{KindTask, TaskChange{}, "ralph changed the state of a task in the plan"},
		{KindCommit, Commit{}, "ralph committed what the agent left uncommitted, or says why not"},
		{KindPaused, Paused{}, "the run waits for `ralph resume`"},
		{KindDecision, Decision{}, "a rule matched, outside the end of an iteration or a run"},
		{KindIterationEnd, IterationEnd{}, "an iteration ended, and the rule that matched"},
		{KindRunEnd, RunEnd{}, "the run ended, and the rule that ended it"},
	}
}
