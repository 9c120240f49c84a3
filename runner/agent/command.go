package agent

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"ralph/ptyexec"
)

// Request describes one call to an agent.
type Request struct {
	ArgvCall          // its arguments; an empty PromptFile: see Prepare
	Program  []string // program and arguments that replace Spec.Bin; nil: Spec.Bin
	Dir      string   // working directory
	Env      []string // environment to start from, NAME=value
	Filter   EnvFilter
	Root     bool // the call runs as the superuser
}

// Command builds the command of a call. The caller sets time limits and the size of the terminal.
func (s Spec) Command(r Request) ptyexec.Command {
	args := s.Build(r.ArgvCall)
	c := ptyexec.Command{Args: slices.Concat(s.Through, s.program(r), args), Dir: r.Dir, Env: s.env(r), Pipe: s.Pipe}
	if s.PromptBy != PromptArg && s.PromptBy != PromptFile {
		c.Stdin = strings.NewReader(r.Prompt)
	}
	return c
}

func (s Spec) program(r Request) []string {
	if len(r.Program) > 0 {
		return slices.Clone(r.Program)
	}
	return []string{s.Bin}
}

// Prepare is Command for a call that starts now. For an agent that takes its
// prompt as a file, it writes a temporary file with mode 0600; done removes it.
func (s Spec) Prepare(r Request) (c ptyexec.Command, done func(), err error) {
	done = func() {}
	if s.PromptBy == PromptFile && r.PromptFile == "" {
		file, err := os.CreateTemp("", "ralph-prompt-*.md")
		if err == nil {
			r.PromptFile = file.Name()
			done = func() { _ = os.Remove(file.Name()) }
			_, err = file.WriteString(r.Prompt)
			err = errors.Join(err, file.Close())
		}
		if err != nil {
			done()
			return c, func() {}, fmt.Errorf("write prompt file: %w", err)
		}
	}
	return s.Command(r), done, nil
}

// Inquiry asks the program something that costs no call, such as its version. It
// uses only Program, Dir, Env and Filter of r.
func (s Spec) Inquiry(args []string, r Request) ptyexec.Command {
	return ptyexec.Command{Args: append(s.program(r), args...), Dir: r.Dir, Env: s.env(r), Pipe: true}
}

// EnvFilter decides which environment variables agents and checks get; see
// EnvRules. The zero value has only the built-in rules.
type EnvFilter struct {
	Custom  []Spec   `json:"custom,omitempty"`  // the user's own agents
	Exclude []string `json:"exclude,omitempty"` // the user's entries, ENV_EXCLUDE
}

// Rules are those of all agents, and the user's entries.
func (f EnvFilter) Rules() EnvRules {
	filter := EnvRules{Exclude: f.Exclude}
	for _, s := range append(Specs(), f.Custom...) {
		filter.Agents = append(filter.Agents, s.environ())
	}
	return filter
}

// Checks returns the variables of env (NAME=value) that a check gets.
func (f EnvFilter) Checks(env []string) []string { return f.Rules().Checks(env) }

// List returns a row for each variable of r.Env and each that ralph sets for the
// call, sorted by name.
func (f EnvFilter) List(s Spec, r Request) []EnvRow {
	return f.Rules().List(s.environ(), s.call(r))
}

// Withheld returns the names of r.Env that the agent does not get, sorted.
func (f EnvFilter) Withheld(s Spec, r Request) []string {
	return f.Rules().Withheld(s.environ(), s.call(r))
}

// Secrets returns the values of r.Env that must not be shown.
func (f EnvFilter) Secrets(s Spec, r Request) []string {
	return f.Rules().Secrets(s.environ(), s.call(r))
}

func (s Spec) environ() Variables {
	a := s.Env
	a.Name = s.Name
	return a
}

func (s Spec) call(r Request) envCall {
	return envCall{Env: r.Env, Model: r.Model, BypassAsRoot: r.Root && r.PermissionMode == PermitBypass}
}

// env returns the environment of the call.
func (s Spec) env(r Request) []string { return r.Filter.Rules().ForCall(s.environ(), s.call(r)) }
