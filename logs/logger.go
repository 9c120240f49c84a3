package logs

import (
	"io"

	"github.com/hashicorp/go-hclog"
)

// Keys of structured log lines, so that users can search for them.
const (
	KeyRun       = "run"
	KeyIteration = "iteration"
	KeyRule      = "rule"
	KeyReason    = "reason"
	KeyOutcome   = "outcome"
	KeyError     = "error"
	KeyTask      = "task"
	KeyAgent     = "agent"
)

// NewLogger returns ralph's own log in hclog's text form on out.
func NewLogger(out io.Writer, verbose bool) hclog.Logger {
	level := hclog.Info
	if verbose {
		level = hclog.Debug
	}
	return hclog.New(&hclog.LoggerOptions{
		Name:       "ralph",
		Level:      level,
		Output:     out, // the default, stderr, would draw over a screen
		TimeFormat: "2006-01-02T15:04:05.000Z07:00",
		Color:      hclog.ColorOff,
	})
}
