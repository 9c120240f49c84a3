package touchcmd

import (
	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
)

// NewWorkerCmd returns ralph worker.
func NewWorkerCmd(f *cmdline.Factory) *cobra.Command {
	return &cobra.Command{
		Use: "worker [--join URL]", Short: "Carry out turns for other runs, until Ctrl-C",
		Long: "Take turns from a fleet and carry them out on this machine. ralph worker --help shows the flags, which are those of\n" +
			"ralph-hub worker. docs/fleet.md says how to set up a fleet.",
		Example: "  ralph worker                 # for runs of yours on this machine\n" +
			"  RALPH_FLEET_TOKEN=... ralph worker --join nats://build1:4222 --slots 4",
		DisableFlagParsing: true,
		RunE:               func(_ *cobra.Command, args []string) error { return become(f, "worker", args...) },
	}
}
