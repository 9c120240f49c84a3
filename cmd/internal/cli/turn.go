package cli

import (
	"errors"

	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
	"ralph/cmd/internal/preflight"
	"ralph/runner/turn"
	"ralph/runner/turn/retest"
	"ralph/runner/turn/serve"
)

// newTurnCmd is how a run sends a turn to another process or machine. People do
// not type it.
func newTurnCmd(f *cmdline.Factory) *cobra.Command {
	return &cobra.Command{
		Use: "turn", Short: "Carry out one assignment for another ralph", Args: cmdline.NoArgs, Hidden: true,
		Example: "  cat assignment.json - | ralph turn    # Ctrl-D ends the agent",
		Long: "Carry out one assignment for another ralph. It is read from stdin as JSON. Events are written to stdout as lines\n" +
			"of JSON, the result last. Lines that follow on stdin steer the turn: {\"do\":\"skip\"}, {\"do\":\"abort\"},\n" +
			"{\"do\":\"resize\",\"rows\":24,\"cols\":80}. When stdin ends, the turn ends its agent.",
		RunE: func(*cobra.Command, []string) error { return turnRun(f) },
	}
}

func turnRun(f *cmdline.Factory) error {
	sig := cmdline.HandleSignals(f.In)
	defer sig.Stop()
	w := &turn.Worker{Env: f.Env, Kill: sig.Kill, Find: preflight.FindChecks, Retest: retest.New(f.Env)}
	defer w.Close()
	err := serve.Turn(sig.Ctx, w, f.In, f.Out)
	if bad := (*serve.BadAssignmentError)(nil); errors.As(err, &bad) {
		return cmdline.UsageError("%s", bad.Why)
	}
	return err
}
