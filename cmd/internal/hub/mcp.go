package hub

import (
	"context"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
	"ralph/cmd/internal/hub/mcp"
)

type mcpOptions struct{ mcp.Server }

func newMCPCmd() *cobra.Command {
	o := &mcpOptions{}
	cmd := &cobra.Command{
		Use: "mcp", Args: cmdline.NoArgs,
		Short:   "Let another agent watch and steer the run of a project (MCP, on standard input and output)",
		Example: "  ralph-hub mcp --project DIR",
		RunE:    func(cmd *cobra.Command, _ []string) error { return mcpRun(cmd.Context(), o) },
	}
	cmd.Flags().StringVar(&o.Dir, "project", ".", "The `DIR` of the project.")
	ralphFlag(cmd, &o.Ralph)
	return cmd
}

func mcpRun(ctx context.Context, o *mcpOptions) (err error) {
	if info, err := os.Stat(o.Dir); err != nil || !info.IsDir() {
		return cmdline.UsageError("--project %q is not a folder", o.Dir)
	}
	if o.Ralph, err = findRalph(o.Ralph); err != nil {
		return err
	}
	if o.Dir, err = filepath.Abs(o.Dir); err != nil {
		return err
	}
	ctx, stop := untilSignal(ctx)
	defer stop()
	return o.Run(ctx)
}
