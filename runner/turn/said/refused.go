package said

import (
	"ralph/runner/agent/argv"
	"ralph/state"
)

// Refused splits refused tool calls: those that need an answer, and compound commands of
// which the list allows every part. Questions to the user are neither.
func Refused(calls []state.Tool, allowed []string) (denied, advised []state.Tool) {
	for _, c := range calls {
		switch {
		case argv.Asks(c.Name):
		case argv.Compound(c.Name, c.Arg, allowed):
			advised = append(advised, c)
		default:
			denied = append(denied, c)
		}
	}
	return denied, advised
}
