package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"ralph/cmd/internal/cli/historycmd"
	"ralph/cmd/internal/cli/versioncmd"
	"ralph/cmd/internal/cmdline"
	"ralph/cmd/internal/preflight"
	"ralph/logs/termtext"
	"ralph/monitor"
	"ralph/monitor/canvas"
	"ralph/runner/task"
	"ralph/runner/taskrecords"
	"ralph/state"
	"ralph/state/note"
	"ralph/state/view"
	"ralph/state/view/summary"
)

// The exit codes of ralph status.
const (
	statusGood = 0 // running, waiting, paused or completed
	statusBad  = 1 // review, halted, stopped, failed, crashed, or completed and then undone in part
)

func newStatusCmd(f *cmdline.Factory) *cobra.Command {
	a := &app{f}
	var asJSON, watch bool
	cmd := &cobra.Command{
		Use: "status", Short: "Show the state of the run once", Args: cmdline.NoArgs,
		Long: "Show the state of the run once.\n\nExit code 0: running, waiting, paused or completed; 1: review, halted, stopped, failed or crashed,\n" +
			"or completed and then undone in part; 4: nothing has run here.",
		Example: "  ralph status\n  ralph status --json | jq -r .status",
		RunE: func(*cobra.Command, []string) error {
			r, _, err := a.Reader()
			if err != nil {
				return err
			}
			if watch {
				return a.watchStatus(r, asJSON)
			}
			return a.printStatus(r, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "Print status.json with alive, age_seconds and next_agent added.")
	cmd.Flags().BoolVar(&watch, "watch", false, "Show it again every second until Ctrl-C.")
	return cmd
}

// statusJSON is status.json for programs.
type statusJSON struct {
	state.Status
	Alive bool    `json:"alive"`
	Age   float64 `json:"age_seconds"`
	// Next is what ralph agent use chose since the latest turn began.
	Next state.AgentUse `json:"next_agent,omitzero"`
}

func (a *app) printStatus(r *state.Reader, asJSON bool) error {
	now := time.Now()
	s := view.Gather(r, now)
	if asJSON {
		shown := s.Status
		if s.State != "" && s.State != view.StateNone {
			shown.Status = s.State
		}
		data, err := json.MarshalIndent(statusJSON{shown, s.Alive, s.Age.Seconds(), s.Next}, "", "  ")
		if err != nil {
			return fmt.Errorf("print status: %w", err)
		}
		fmt.Fprintln(a.Out, termtext.JSON(string(data)))
	} else {
		m := view.Model{Snapshot: s}
		m.Recall(r)
		fmt.Fprint(a.Out, summary.Text(&m, now, a.Width()))
		if all, err := note.In(r).List(); err == nil && len(all) > 0 {
			last := all[len(all)-1]
			a.Say("note      %s %s: %s", last.ID, last.Where(), cmdline.Shorten(cmdline.OneLine(last.Text)))
		}
		if text := historycmd.Forecast(r, s).Text(now); text != "" {
			a.Say("forecast  %s", text)
		}
	}
	if code := statusCode(s.State); code != statusGood || s.Reopened() {
		return &cmdline.ExitError{Code: max(code, statusBad)}
	}
	return nil
}

func statusCode(st string) int {
	switch st {
	case state.StatusRunning, state.StatusWaiting, state.StatusPaused, state.StatusCompleted, view.StateStarting:
		return statusGood
	case view.StateNone:
		return cmdline.NothingHasRun
	}
	return statusBad
}

func (a *app) watchStatus(r *state.Reader, asJSON bool) error {
	sig := cmdline.HandleSignals(a.In)
	defer sig.Stop()
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		if !asJSON && a.IsTerminal() {
			fmt.Fprint(a.Out, "\x1b[H\x1b[2J")
		}
		err := a.printStatus(r, asJSON)
		select {
		case <-sig.Ctx.Done():
			return err
		case <-ticker.C:
		}
	}
}

func newMonitorCmd(f *cmdline.Factory) *cobra.Command {
	a := &app{f}
	var plain bool
	var theme canvas.ThemeName
	cmd := &cobra.Command{
		Use: "monitor", Short: "Watch the run: live log, plan, API usage", Args: cmdline.NoArgs,
		Example: "  ralph monitor\n  ralph monitor --plain | grep check",
		RunE: func(*cobra.Command, []string) error {
			dir, err := a.Project()
			if err != nil {
				return err
			}
			sig := cmdline.HandleSignals(a.In)
			defer sig.Stop()
			return a.monitor(sig.Ctx, monitor.Options{Dir: dir, Plain: plain, Out: a.Out, Theme: string(theme)})
		},
	}
	cmd.Flags().BoolVar(&plain, "plain", false, "Print a stream of lines instead of the screen.")
	cmd.Flags().Var(&theme, "theme", theme.Help())
	_ = cmd.RegisterFlagCompletionFunc("theme", cobra.FixedCompletions(canvas.Themes(), cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// monitor shows the run of a project on a screen.
func (a *app) monitor(ctx context.Context, o monitor.Options) error {
	o.Version, o.Now, o.Plan = versioncmd.String(), time.Now, a.planReader()
	o.Forecast = func() string {
		r, now := cmdline.OpenState(o.Dir), time.Now()
		return historycmd.Forecast(r, view.Gather(r, now)).Brief(now)
	}
	self, err := a.Ralph()
	if o.Ralph = []string{self, "-C", o.Dir}; err != nil {
		o.Ralph, o.NoControl = nil, err.Error()
	}
	return monitor.Run(ctx, o)
}

// planReader reads the plan for a screen that has no run to show. It ignores a broken
// configuration: the run will report that.
func (a *app) planReader() func() (state.TaskStatus, []string) {
	quiet := *a.Factory
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
		if _, err := p.FindRunPlan(); err != nil || p.Plan == "" {
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
		next, _ := taskrecords.Next(cmdline.OpenState(p.Dir), list)
		s = state.TaskStatus{ID: next.ID, Title: next.Title, Done: list.Done(), Total: list.Total()}
		return s, tasks
	}
}
