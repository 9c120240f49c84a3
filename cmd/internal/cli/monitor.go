package cli

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
	"ralph/monitor"
	"ralph/monitor/canvas"
)

// newMonitorCmd returns ralph monitor.
func newMonitorCmd(f *cmdline.Factory) *cobra.Command {
	plain, theme := false, ""
	cmd := &cobra.Command{
		Use: "monitor", Short: "Watch the run: live log, plan, API usage", Args: cmdline.NoArgs,
		Example: "  ralph monitor\n  ralph monitor --plain | grep check",
		RunE:    func(*cobra.Command, []string) error { return monitorRun(f, plain, theme) },
	}
	cmd.Flags().BoolVar(&plain, "plain", false, "Print a stream of lines instead of the screen.")
	cmd.Flags().StringVar(&theme, "theme", "", "The colors, as a `NAME`: "+strings.Join(canvas.Themes(), ", ")+"; for all screens: "+
		canvas.ThemeVariable+" in the environment.")
	cmdline.CompleteValues(cmd, "theme", canvas.Themes())
	return cmd
}

func monitorRun(f *cmdline.Factory, plain bool, theme string) error {
	if err := canvas.CheckTheme(theme); err != nil {
		return cmdline.UsageError("--theme: %v", err)
	}
	dir, err := f.Project()
	if err != nil {
		return err
	}
	sig := cmdline.HandleSignals(f.In)
	defer sig.Stop()
	return watch(sig.Ctx, f, monitor.Options{Dir: dir, Plain: plain, Out: f.Out, Theme: theme})
}

// watch shows the run of a project on a screen.
func watch(ctx context.Context, f *cmdline.Factory, o monitor.Options) error {
	o.Version, o.Now = versionText(), time.Now
	self, err := f.Ralph()
	if o.Ralph = []string{self, "-C", o.Dir}; err != nil {
		o.Ralph, o.NoControl = nil, err.Error()
	}
	return monitor.Run(ctx, o)
}
