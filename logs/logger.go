package logs

import (
	"io"

	"github.com/hashicorp/go-hclog"
)

// Keys of log lines, so that users can search for them.
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

// NewLogger returns ralph's own log, which writes hclog's text form to out.
func NewLogger(out io.Writer, verbose bool) hclog.Logger {
	level := hclog.Info
	if verbose {
		level = hclog.Debug
	}
	return hclog.New(&hclog.LoggerOptions{
		Name:       "ralph",
		Level:      level,
		Output:     out, // stderr, the default, would draw over the screen
		TimeFormat: "2006-01-02T15:04:05.000Z07:00",
		Color:      hclog.ColorOff,
	})
}
