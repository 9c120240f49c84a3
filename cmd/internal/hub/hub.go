// Package hub has the verbs of ralph-hub, the only program of ralph that uses a
// network. It reads what ralph writes, and ralph runs without it.
package hub

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

// Exit codes.
const (
	exitFailed = 1
	exitUsage  = 2
)

// usageError is a mistake in the command line.
type usageError struct{ error }

// exited is the exit code of the program that a verb ran.
type exited int

func (e exited) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// Main runs ralph-hub and returns its exit code.
func Main(args []string) int {
	root := Root()
	root.SetArgs(args)
	err := root.ExecuteContext(context.Background())
	var code exited
	switch {
	case err == nil:
		return 0
	case errors.As(err, &code):
		return int(code)
	}
	fmt.Fprintln(os.Stderr, "ralph-hub: "+err.Error())
	if errors.As(err, &usageError{}) {
		return exitUsage
	}
	return exitFailed
}

// Root returns the command with all verbs.
func Root() *cobra.Command {
	root := &cobra.Command{
		Use: "ralph-hub", Short: "The part of ralph that uses a network",
		Long:         "The part of ralph that uses a network. ralph starts it when an option asks for it.",
		SilenceUsage: true, SilenceErrors: true,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usageError{fmt.Errorf("unknown verb %q; ralph-hub --help lists them", args[0])}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.CompletionOptions.DisableDefaultCmd = true
	root.PersistentFlags().BoolP("help", "h", false, "Show the help of a verb.")
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	root.AddCommand(newProxyCmd(), newBridgeCmd(), newWatchCmd(), newTestCmd(), newServeCmd(), newMCPCmd(), newACPCmd(),
		newFleetCmd(), newWorkerCmd(), newWorkersCmd(), newTurnCmd())
	return root
}

// untilEOF returns a context that ends with stdin, and so with the process that holds the other end.
func untilEOF(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
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
