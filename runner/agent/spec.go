// Package agent knows the coding-agent CLIs: how each is started, what its
// output means and how a call to it ended. Every CLI is a row of data in
// specs.go; code exists once per wire format, never per CLI.
//
//	Spec + Request -> Command          arguments, environment, stdin (pure)
//	bytes -> Decoder -> state.Payload  one decoder per wire format
//	state.Payload -> Transcript        the sum of a whole call
//	Transcript + Exit -> Outcome       the class of the call (pure)
//
// The packages below it need no row: they get text and values, and return values.
package agent

import (
	"fmt"
	"strings"

	"ralph/runner/agent/argv"
	"ralph/runner/agent/ending"
	"ralph/runner/agent/environ"
)

// Format is the name of the wire format of a CLI's output.
type Format string

// The wire formats. FormatText is for CLIs that print plain text, of which only
// the exit status and the last lines say how a call ended.
const (
	FormatClaude   Format = "claude-stream-json"
	FormatCodex    Format = "codex-json"
	FormatGemini   Format = "gemini-stream-json"
	FormatOpencode Format = "opencode-json"
	FormatText     Format = "text"
)

// Spec is one row of the table of agent CLIs. A nil slice or map means that the
// CLI has no such thing.
type Spec struct {
	Name    string // the value of AGENT
	Bin     string // program to look up on PATH; empty: the user has to name one
	Install string // one line: how to get it

	argv.Template
	Pipe bool // its output goes into a pipe; else it gets a terminal

	// Env is what it needs of the environment; its name is that of the Spec.
	Env environ.Agent

	Format        Format
	SessionTokens bool     // token counts include those of the calls that a session resumed
	SessionCost   bool     // so does the cost
	CachedInInput bool     // input tokens include those read from the cache
	Refused       string   // how the result of a refused tool call begins
	Guarded       []string // tools that it reports as unknown when they are not allowed

	Patterns  []ending.Pattern     // tried before the general ones
	ExitCodes map[int]ending.Class // the last resort: exit codes with a documented meaning
}

// Lookup returns the built-in row of that name. The error names every known row.
func Lookup(name string) (Spec, error) { return Find(name, nil) }

// Find returns the row of that name, built-in or the user's own.
// The error names every known row.
func Find(name string, custom []Spec) (Spec, error) {
	var names []string
	for _, s := range append(Specs(), custom...) {
		if s.Name == name {
			return s, nil
		}
		names = append(names, s.Name)
	}
	return Spec{}, fmt.Errorf("unknown agent %q, known are: %s", name, strings.Join(names, ", "))
}
