package rules

import (
	"testing"

	"ralph/runner/agent"
	"ralph/runner/agent/ending"
	"ralph/state"
)

func TestConclude_agentInCircles_continues(t *testing.T) {
	s := usual()
	s.It.Call.Outcome = agent.Outcome{Class: ending.Repeating, Reason: "the agent made the same calls: Bash(ls)", Evidence: "Bash(ls)"}
	if d := s.decide(); d.Rule != "repeating" || d.Action != state.ActionContinue {
		t.Errorf("%+v", d)
	}
}

func outcome(f *scene, c ending.Class) {
	f.It.Call.Outcome = agent.Outcome{Class: c, Reason: "said so"}
}
