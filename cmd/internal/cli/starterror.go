package cli

import (
	"encoding/json"
	"io"
	"slices"
	"strings"
	"time"

	"ralph/runner/rules"
	"ralph/state"
)

// wantsJSON reports whether a command line asks for JSON events. It also works for one that
// cannot be parsed.
func wantsJSON(args []string) bool {
	for i, arg := range args {
		if arg == "--output=json" || arg == "json" && i > 0 && args[i-1] == "--output" {
			return true
		}
	}
	return false
}

// writeStartError prints why a run could not start, as the same event that ends every other
// run.
func writeStartError(out io.Writer, text string, code int) {
	codes := rules.ExitCodes()
	i := slices.IndexFunc(codes, func(c rules.ExitCode) bool { return c.Code == code })
	name := "error"
	if i >= 0 {
		name = strings.ReplaceAll(codes[i].Name, " ", "_")
	}
	end := state.RunEnd{Decision: state.Decision{Action: state.ActionStop, Rule: name, Reason: text}, Exit: code}
	e := state.NewEvent(state.Origin{}, time.Now(), end)
	e.Seq = 1
	_ = json.NewEncoder(out).Encode(e) // stderr has it, too
}
