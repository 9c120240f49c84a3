package turn

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ralph/runner/agent/ending"
	"ralph/state"
)

func blockOf(lines ...string) string {
	return "I looked at both.\n---RALPH_STATUS---\n" + strings.Join(lines, "\n") + "\n---END_RALPH_STATUS---\n"
}

func TestAsks_finalMessages(t *testing.T) {
	byTool := []state.Ask{{Text: "Which?", Options: []string{"a", "b"}}}
	for name, c := range map[string]struct {
		final string
		tool  []state.Ask
		class ending.Class
		want  []state.Ask
	}{
		"nothing":                        {"Done.", nil, ending.CompletedTurn, nil},
		"a tool":                         {"Done.", byTool, ending.CompletedTurn, byTool},
		"a blocked block":                {blockOf("STATUS: BLOCKED", "QUESTION: Which one?", "OPTIONS: a | b |"), nil, ending.CompletedTurn, byTool1("Which one?", "a", "b")},
		"in JSON":                        {"```json\n{\"status\":\"BLOCKED\",\"question\":\"Which one?\",\"options\":[\"a\",\"b\"]}\n```", nil, ending.CompletedTurn, byTool1("Which one?", "a", "b")},
		"a recommendation that asks":     {blockOf("STATUS: BLOCKED", "RECOMMENDATION: Shall I delete the table?"), nil, ending.CompletedTurn, byTool1("Shall I delete the table?")},
		"a recommendation that does not": {blockOf("STATUS: BLOCKED", "RECOMMENDATION: The network is down."), nil, ending.CompletedTurn, nil},
		"a question before the block":    {"I looked.\n\nWhich one do you want?\n- a\n- b\n\n" + blockOf("STATUS: BLOCKED", "RECOMMENDATION: none of them fits"), nil, ending.CompletedTurn, byTool1("Which one do you want?\n- a\n- b")},
		"an empty form":                  {blockOf("STATUS: BLOCKED", "QUESTION: none"), nil, ending.CompletedTurn, nil},
		"not blocked":                    {blockOf("STATUS: IN_PROGRESS", "QUESTION: Which one?"), nil, ending.CompletedTurn, nil},
		"asks whether to go on":          {"I did half.\n\nShall I go on?", nil, ending.QuestionAsked, nil},
		"asks whether to go on with it":  {"I did half. Would you like me to continue with the tests?", nil, ending.QuestionAsked, nil},
		"a question before that":         {"Which database, A or B? Shall I proceed?", nil, ending.QuestionAsked, byTool1("Which database, A or B? Shall I proceed?")},
		"leave for something":            {"Shall I delete the table?", nil, ending.QuestionAsked, byTool1("Shall I delete the table?")},
		"ends by asking":                 {"I looked.\n\nShall I use A?", nil, ending.QuestionAsked, byTool1("Shall I use A?")},
	} {
		if diff := cmp.Diff(c.want, askedIn(c.final, c.tool, c.class)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	if got := AskContext(blockOf("STATUS: BLOCKED", "QUESTION: Which one?")); got != "I looked at both." {
		t.Errorf("context %q", got)
	}
}

func byTool1(text string, options ...string) []state.Ask {
	return []state.Ask{{Text: text, Options: options}}
}
