package ledger

import (
	"strings"
	"testing"

	"ralph/runner/agent"
	"ralph/runner/agent/ending"
	"ralph/runner/turn"
	"ralph/state"
)

// Smaller steps are advice for an agent that worked, not for one that never began.
func TestHints_timeout_onlyAnAgentThatWorkedIsToldToWorkInSmallerSteps(t *testing.T) {
	for class, want := range map[ending.Class]bool{ending.TimeoutIdle: true, ending.TimeoutWithWork: true, ending.HangSilent: false, ending.Auth: false} {
		var r turn.Result
		r.Call.Outcome.Class = class
		if got := strings.Contains(strings.Join(HintsFor(r, nil), "\n"), "smaller steps"); got != want {
			t.Errorf("%s: %v", class, got)
		}
	}
}

func TestHints_whatTheNextTurnCanDoBetter_isSaid(t *testing.T) {
	var limited, circles turn.Result
	limited.Call.Outcome.Class = ending.UsageLimit
	circles.Call.Outcome = agent.Outcome{Class: ending.Repeating, Reason: "the agent made the same calls: Bash(ls)", Evidence: "Bash(ls)"}
	var compound, redirected turn.Result
	compound.Call.Advised = []state.Tool{{Name: "Bash", Arg: "make && npm test"}}
	redirected.Call.Advised = []state.Tool{{Name: "Bash", Arg: "npm test > out.txt"}}
	for want, hints := range map[string][]string{
		"run them one by one":                       HintsFor(compound, nil),
		"run it without the redirection to a file.": HintsFor(redirected, nil),
		"PROMPT.md": HintsFor(limited, []string{"PROMPT.md"}),
		"in circles: Bash(ls). Do not do that again": HintsFor(circles, nil),
	} {
		if len(hints) != 1 || !strings.Contains(hints[0], want) {
			t.Errorf("%s: %q", want, hints)
		}
	}
}
