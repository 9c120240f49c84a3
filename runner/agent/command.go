package agent

import (
	"fmt"
	"slices"
	"strings"

	"ralph/ptyexec"
)

// The permission modes of a Request.
const (
	PermitAllowedTools = "allowed-tools"
	PermitBypass       = "bypass"
)

// Request is one call to an agent.
type Request struct {
	Prompt         string
	PromptFile     string   // holds Prompt, for a row that takes a file; empty: see Prepare
	Model          string   // empty: the agent's own default
	AllowedTools   []string // entries in Claude Code's syntax or in the agent's own
	PermissionMode string   // PermitAllowedTools or PermitBypass; empty: the agent's own default
	Session        string   // id to resume; empty: a fresh context
	Program        []string // command line that replaces Spec.Bin, arguments included; nil: Spec.Bin
	Dir            string   // working directory
	Env            []string // environment to start from, NAME=value
	Filter         EnvFilter
	Root           bool // the call runs as the superuser
}

// Command builds the command of one call. It is pure: nothing is looked up or
// started. Clocks and terminal size are left to the caller.
func (s Spec) Command(r Request) ptyexec.Command {
	args := slices.Clone(r.Program)
	if len(args) == 0 {
		args = []string{s.Bin}
	}
	for _, a := range s.Args {
		switch a {
		case argResume:
			args = appendValue(args, s.ResumeArgs, r.Session)
		case argModel:
			args = appendValue(args, s.ModelArgs, r.Model)
		case argPermissions:
			args = append(args, s.permissions(r)...)
		default:
			args = append(args, a)
		}
	}
	c := ptyexec.Command{Dir: r.Dir, Env: s.env(r), Pipe: s.Pipe}
	switch s.PromptBy {
	case PromptArg:
		prompt := r.Prompt
		if strings.HasPrefix(prompt, "-") {
			prompt = "\n" + prompt // else it reads as an option
		}
		if !contains(s.Args, argPrompt) {
			args = append(args, argPrompt)
		}
		args = replaceAll(args, argPrompt, prompt)
	case PromptFile:
		if r.PromptFile != "" {
			args = replaceAll(args, argPromptFile, r.PromptFile)
		}
	default:
		c.Stdin = strings.NewReader(r.Prompt)
	}
	c.Args = args
	return c
}

func contains(args []string, placeholder string) bool {
	return slices.ContainsFunc(args, func(a string) bool { return strings.Contains(a, placeholder) })
}

func replaceAll(args []string, placeholder, value string) []string {
	for i, a := range args {
		args[i] = strings.ReplaceAll(a, placeholder, value)
	}
	return args
}

// appendValue adds template with its placeholder filled in, nothing for an empty value.
func appendValue(args, template []string, value string) []string {
	if value == "" || strings.HasPrefix(value, "-") { // an option is neither a session nor a model
		return args
	}
	for _, t := range template {
		args = append(args, strings.ReplaceAll(t, argValue, value))
	}
	return args
}

func (s Spec) permissions(r Request) []string {
	switch r.PermissionMode {
	case PermitBypass:
		return s.BypassArgs
	case PermitAllowedTools:
		args := slices.Clone(s.AllowedArgs)
		if len(r.AllowedTools) == 0 && len(s.AllowedItem) > 0 && s.AllowedItem[0] == argValue {
			return args[:max(0, len(args)-1)] // a bare list option would swallow what follows
		}
		for _, entry := range r.AllowedTools {
			args = appendValue(args, s.AllowedItem, s.entry(entry))
		}
		return args
	}
	return nil
}

// entry translates an allow entry in Claude Code's syntax to that of the row.
func (s Spec) entry(e string) string {
	name, arg, _ := strings.Cut(strings.TrimSpace(e), "(")
	own, known := s.Tools[name]
	if !known {
		return strings.TrimSpace(e)
	}
	prefix := strings.TrimSpace(strings.TrimRight(strings.TrimSuffix(arg, ")"), ":* "))
	if name != shellTool || prefix == "" {
		return own
	}
	return fmt.Sprintf(s.ShellEntry, prefix)
}
