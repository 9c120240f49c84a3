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
	c := ptyexec.Command{Args: slices.Concat(s.program(r), args), Dir: r.Dir, Env: s.env(r)}
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
