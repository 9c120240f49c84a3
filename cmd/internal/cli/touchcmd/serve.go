package touchcmd

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
	"ralph/config/huboptions"
	"ralph/runner/sandbox"
)

// NewServeCmd returns ralph serve.
func NewServeCmd(f *cmdline.Factory) *cobra.Command {
	var s huboptions.Serve
	cmd := &cobra.Command{
		Use: "serve", Short: "Show all of your runs in a browser, until Ctrl-C", Args: cmdline.NoArgs,
		Long: "Show all of your runs in a browser: tasks, live log, cost, checks, findings, questions, transcripts, diffs. This starts\n" +
			"ralph-hub. It is read-only unless you give --actions: then anyone who is logged in can act. docs/dashboard.md says\n" +
			"how to reach it from a phone.",
		Example: "  ralph serve\n  ralph serve --actions\n  ralph serve --link      # another link that logs you in",
		RunE: func(*cobra.Command, []string) error {
			if err := s.Check(); err != nil {
				return cmdline.UsageError("%v", err)
			}
			if dir, err := f.Project(); err == nil && (s.Actions || s.Link) {
				if err := f.RefuseAgent(dir, "act as a person"); err != nil {
					return err
				}
			}
			return become(f, "serve", s.Args()...)
		},
	}
	s.Flags(cmd.Flags())
	return cmd
}

// NewMCPCmd returns ralph mcp.
func NewMCPCmd(f *cmdline.Factory) *cobra.Command {
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

// become turns this process into ralph-hub: ralph itself uses no network.
func become(f *cmdline.Factory, verb string, args ...string) error {
	hub, err := sandbox.FindHub()
	if err != nil {
		return errors.New("ralph-hub is neither beside ralph nor in PATH")
	}
	ralph, err := f.Ralph()
	if err != nil {
		return err
	}
	err = syscall.Exec(hub, append([]string{hub, verb, "--ralph", ralph}, args...), f.Env)
	return fmt.Errorf("start ralph-hub: %w", err)
}
