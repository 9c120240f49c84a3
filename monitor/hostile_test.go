package monitor

import (
	"strings"
	"testing"

	"ralph/internal/sample"
	"ralph/logs/termtext"
	"ralph/state"
	"ralph/state/view"
	"ralph/state/view/summary"
)

// harmless fails on any character that a terminal could take for more than
// text with a place of its own.
func harmless(t interface{ Fatalf(string, ...any) }, s string) {
	if strings.Contains(s, "\t") || termtext.Clean(s) != s {
		t.Fatalf("%q is not clean", s)
	}
}

// hostile are events of every kind with evil text in every field.
func hostile(evil string) []state.Event {
	tool, codes := state.Tool{ID: evil, Name: evil, Arg: evil, Parent: "x"}, []string{evil}
	d := state.Decision{Action: state.Action(evil), Rule: evil, Reason: evil}
	var all []state.Event
	for _, p := range []state.Payload{
		state.RunStart{Agent: evil, Model: evil, Plan: evil, Killed: evil, Resumed: true, Total: 1},
		state.IterationStart{Title: evil}, state.IterationStart{Why: evil}, state.AgentChange{Name: evil, Model: evil, Instead: evil},
		state.Baseline{Red: codes}, state.Feedback{Items: codes}, state.SessionStart{ID: evil, Model: evil},
		state.Text{Text: evil}, tool, state.ToolResult{Tool: tool, Text: evil}, state.ToolResult{Tool: tool, Text: evil, Error: true},
		state.Usage{InputTokens: 1}, state.Denied{Tool: tool, Reason: evil}, state.Limit{Name: evil, Rejected: true}, state.Limit{Name: evil},
		state.Retry{Text: evil, Codes: codes}, state.AgentError{Text: evil}, state.AgentError{Codes: codes},
		state.FinalMessage{Text: evil}, state.FinalMessage{Text: evil, Error: true},
		state.Finding{Source: state.FoundByAudit, Name: evil, Task: evil, File: evil, Text: evil, Answer: evil},
		state.Finding{Source: state.FoundByChecks, Text: evil}, state.Check{Name: evil, Command: evil, Output: evil},
		state.Check{Name: evil, Passed: true}, state.TaskChange{ID: evil, State: evil, Why: evil},
		state.Commit{OID: evil, Refused: []state.Refusal{{File: evil, Why: evil}}}, state.Paused{}, d,
		state.IterationEnd{Decision: d, Title: evil, Outcome: evil, Detail: evil},
		state.IterationEnd{Decision: d, Title: evil, Outcome: evil, Detail: evil, Failed: true},
		state.RunEnd{Decision: d, Exit: 1, Next: evil},
	} {
		all = append(all, state.NewEvent(state.Origin{Run: evil, Iteration: 7, Task: evil}, noon, p))
	}
	return append(all, state.Event{Time: noon, Origin: state.Origin{Run: evil}, Kind: state.Kind(evil)})
}

// Whatever field an agent's words arrive in, the cells of the screen are inert.
func TestScreen_hostileTextInEveryField_reachesNoCell(t *testing.T) {
	evil := "\x1b]0;owned\x07\x1b[31m[red]\u202e\u200bX\x9b5m\r\n\x1b]52;c;eA==\x1b\\漢🙂\t\x00"
	s, events := sample.Run(noon)
	st := &s.Status
	for _, field := range []*string{
		&st.RunID, &st.LastAction, &st.ExitReason, &st.Rule, &st.Reason, &st.Agent, &st.Model, &st.SessionID, &st.Task.ID,
		&st.Task.Title, &st.Phase, &st.LastTool, &st.Outcome, &s.Breaker.Reason, &s.Dir,
	} {
		*field = evil
	}
	s.Owner.RunID = evil
	st.Limit = &state.Limit{Name: evil, Utilization: 0.5}
	s.Problems = []string{termtext.Line(evil)}
	events = append(events, hostile(evil)...)
	for _, status := range []string{state.StatusRunning, state.StatusWaiting, state.StatusPaused, state.StatusHalted, evil} {
		st.Status = status
		s = s.Settled()
		for _, size := range [][2]int{{60, 15}, {200, 50}} {
			u := still(t, s, events)
			screen := simulate(t, size[0], size[1])
			for _, open := range []func(){func() {}, u.openChecks, u.openTimeline, func() { u.closeFront(); u.closeFront(); u.run.alone = true }} {
				open()
				u.drawOn(screen)
				cells, _, _ := screen.GetContents()
				for _, c := range cells {
					harmless(t, string(c.Runes))
				}
			}
		}
		harmless(t, summary.Text(&view.Model{Snapshot: s}, noon, 80))
	}
	var out strings.Builder
	p := plainer{o: Options{Out: &out}.filled()}
	if err := p.write(view.Update{Snapshot: s, Events: events}); err != nil {
		t.Fatal(err)
	}
	harmless(t, out.String())
}
