package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
	"ralph/cmd/internal/preflight"
	"ralph/runner/sandbox"
	"ralph/state"
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

func newNotifyTestCmd(f *cmdline.Factory) *cobra.Command {
	return &cobra.Command{
		Use: "test", Short: "Send a test message to each address of NOTIFY", Args: cmdline.NoArgs,
		Example: "  ralph notify test",
		RunE:    func(*cobra.Command, []string) error { return notifyTestRun(f) },
	}
}

func notifyTestRun(f *cmdline.Factory) error {
	p, loader, err := preflight.Open(f, nil) // a project is not needed
	if err == nil {
		err = f.Trust(loader)
	}
	if err != nil {
		return err
	}
	job, err := jobOf(p.Config, p.Dir, "")
	if err != nil {
		return err
	}
	if len(job.Notify) == 0 {
		return cmdline.UsageError("NOTIFY is not set; set it in your own configuration or environment, " +
			"such as NOTIFY=ntfy://ntfy.sh/my-topic")
	}
	if _, err := sandbox.FindHub(); err != nil {
		return fmt.Errorf("nothing was sent: %w", err)
	}
	out, err := runHub(f, job, "notify-test")
	for line := range strings.Lines(string(out)) {
		f.Say("%s", strings.TrimRight(line, "\n"))
	}
	if err != nil {
		return &cmdline.ExitError{Code: state.ExitError, Text: "not every message was sent"}
	}
	return nil
}
