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

	"ralph/cmd/internal/hub/bridge"
	"ralph/cmd/internal/hub/proxy"
	"ralph/runner/sandbox/allow"
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

func newProxyCmd() *cobra.Command {
	var socket string
	var hosts []string
	cmd := &cobra.Command{
		Use: "proxy", Short: "Pass connections on to allowed hosts only",
		Long: "Listen on a unix socket as an HTTP proxy, and pass connections on to allowed hosts only. Print each refusal as one\n" +
			"line of JSON on stdout. Exit when stdin ends.",
		Example: "  ralph-hub proxy --socket /run/user/1000/proxy --allow api.anthropic.com,*.github.com",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			list, err := allow.Parse(hosts)
			if err != nil {
				return usageError{err}
			}
			ctx, stop := untilEOF(cmd.Context())
			defer stop()
			return proxy.Serve(ctx, socket, list, os.Stdout)
		},
	}
	cmd.Flags().StringVar(&socket, "socket", "", "Listen on the unix socket `PATH`.")
	cmd.Flags().StringSliceVar(&hosts, "allow", nil, "A comma `LIST` of HOST, *.HOST, HOST:PORT and :PORT.")
	_ = cmd.MarkFlagRequired("socket") // fails only for an unknown flag
	return cmd
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

func newBridgeCmd() *cobra.Command {
	b := bridge.Bridge{}
	var ports []uint
	cmd := &cobra.Command{
		Use: "bridge --socket PATH -- PROGRAM [ARG...]", Short: "Run a program whose only network is a proxy's socket",
		Long: "Run a program that has no network. On its loopback, one port leads to the proxy, and others lead to the same ports\n" +
			"outside.",
		Args: cobra.MinimumNArgs(1), Hidden: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, p := range ports {
				if p == 0 || p > 65535 {
					return usageError{fmt.Errorf("--port %d is not from 1 to 65535", p)}
				}
				b.Ports = append(b.Ports, uint16(p))
			}
			code, err := b.Run(cmd.Context(), args)
			if err == nil && code != 0 {
				err = exited(code)
			}
			return err
		},
	}
	cmd.Flags().StringVar(&b.Socket, "socket", "", "The proxy's unix socket `PATH`.")
	cmd.Flags().Uint16Var(&b.ProxyPort, "proxy-port", 0, "The proxy's `PORT` on the program's loopback.")
	cmd.Flags().UintSliceVar(&ports, "port", nil, "A `PORT` on the loopback outside that the program may connect to.")
	for _, name := range []string{"socket", "proxy-port"} {
		_ = cmd.MarkFlagRequired(name)
	}
	return cmd
}
