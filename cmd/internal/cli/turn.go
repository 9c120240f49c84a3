package cli

import (
	"errors"
	"os"

	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
	"ralph/cmd/internal/preflight"
	"ralph/runner/turn"
	"ralph/runner/turn/remote"
	"ralph/runner/turn/retest"
)

// newTurnCmd is how a run sends a turn to another process or machine. People do
// not type it.
func newTurnCmd(f *cmdline.Factory) *cobra.Command {
	var elsewhere bool
	cmd := &cobra.Command{
		Use: "turn", Short: "Carry out one assignment for another ralph", Args: cmdline.NoArgs, Hidden: true,
		Example: "  cat assignment.json - | ralph turn    # Ctrl-D ends the agent",
		Long: "Carry out one assignment for another ralph. It comes as JSON on stdin. Events go to stdout as lines of JSON, and the\n" +
			"result comes last. Lines that follow on stdin steer the turn: {\"do\":\"skip\"} or\n" +
			"{\"do\":\"abort\"}. When stdin ends, the turn ends its agent.",
		RunE: func(*cobra.Command, []string) error { return turnRun(f, elsewhere) },
	}
	cmd.Flags().BoolVar(&elsewhere, "away", false,
		"Receive the project, too, and send the changes back: how a run reaches another machine.")
	return cmd
}

// turnRun carries out one turn; elsewhere: for a run on another machine.
func turnRun(f *cmdline.Factory, elsewhere bool) error {
	sig := cmdline.HandleSignals(f.In)
	defer sig.Stop()
	worker := func(env []string) *turn.Worker {
		return &turn.Worker{Env: env, Kill: sig.Kill, Find: preflight.FindChecks, Retest: retest.New(env),
			Records: f.Loader("", nil).GitRecords()}
	}
	err := func() error {
		if elsewhere {
			cache, err := os.UserCacheDir()
			if err != nil {
				return cmdline.UsageError("there is no cache folder for worktrees: %v", err)
			}
			return remote.Host{Ralph: versionText(), Cache: cache, Env: f.Env, Worker: worker}.Turn(sig.Ctx, f.In, f.Out)
		}
		w := worker(f.Env)
		defer w.Close()
		return remote.ServeTurn(sig.Ctx, w, f.In, f.Out)
	}()
	if bad := (*remote.BadAssignmentError)(nil); errors.As(err, &bad) {
		return cmdline.UsageError("%s", bad.Why)
	}
	return err
}
