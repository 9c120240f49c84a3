// Package agent supports coding-agent CLIs: how to start each one, what its output
// means, and how a call ended. Every CLI is a row in specs.go; there is code for
// each wire format, but never for a single CLI.
//
//	Spec + Request -> Command          arguments, environment, stdin (pure)
//	bytes -> Decoder -> state.Payload  one decoder per wire format
//	state.Payload -> Transcript        what the payloads of a call add up to
//	Transcript + Exit -> Outcome       the class of the call (pure)
package agent

import (
	"fmt"
	"strings"

	"ralph/runner/agent/ending"
)

// Format is the name of the wire format of a CLI's output.
type Format string

// The wire formats. A CLI with FormatText prints plain text: only its exit status
// and its last lines show how a call ended.
const (
	FormatClaude   Format = "claude-stream-json"
	FormatCodex    Format = "codex-json"
	FormatGemini   Format = "gemini-stream-json"
	FormatOpencode Format = "opencode-json"
	FormatText     Format = "text"
)

// Spec is one row of the table of agent CLIs. The CLI does not have what a nil slice or map describes.
type Spec struct {
	Name    string `json:"name,omitempty"`    // the value of AGENT
	Alias   string `json:"alias,omitempty"`   // another value of AGENT; empty: none
	About   string `json:"about,omitempty"`   // one line; empty: nothing to say
	Bin     string `json:"bin,omitempty"`     // program on PATH; empty: the user must set AGENT_CMD
	Install string `json:"install,omitempty"` // one line: how to get it

	Template

	Env Variables `json:"env"` // without its Name, which is the Spec's

	Format        Format   `json:"format,omitempty"`
	SessionTokens bool     `json:"session_tokens,omitempty"`  // token counts are those of the whole session
	SessionCost   bool     `json:"session_cost,omitempty"`    // so is the cost
	CachedInInput bool     `json:"cached_in_input,omitempty"` // input tokens include those read from the cache
	Refused       string   `json:"refused,omitempty"`         // prefix of the result of a refused tool call
	Guarded       []string `json:"guarded,omitempty"`         // tools that it calls unknown if they are not allowed

	Patterns  []ending.Pattern     `json:"patterns,omitempty"`   // tried before the built-in ones
	ExitCodes map[int]ending.Class `json:"exit_codes,omitempty"` // documented codes, used if nothing else says why
}

// CostNote says behind a bound on the cost that it binds nothing; empty: the CLI may report its cost.
func (s Spec) CostNote() string {
	switch s.Format {
	case FormatCodex, FormatGemini, FormatText:
		return fmt.Sprintf(" (binds nothing: %s reports no cost)", s.Name)
	}
	return ""
}

// Find returns a row. The error lists the known names.
func Find(name string) (Spec, error) {
	for _, s := range Specs() {
		if s.Name == name || s.Alias == name && name != "" {
			return s, nil
		}
	}
	return Spec{}, fmt.Errorf("unknown agent %q, known are: %s", name, strings.Join(Names(), ", "))
}

// Names are the names of all agents.
func Names() (names []string) {
	for _, s := range Specs() {
		names = append(names, s.Name)
	}
	return names
}
