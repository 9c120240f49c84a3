package cli

import (
	"errors"

	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
	"ralph/cmd/internal/preflight"
	"ralph/runner/turn"
)

// turnCommand carries out a turn for a run in another process or on another
// machine. People do not type it.
func (a *app) turnCommand() *cobra.Command {
	return &cobra.Command{
		Use: "turn", Short: "Carry out one assignment for another ralph", Args: cmdline.NoArgs, Hidden: true,
		Long: "Carry out one assignment for another ralph. It is read from stdin as JSON. Events are written to stdout as lines\n" +
			"of JSON, the result last. Lines that follow on stdin steer the turn: {\"do\":\"skip\"}, {\"do\":\"abort\"},\n" +
			"{\"do\":\"resize\",\"rows\":24,\"cols\":80}. When stdin ends, the turn ends its agent.",
		RunE: func(*cobra.Command, []string) error {
			sig := cmdline.HandleSignals(a.In)
			defer sig.Stop()
			w := &turn.Worker{Env: a.Env, Kill: sig.Kill, Find: preflight.FindChecks}
			defer w.Close()
			err := w.Serve(sig.Ctx, a.In, a.Out)
			if bad, ok := errors.AsType[*turn.BadAssignmentError](err); ok {
				return cmdline.UsageError("%s", bad.Why)
			}
			return err
		},
	}
}
