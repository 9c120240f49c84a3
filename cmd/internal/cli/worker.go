package cli

import (
	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
	"ralph/cmd/internal/config"
)

type workerOptions struct {
	*cmdline.Factory
	config.Worker
}

// newWorkerCmd returns ralph worker.
func newWorkerCmd(f *cmdline.Factory) *cobra.Command {
	o := &workerOptions{Factory: f}
	cmd := &cobra.Command{
		Use: "worker", Short: "Carry out turns for other runs, until Ctrl-C", Args: cmdline.NoArgs,
		Long: "Take turns from a fleet and carry them out on this machine, which needs git and the agents, logged in. This starts\n" +
			"ralph-hub. docs/fleet.md says how to set up a fleet.",
		Example: "  ralph worker                 # for runs of yours on this machine\n" +
			"  RALPH_FLEET_TOKEN=... ralph worker --join nats://build1:4222 --slots 4",
		RunE: func(cmd *cobra.Command, _ []string) error { return workerRun(o, given(cmd)) },
	}
	o.Flags(cmd.Flags())
	return cmd
}

func workerRun(o *workerOptions, flags []string) error {
	if err := o.Check(); err != nil {
		return cmdline.UsageError("%v", err)
	}
	return become(o.Factory, "worker", flags...)
}
