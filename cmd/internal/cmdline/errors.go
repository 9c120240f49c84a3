package cmdline

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"ralph/cmd/internal/config"
	"ralph/state"
	"ralph/state/projectfs"
)

// ExitError ends the program with a code of its own. Without a text the verb
// has printed everything already.
type ExitError struct {
	Code int
	Text string
}

func (e *ExitError) Error() string { return e.Text }

// NothingHasRun is the exit code of verbs about runs if there has been no run.
const NothingHasRun = 4

// AgentError is an agent that cannot be called: exit code 6.
func AgentError(format string, args ...any) error {
	return &ExitError{state.ExitAgent, fmt.Sprintf(format, args...)}
}

// UsageError is a mistake that the user can correct: exit code 2.
func UsageError(format string, args ...any) error {
	return &ExitError{state.ExitUsage, fmt.Sprintf(format, args...)}
}

// UsageErrors is one error for several mistakes, a sentence each; nil if there is none.
func UsageErrors(all []string) error {
	if len(all) == 0 {
		return nil
	}
	return UsageError("%s", strings.Join(all, "; "))
}

// ExitCode is the one place where errors become exit codes.
func ExitCode(err error) int {
	var exit *ExitError
	var usage *config.UsageError
	var locked *state.LockedError
	var refused *projectfs.RefusedError
	switch {
	case err == nil:
		return state.ExitComplete
	case errors.As(err, &exit):
		return exit.Code
	case errors.As(err, &usage), errors.As(err, &refused):
		return state.ExitUsage
	case errors.As(err, &locked):
		return state.ExitLocked
	}
	return state.ExitError
}

// SameTrouble is true for two lines that differ only in their file: "write state: write FILE: no space left on device".
func SameTrouble(a, b string) bool {
	verb, _, files := strings.Cut(a, ": ")
	return files && strings.HasPrefix(b, verb+": ") && strings.HasSuffix(b, a[strings.LastIndex(a, ": "):])
}

// NoArgs refuses every argument; to a verb with verbs of its own, it is one that does not exist.
func NoArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if cmd.HasSubCommands() {
		return Parent(cmd, args)
	}
	return UsageError("%s takes no arguments, but got %q; see: %s --help", cmd.Name(), args[0], cmd.CommandPath())
}

// Takes describes the arguments that check accepts: "one iteration".
func Takes(what string, check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if check(cmd, args) == nil {
			return nil
		}
		return UsageError("%s takes %s: %s %s", cmd.Name(), what, cmd.Parent().CommandPath(), cmd.Use)
	}
}

// Parent is the RunE of a verb that only groups others.
func Parent(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return UnknownCommand(cmd, args[0], subcommands(cmd))
	}
	return UsageError("%s %s", cmd.CommandPath(), subcommands(cmd))
}

// UnknownCommand names the verbs of cmd that a mistyped one may mean, or else gives the other hint.
func UnknownCommand(cmd *cobra.Command, typed, hint string) error {
	var names []string
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			names = append(names, sub.Name())
		}
	}
	if near := similar(typed, names); len(near) > 0 {
		hint = fmt.Sprintf("did you mean %s?", strings.Join(near, " or "))
	}
	return UsageError("unknown command %q for %q; %s", typed, cmd.CommandPath(), hint)
}

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
