package rules

import (
	"fmt"

	"ralph/runner/agent"
	"ralph/runner/agent/environ"
	"ralph/state"
)

func agentUnusable(f Facts) (Decision, bool) {
	if f.Starting || kindOf(f.It.Outcome.Class) != kindUnusable {
		return Decision{}, false
	}
	return Decision{Action: ActionStop, Reason: withEvidence(f.It.Outcome), Exit: ExitAgent,
		ExitReason: "agent_unusable", Status: state.StatusFailed, Next: mend(f.It.Outcome.Class, f.It.Agent, f.Held)}, true
}

// mend is what a person does about an agent that cannot be used; held names
// what it did not get of the environment.
func mend(c agent.Class, name string, held []string) string {
	do := map[agent.Class]string{
		agent.ClassAuth:            "log in with " + name + " itself, or set its key",
		agent.ClassNoCredit:        "look at the account of " + name,
		agent.ClassDisabledByAdmin: "ask the administrator of the account",
		agent.ClassBadModel:        "choose another model with --model",
		agent.ClassBadFlag:         "update " + name + "; ralph --dry-run shows the command line",
	}[c]
	if c == agent.ClassAuth && len(held) > 0 {
		do += fmt.Sprintf("; held back from it: %s; let it pass with ENV_EXCLUDE='!NAME'", environ.Summarize(held))
	}
	return fmt.Sprintf("%s; check with: ralph agent test %s; then: ralph resume", do, name)
}
