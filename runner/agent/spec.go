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

// PromptBy names the way in which a CLI takes its prompt.
type PromptBy string

// The ways to hand over a prompt. Standard input keeps it out of the process
// list and has no size limit.
const (
	PromptStdin PromptBy = "stdin"
	PromptArg   PromptBy = "arg"
	PromptFile  PromptBy = "file" // its path; see Prepare
)

// Placeholders in Spec.Args. Each stands as an element of its own and is
// replaced by the arguments that the request asks for, none if it does not.
const (
	argResume      = "{resume}"
	argPermissions = "{permissions}"
	argModel       = "{model}"
	// argPrompt and argPromptFile may also be a part of an element. Without the
	// first one a prompt by argument comes last.
	argPrompt     = "{prompt}"
	argPromptFile = "{prompt_file}"
	// argValue stands in ResumeArgs, ModelArgs and AllowedArgs for the value.
	argValue = "{}"
)

// Spec is one row of the table of agent CLIs. Nil slices and maps mean that
// the CLI has no such thing.
type Spec struct {
	Name    string // the value of AGENT
	Bin     string // program looked up on PATH; empty: the user has to name one
	Install string // one line: how a person gets it

	Args        []string // all arguments, with placeholders
	PromptBy    PromptBy
	Pipe        bool     // its output goes into a pipe; else it gets a terminal
	VersionArgs []string // print the version and end; nil: it cannot

	ResumeArgs  []string
	ModelArgs   []string
	AllowedArgs []string          // permission mode "allowed-tools", before the entries
	AllowedItem []string          // once per entry
	BypassArgs  []string          // permission mode "bypass"
	Tools       map[string]string // entry names of other CLIs -> this one's; "Bash" is the shell
	ShellEntry  string            // format of an entry for a shell command prefix, %s is the prefix

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
