package hub

import (
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"

	"ralph/cmd/internal/hub/mcp"
)

func newMCPCmd() *cobra.Command {
	var s mcp.Server
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Let another agent watch and steer the run of a project (MCP, on standard input and output)",
		Args:  cobra.NoArgs, Example: "  ralph-hub mcp --project DIR",
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if s.Ralph == "" {
				if s.Ralph, err = findRalph(); err != nil {
					return err
				}
			}
			if s.Dir, err = filepath.Abs(s.Dir); err != nil {
				return err
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			return s.Run(ctx, cmd.InOrStdin(), cmd.OutOrStdout())
		},
	}
	cmd.Flags().StringVar(&s.Dir, "project", ".", "The `DIR` of the project.")
	cmd.Flags().StringVar(&s.Ralph, "ralph", "", "The program `FILE`.")
	_ = cmd.Flags().MarkHidden("ralph") // ralph mcp sets it; fails only for an unknown flag
	return cmd
}
