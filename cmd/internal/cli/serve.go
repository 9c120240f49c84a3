package cli

import (
	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
	"ralph/cmd/internal/config"
)

type serveOptions struct {
	*cmdline.Factory
	config.Serve
}

// newServeCmd returns ralph serve.
func newServeCmd(f *cmdline.Factory) *cobra.Command {
	o := &serveOptions{Factory: f}
	cmd := &cobra.Command{
		Use: "serve", Short: "Show all of your runs in a browser, until Ctrl-C", Args: cmdline.NoArgs,
		Long: "Show all of your runs in a browser: tasks, live log, cost, checks, findings, questions, transcripts, diffs. This starts\n" +
			"ralph-hub. It is read-only unless you give --actions: then anyone who is logged in can act. docs/dashboard.md says\n" +
			"how to reach it from a phone.",
		Example: "  ralph serve\n  ralph serve --actions\n  ralph serve --link      # another link that logs you in",
		RunE:    func(cmd *cobra.Command, _ []string) error { return serveRun(o, given(cmd)) },
	}
	o.Flags(cmd.Flags())
	return cmd
}

func serveRun(o *serveOptions, flags []string) error {
	if err := o.Check(); err != nil {
		return cmdline.UsageError("%v", err)
	}
	if dir, err := o.Project(); err == nil && (o.Actions || o.Link) {
		if err := o.RefuseAgent(dir, "act as a person"); err != nil {
			return err
		}
	}
	return become(o.Factory, "serve", flags...)
}

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

// newMCPCmd returns ralph mcp.
func newMCPCmd(f *cmdline.Factory) *cobra.Command {
	return &cobra.Command{
		Use: "mcp", Short: "Let another agent watch and steer the run of this project (MCP)", Args: cmdline.NoArgs,
		Long: "Serve the Model Context Protocol on standard input and output, for the agent that starts it: status, tasks, iterations,\n" +
			"diff, questions, add_task, answer. This starts ralph-hub. An agent inside a run cannot answer its own questions this way.",
		Example: "  claude mcp add ralph -- ralph -C ~/shop-api mcp",
		RunE:    func(*cobra.Command, []string) error { return mcpRun(f) },
	}
}

func mcpRun(f *cmdline.Factory) error {
	dir, err := f.Project()
	if err != nil {
		return err
	}
	return become(f, "mcp", "--project", dir)
}
