package cli

import (
	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
)

// newNotifyCmd returns ralph notify.
func newNotifyCmd(f *cmdline.Factory) *cobra.Command {
	cmd := &cobra.Command{
		Use: "notify", Short: "Test the notifications of this project",
		Long:    "Test the notifications that NOTIFY sets up. docs/in-touch.md describes them.",
		Example: "  NOTIFY=ntfy://ntfy.sh/my-topic ralph notify test",
		RunE:    cmdline.Parent,
	}
	cmd.AddCommand(newNotifyTestCmd(f))
	return cmd
}
