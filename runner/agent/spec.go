// Package agent knows the coding-agent CLIs: how each is started, what its
// output means and how a call to it ended. Every CLI is a row of data in
// specs.go; code exists once per wire format, never per CLI.
//
//	Spec + Request -> Command        argv, environment, stdin (pure)
//	bytes -> Decoder -> state.Event  one decoder per wire format
//	state.Event -> Transcript        the fold of a whole call
//	Transcript + Exit -> Outcome     the class of the call (pure)
//
// size of package: five wire formats and the reading of free text around one
// row type; each file stands alone, and splitting them would only export seams.
package agent

import (
	"fmt"
	"strings"

	"ralph/runner/agent/argv"
	"ralph/runner/agent/ending"
	"ralph/runner/agent/environ"
)

// Format names the wire format of a CLI's output.
type Format string

// The wire formats. FormatText is for CLIs that print plain text: their exit
// status and their last lines are all there is to go by.
const (
	FormatClaude   Format = "claude-stream-json"
	FormatCodex    Format = "codex-json"
	FormatGemini   Format = "gemini-stream-json"
	FormatOpencode Format = "opencode-json"
	FormatText     Format = "text"
)

// The ways to hand over a prompt.
const (
	PromptStdin = argv.PromptStdin
	PromptArg   = argv.PromptArg
	PromptFile  = argv.PromptFile // see Prepare
)

// Spec is one row of the table of agent CLIs. Nil slices and maps mean that
// the CLI has no such thing.
type Spec struct {
	Name    string // the value of AGENT
	Bin     string // program looked up on PATH; empty: the user has to name one
	Install string // one line: how a person gets it

	argv.Template
	Pipe bool // its output goes into a pipe; else it gets a terminal

	// Env is what it needs of the environment; its name is that of the Spec.
	Env environ.Agent

	Format        Format
	SessionTokens bool     // token counts go on over resumed calls
	SessionCost   bool     // the cost goes on over resumed calls
	CachedInInput bool     // input tokens include those read from the cache
	Refused       string   // how the result of a refused tool call begins
	Guarded       []string // tools that exist, yet are reported as unknown when not allowed

	Patterns  []Pattern     // looked at before the general ones
	ExitCodes map[int]Class // the last resort: exit codes with a documented meaning
}

// Pattern is one wording of a CLI's own error text and the class that it means.
type Pattern = ending.Pattern

// Lookup returns the built-in row of that name. The error names every known row.
func Lookup(name string) (Spec, error) { return Find(name, nil) }

// Find returns the row of that name among the built-in ones and the user's own.
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
