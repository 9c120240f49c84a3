package turn

import (
	"ralph/runner/agent"
	"ralph/state"
)

// refusedCalls splits refused tool calls into those that were denied and compound commands of
// which the list allows every part. It leaves out questions to the user.
func refusedCalls(calls []state.Tool, allowed []string) (denied, advised []state.Tool) {
	for _, c := range calls {
		switch {
		case agent.AsksUser(c.Name):
		case agent.CompoundAllowed(c.Name, c.Arg, allowed):
			advised = append(advised, c)
		default:
			denied = append(denied, c)
		}
	}
	return denied, advised
}
