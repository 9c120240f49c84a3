package rules

import (
	"ralph/runner/agent"
	"ralph/runner/agent/ending"
)

func outcome(f *scene, c ending.Class) {
	f.It.Call.Outcome = agent.Outcome{Class: c, Reason: "said so"}
}
