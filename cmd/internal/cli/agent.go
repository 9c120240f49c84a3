package cli

import (
	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
	"ralph/cmd/internal/config"
	"ralph/cmd/internal/preflight"
)

// open reads the project, and finds its agents.
func open(f *cmdline.Factory, flags map[string]string) (*preflight.Project, config.Loader, error) {
	p, loader, err := preflight.Open(f, flags)
	if err == nil {
		err = p.FindAgents()
	}
	return p, loader, err
}

// newAgentCmd returns the verb with its subcommands.
func newAgentCmd(f *cmdline.Factory) *cobra.Command {
	cmd := &cobra.Command{
		Use: "agent", Short: "List, choose and add agents",
		Long: "List, choose and add agents. The agent text is any program that reads the prompt from standard input and prints text;\n" +
			"AGENT_CMD names it.",
		Example: "  AGENT=text AGENT_CMD='my-agent --yes' ralph\n  ralph agent list",
		RunE:    cmdline.Parent,
	}
	cmd.AddCommand(newListCmd(f), newUseCmd(f), newAddCmd(f))
	return cmd
}
