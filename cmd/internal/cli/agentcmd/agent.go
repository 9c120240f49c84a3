// Package agentcmd has the verb agent: list, choose, add and test agents.
package agentcmd

import (
	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
)

// NewAgentCmd returns the verb with its subcommands.
func NewAgentCmd(f *cmdline.Factory) *cobra.Command {
	cmd := &cobra.Command{
		Use: "agent", Short: "List, choose, add and test agents",
		Long: "List, choose, add and test agents. The agent text is any program that reads the prompt from standard input and prints text;\n" +
			"AGENT_CMD names it.",
		Example: "  AGENT=text AGENT_CMD='my-agent --yes' ralph\n  ralph agent list\n  ralph agent test codex",
		RunE:    cmdline.Parent,
	}
	cmd.AddCommand(newListCmd(f), newModelsCmd(f), newUseCmd(f), newAddCmd(f), newTestCmd(f))
	return cmd
}
