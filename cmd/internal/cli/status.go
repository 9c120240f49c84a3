package cli

import (
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
	"ralph/monitor"
	"ralph/state"
	"ralph/state/view"
	"ralph/state/view/summary"
)

func (a *app) statusCommand() *cobra.Command {
	var asJSON, watch bool
	cmd := &cobra.Command{
		Use: "status", Short: "Show the state of the run once", Args: cmdline.NoArgs,
		Long: "Show the state of the run once.\n\n" +
			"Exit code 0: running, waiting, paused or completed; 1: halted, stopped, failed or dead; 4: nothing has run here.",
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
	cmd.Flags().BoolVar(&asJSON, "json", false, "print status.json with alive and age_seconds added")
	cmd.Flags().BoolVar(&watch, "watch", false, "refresh every second until Ctrl-C")
	return cmd
}

func (a *app) printStatus(r *state.Reader, asJSON bool) error {
	now := time.Now()
	s := view.Gather(r, now)
	if asJSON {
		data, err := s.StatusJSON()
		if err != nil {
			return fmt.Errorf("print status: %w", err)
		}
		fmt.Fprintln(a.Out, data)
	} else {
		m := view.Model{Snapshot: s}
		m.Recall(r)
		fmt.Fprint(a.Out, summary.Text(&m, now, a.Width()))
	}
	switch s.State {
	case state.StatusRunning, state.StatusWaiting, state.StatusPaused, state.StatusCompleted, view.StateStarting:
		return nil
	case view.StateNone:
		return &cmdline.ExitError{Code: 4}
	}
	return &cmdline.ExitError{Code: 1}
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

func (a *app) monitorCommand() *cobra.Command {
	var plain bool
	cmd := &cobra.Command{
		Use: "monitor", Short: "Watch the run: live log, plan, API usage", Args: cmdline.NoArgs,
		Example: "  ralph monitor\n  ralph monitor --plain | grep check",
		RunE: func(*cobra.Command, []string) error {
			dir, err := a.Project()
			if err != nil {
				return err
			}
			self, err := os.Executable()
			if err != nil {
				return fmt.Errorf("find ralph: %w", err)
			}
			sig := cmdline.HandleSignals(a.In)
			defer sig.Stop()
			return monitor.Run(sig.Ctx, monitor.Options{
				Dir: dir, Ralph: []string{self, "-C", dir}, Version: version(), Out: a.Out, Plain: plain,
			})
		},
	}
	cmd.Flags().BoolVar(&plain, "plain", false, "print a stream of lines instead of the screen")
	return cmd
}
