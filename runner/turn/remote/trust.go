package remote

import (
	"slices"
	"strings"
	"time"

	"ralph/logs/termtext"
	"ralph/runner/turn"
	"ralph/state"
)

// mayTell reports whether a turn may send such an event. Only the run itself may send the others: decisions, the
// states of tasks, questions and answers, verdicts, its start and its end.
func mayTell(p state.Payload) bool {
	switch d := p.(type) {
	case state.Baseline, state.SessionStart, state.Text, state.Tool, state.ToolResult, state.Usage, state.Denied,
		state.Blocked, state.Limit, state.Retry, state.AgentError, state.FinalMessage, state.Check:
		return true
	case state.Phase:
		return slices.Contains([]string{state.PhaseAgent, state.PhaseObserving, state.PhaseChecking}, d.Name)
	case state.Finding:
		return d.Source == state.FoundByAudit || d.Source == state.FoundByChecks
	}
	return false
}

// eventOf turns an event of a worker into one of the run; false: a worker may not send it. Number, time and origin are
// the run's own, because the clock of another machine may be wrong.
func eventOf(e state.Event, from state.Origin) (state.Event, bool) {
	if e.Data == nil || !mayTell(e.Data) {
		return e, false
	}
	return state.NewEvent(from, time.Now(), turn.Redacted(e.Data)), true
}

// Unusable returns why the agent cannot work on the machine of the result; empty: it can.
func Unusable(res turn.Result) string {
	if o := res.Call.Outcome; res.Call.NotStarted == "" && res.Call.Made && o.Class.Fatal() {
		return o.Reason
	}
	return res.Call.NotStarted
}

// machine returns the cleaned host name of a worker; empty: unknown.
func machine(host string) string {
	const longest = 64
	if host = strings.TrimSpace(termtext.Line(host)); len(host) > longest {
		return ""
	}
	return host
}
