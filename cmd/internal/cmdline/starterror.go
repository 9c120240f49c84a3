package cmdline

import (
	"encoding/json"
	"io"
	"os"
	"strings"
	"time"

	"ralph/state"
)

// WantsJSON reports whether a command line asks for JSON events. It also works for one that
// cannot be parsed.
func WantsJSON(args []string) bool {
	for i, arg := range args {
		if arg == "--output=json" || arg == "json" && i > 0 && args[i-1] == "--output" {
			return true
		}
	}
	return false
}

// WriteStartError prints why a run could not start, as the same event that ends every other
// run. It belongs to no run: none has begun.
func WriteStartError(out io.Writer, text string, code int) {
	name := strings.ReplaceAll(state.ExitOf(code).Name, " ", "_")
	end := state.RunEnd{Decision: state.Decision{Action: state.ActionStop, Rule: name, Reason: text}, Exit: code}
	host, _ := os.Hostname() // only a label
	e := state.NewEvent(state.Origin{Host: host}, time.Now(), end)
	e.Seq = 1
	_ = json.NewEncoder(out).Encode(e) // stderr has it, too
}
