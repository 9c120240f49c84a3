package cli

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"ralph/cmd/internal/cmdline"
	"ralph/cmd/internal/config"
)

// hubFlags are the settings of a verb of ralph-hub.
type hubFlags interface {
	Flags(fs *pflag.FlagSet)
	Check() error
}

// newHubCmd completes a verb that becomes the one of ralph-hub with the same name and flags, unless refuse says why it
// must not.
func newHubCmd(f *cmdline.Factory, cmd *cobra.Command, o hubFlags, refuse func() error) *cobra.Command {
	cmd.Args = cmdline.NoArgs
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := o.Check(); err != nil {
			return cmdline.UsageError("%v", err)
		}
		if err := refuse(); err != nil {
			return err
		}
		return become(f, cmd.Name(), given(cmd)...)
	}
	o.Flags(cmd.Flags())
	return cmd
}

// newServeCmd returns ralph serve.
func newServeCmd(f *cmdline.Factory) *cobra.Command {
	o := &config.Serve{}
	return newHubCmd(f, &cobra.Command{
		Use: "serve", Short: "Show all of your runs in a browser, until Ctrl-C",
		Long: "Show all of your runs in a browser: tasks, live log, cost, checks, findings, questions, transcripts, diffs. This starts\n" +
			"ralph-hub. It is read-only unless you give --actions: then anyone who is logged in can act. docs/dashboard.md says\n" +
			"how to reach it from a phone.",
		Example: "  ralph serve\n  ralph serve --actions\n  ralph serve --link      # another link that logs you in",
	}, o, func() error {
		dir, err := f.Project()
		if err != nil || !o.Actions && !o.Link {
			return nil //nolint:nilerr // it shows all projects, and needs none
		}
		return f.RefuseAgent(dir, "act as a person")
	})
}

// newWorkerCmd returns ralph worker.
func newWorkerCmd(f *cmdline.Factory) *cobra.Command {
	return newHubCmd(f, &cobra.Command{
		Use: "worker", Short: "Carry out turns for other runs, until Ctrl-C",
		Long: "Take turns from a fleet and carry them out on this machine, which needs git and the agents, logged in. This starts\n" +
			"ralph-hub. docs/fleet.md says how to set up a fleet.",
		Example: "  ralph worker                 # for runs of yours on this machine\n" +
			"  RALPH_FLEET_TOKEN=... ralph worker --join nats://build1:4222 --slots 4",
	}, &config.Worker{}, func() error { return nil })
}

// newMCPCmd returns ralph mcp.
func newMCPCmd(f *cmdline.Factory) *cobra.Command {
	return &cobra.Command{
		Use: "mcp", Short: "Let another agent watch and steer the run of this project (MCP)", Args: cmdline.NoArgs,
		Long: "Serve the Model Context Protocol on standard input and output, for the agent that starts it: status, tasks, iterations,\n" +
			"diff, questions, add_task, answer. This starts ralph-hub. An agent inside a run cannot answer its own questions this way.",
		Example: "  claude mcp add ralph -- ralph -C ~/shop-api mcp",
		RunE: func(*cobra.Command, []string) error {
			dir, err := f.Project()
			if err != nil {
				return err
			}
			return become(f, "mcp", "--project", dir)
		},
	}
}
