package cli

import (
	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
)

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
