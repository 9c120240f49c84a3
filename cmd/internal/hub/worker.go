package hub

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
	"ralph/cmd/internal/config"
	"ralph/cmd/internal/hub/fleet"
)

type workerOptions struct {
	config.Worker
	ralph string
}

func newWorkerCmd() *cobra.Command {
	o := &workerOptions{Worker: config.Worker{Way: newWay()}}
	cmd := &cobra.Command{
		Use: "worker", Short: "Take turns from a fleet", Args: cmdline.NoArgs,
		Long: "Take turns from a fleet and carry them out on this machine, which needs ralph, git and the agents, " +
			"logged in.",
		Example: "  RALPH_FLEET_TOKEN=... ralph-hub worker --join nats://build1:4222 --slots 4\n" +
			"  ralph-hub worker --join tls://a:4222,tls://b:4222 --creds worker.creds",
		RunE: func(cmd *cobra.Command, _ []string) error { return workerRun(cmd.Context(), o) },
	}
	o.Flags(cmd.Flags())
	ralphFlag(cmd, &o.ralph)
	return cmd
}

func workerRun(ctx context.Context, o *workerOptions) error {
	if err := o.Check(); err != nil {
		return cmdline.UsageError("%v", err)
	}
	a, err := reach(o.Way, "join", true)
	if err != nil {
		return err
	}
	ralph, err := findRalph(o.ralph)
	if err != nil {
		return err
	}
	ctx, stop := untilSignal(ctx)
	defer stop()
	host, _ := os.Hostname() // empty: nobody knows
	return fleet.Worker(ctx, fleet.Work{Access: a, Slots: o.Slots, Host: host,
		Ralph: versionOf(ctx, ralph), Args: []string{ralph, "turn", "--away"}, Env: os.Environ(),
		Log: func(format string, args ...any) { fmt.Fprintf(os.Stderr, "ralph-hub: "+format+"\n", args...) }})
}

// versionOf is the version of a ralph; empty: unknown.
func versionOf(ctx context.Context, program string) string {
	out, err := exec.CommandContext(ctx, program, "--version").Output()
	_, version, ok := strings.Cut(strings.TrimSpace(string(out)), "ralph ")
	if err != nil || !ok {
		return ""
	}
	return version
}
