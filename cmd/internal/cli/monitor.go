package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
	"ralph/cmd/internal/preflight"
	"ralph/monitor"
	"ralph/monitor/canvas"
	"ralph/runner/ledger"
	"ralph/runner/task"
	"ralph/state"
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
	o.Version, o.Now, o.Plan = versionText(), time.Now, planReader(f)
	self, err := f.Ralph()
	if o.Ralph = []string{self, "-C", o.Dir}; err != nil {
		o.Ralph, o.NoControl = nil, err.Error()
	}
	return monitor.Run(ctx, o)
}

// planReader reads the plan for a screen that has no run to show. It ignores a broken
// configuration: the run will report that.
func planReader(f *cmdline.Factory) func() (state.TaskStatus, []string) {
	quiet := *f
	quiet.Err = io.Discard
	p, _, err := preflight.Open(&quiet, nil)
	var s state.TaskStatus
	var tasks []string
	var seen string // the plan's file when it was read last; a folder is read each time
	return func() (state.TaskStatus, []string) {
		if err != nil {
			return s, nil
		}
		info, _ := os.Stat(p.Plan) // without it, the plan is looked for
		if info != nil && !info.IsDir() && fmt.Sprint(info) == seen {
			return s, tasks
		}
		s, tasks, seen = state.TaskStatus{}, nil, fmt.Sprint(info)
		if err := p.FindRunPlan(); err != nil || p.Plan == "" {
			return s, nil
		}
		list := p.Tasks
		p.Tasks = task.List{} // it is large
		for _, t := range list.Tasks {
			box := "[ ] "
			if t.Done() {
				box = "[x] "
			}
			tasks = append(tasks, box+t.Title)
		}
		next, _ := ledger.Next(cmdline.OpenState(p.Dir), list)
		s = state.TaskStatus{ID: next.ID, Title: next.Title, Done: list.Done(), Total: list.Total()}
		return s, tasks
	}
}
