// Package hub has the verbs of ralph-hub, the only program of ralph that uses a
// network. It reads what ralph writes, and ralph runs without it.
package hub

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"ralph/cmd/internal/cmdline"
	"ralph/state"
)

// usageError is a mistake in the command line.
type usageError struct{ error }

// exited is the exit code of the program that a verb ran.
type exited int

func (e exited) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// Main runs ralph-hub and returns its exit code.
func Main(args []string) int {
	err := execute(context.Background(), Root(), args)
	var code exited
	switch {
	case err == nil:
		return state.ExitComplete
	case errors.As(err, &code):
		return int(code)
	}
	fmt.Fprintln(os.Stderr, "ralph-hub: "+err.Error())
	if errors.As(err, &usageError{}) {
		return state.ExitUsage
	}
	return state.ExitError
}

// execute runs a command line. For a verb that does not exist, with --help, cobra would show the help of the root.
func execute(ctx context.Context, root *cobra.Command, args []string) error {
	help := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		if cmd != root || root.ValidateArgs(root.Flags().Args()) == nil {
			help(cmd, args)
		}
	})
	root.SetArgs(args)
	return cmp.Or(root.ExecuteContext(ctx), root.ValidateArgs(root.Flags().Args()))
}

// unknown names the verbs that a mistyped one may mean.
func unknown(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := "see: " + cmd.CommandPath() + " --help"
	cmd.SuggestionsMinimumDistance = 1 // the names are short
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		hint = fmt.Sprintf("did you mean %s?", strings.Join(near, " or "))
	}
	return usageError{fmt.Errorf("unknown command %q for %q; %s", args[0], cmd.CommandPath(), hint)}
}

// Root returns the command with all verbs.
func Root() *cobra.Command {
	root := &cobra.Command{
		Use: "ralph-hub", Short: "The part of ralph that uses a network",
		Long:         "The part of ralph that uses a network. ralph starts it when an option asks for it.",
		SilenceUsage: true, SilenceErrors: true, Args: unknown,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.CompletionOptions.SetDefaultShellCompDirective(cobra.ShellCompDirectiveNoFileComp)
	root.PersistentFlags().BoolP("help", "h", false, "Show the help of a verb.")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usageError{fmt.Errorf("%w; see: %s --help", err, cmd.CommandPath())}
	})
	root.AddCommand(newProxyCmd(), newBridgeCmd(), newWatchCmd(), newNotifyTestCmd(), newServeCmd(), newMCPCmd(),
		newACPCmd(), newFleetCmd(), newWorkerCmd(), newWorkersCmd(), newTurnCmd())
	root.InitDefaultCompletionCmd()
	for _, verb := range root.Commands() {
		if cmdline.CompleteFlags(verb); verb.HasSubCommands() {
			var names []string
			for _, below := range verb.Commands() {
				below.Args = usage(noArgs)
				names = append(names, below.Name())
			}
			verb.Args = unknown
			verb.RunE = func(*cobra.Command, []string) error {
				return usageError{fmt.Errorf("%s needs one of: %s", verb.CommandPath(), strings.Join(names, ", "))}
			}
			continue
		}
		verb.Args = usage(verb.Args)
	}
	return root
}

// noArgs refuses every argument.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("%s takes no arguments, but got %q", cmd.Name(), args[0])
	}
	return nil
}

// usage makes a mistake in the command line what a verb says about its arguments, and a flag that is missing.
func usage(args cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, given []string) (err error) {
		if args != nil {
			err = args(cmd, given)
		}
		cmd.Flags().VisitAll(func(flag *pflag.Flag) {
			if flag.Annotations[cobra.BashCompOneRequiredFlag] != nil && !flag.Changed && err == nil {
				err = fmt.Errorf("%s needs --%s", cmd.Name(), flag.Name)
			}
		})
		if err == nil {
			return nil
		}
		return usageError{fmt.Errorf("%w; see: %s --help", err, cmd.CommandPath())}
	}
}

// ralphFlag adds the flag by which ralph says where it is.
func ralphFlag(cmd *cobra.Command, ralph *string) {
	cmd.Flags().StringVar(ralph, "ralph", "", "The program `FILE`.")
	_ = cmd.Flags().MarkHidden("ralph") // fails only for an unknown flag
}

// findRalph returns the ralph that a flag names, else the one in the folder of this program, else the one in PATH.
func findRalph(named string) (string, error) {
	if named != "" {
		return named, nil
	}
	if self, err := os.Executable(); err == nil {
		if path, err := exec.LookPath(filepath.Join(filepath.Dir(self), "ralph")); err == nil {
			return path, nil
		}
	}
	path, err := exec.LookPath("ralph")
	if err != nil {
		return "", errors.New("ralph is neither beside ralph-hub nor in PATH")
	}
	return path, nil
}

// untilSignal returns a context that ends when somebody ends this process.
func untilSignal(ctx context.Context) (context.Context, context.CancelFunc) {
	return signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
}

// untilEOF returns a context that ends with stdin, and so with the process that holds the other end.
func untilEOF(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, stop := untilSignal(ctx)
	go func() {
		defer stop()
		var b [64]byte
		for {
			if _, err := os.Stdin.Read(b[:]); err != nil {
				return
			}
		}
	}()
	return ctx, stop
}
