package cmdline

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"ralph/config"
	"ralph/runner/rules"
	"ralph/state"
)

// ExitError ends the program with this exit code. Text is empty if the verb has printed
// everything itself.
type ExitError struct {
	Code int
	Text string
}

func (e *ExitError) Error() string { return e.Text }

// UsageError returns an error that the user can correct: exit code 2.
func UsageError(format string, args ...any) error {
	return &ExitError{rules.ExitUsage, fmt.Sprintf(format, args...)}
}

// ExitCode is the one place where errors become exit codes.
func ExitCode(err error) int {
	var exit *ExitError
	var usage *config.UsageError
	var locked *state.LockedError
	switch {
	case err == nil:
		return rules.ExitComplete
	case errors.As(err, &exit):
		return exit.Code
	case errors.As(err, &usage):
		return rules.ExitUsage
	case errors.As(err, &locked):
		return rules.ExitLocked
	}
	return rules.ExitError
}

// NoArgs accepts no arguments.
func NoArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return UsageError("%s takes no arguments, but got %q; see: %s --help", cmd.Name(), args[0], cmd.CommandPath())
}

// Takes runs check. what describes the arguments that it accepts: "one iteration".
func Takes(what string, check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if check(cmd, args) == nil {
			return nil
		}
		return UsageError("%s takes %s: %s %s", cmd.Name(), what, cmd.Parent().CommandPath(), cmd.Use)
	}
}

// Parent is the RunE of a verb that only has subcommands.
func Parent(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return UsageError("unknown command %q for %q; %s", args[0], cmd.CommandPath(), subcommands(cmd))
	}
	return UsageError("%s %s", cmd.CommandPath(), subcommands(cmd))
}
