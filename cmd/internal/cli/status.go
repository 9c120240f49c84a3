package cli

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
	"ralph/state"
	"ralph/state/view"
	"ralph/state/view/summary"
)

// newStatusCmd returns ralph status.
func newStatusCmd(f *cmdline.Factory) *cobra.Command {
	asJSON, watch := false, false
	cmd := &cobra.Command{
		Use: "status", Short: "Show the state of the run once", Args: cmdline.NoArgs,
		Long: "Show the state of the run once.\n\nExit code 0: running, waiting, paused or completed; 1: review, halted, stopped, failed or crashed,\n" +
			"or completed and then undone in part; 4: nothing has run here.",
		Example: "  ralph status\n  ralph status --json | jq -r .status",
		RunE:    func(*cobra.Command, []string) error { return statusRun(f, asJSON, watch) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "Print status.json with alive, age_seconds and next_agent added.")
	cmd.Flags().BoolVar(&watch, "watch", false, "Show it again every second until Ctrl-C.")
	return cmd
}

func statusRun(f *cmdline.Factory, asJSON, watch bool) error {
	r, dir, err := f.Reader()
	switch {
	case err != nil:
		return err
	case !watch:
		return printStatus(f, r, dir, asJSON)
	}
	sig := cmdline.HandleSignals(f.In)
	defer sig.Stop()
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		if !asJSON && f.IsTerminal() {
			fmt.Fprint(f.Out, "\x1b[H\x1b[2J")
		}
		err := printStatus(f, r, dir, asJSON)
		select {
		case <-sig.Ctx.Done():
			return err
		case <-ticker.C:
		}
	}
}

// statusJSON is status.json for programs.
type statusJSON struct {
	state.Status
	Alive bool    `json:"alive"`
	Age   float64 `json:"age_seconds"`
	// Next is what ralph agent use chose since the latest turn began.
	Next state.AgentUse `json:"next_agent,omitzero"`
}

func printStatus(f *cmdline.Factory, r *state.Reader, dir string, asJSON bool) error {
	now := time.Now()
	s := view.Gather(r, now)
	if asJSON {
		shown := s.Status
		if s.State != "" && s.State != view.StateNone {
			shown.Status = s.State
		}
		if err := f.JSON(statusJSON{shown, s.Alive, s.Age.Seconds(), s.Next}); err != nil {
			return err
		}
	} else {
		m := view.Model{Snapshot: s}
		m.Recall(r)
		fmt.Fprint(f.Out, summary.Text(&m, now, f.Width()))
		if _, _, err := f.Loader(dir, nil).Load(); err != nil {
			f.Say("config    no run can start: %v", err)
		}
		if all, err := state.Notes(r).List(); err == nil && len(all) > 0 {
			last := all[len(all)-1]
			f.Say("note      %s %s: %s", last.ID, last.Where(), cmdline.Shorten(last.Text))
		}
	}
	switch s.State {
	case state.StatusRunning, state.StatusWaiting, state.StatusPaused, state.StatusCompleted, view.StateStarting:
		if !s.Reopened() {
			return nil
		}
	case view.StateNone:
		return &cmdline.ExitError{Code: cmdline.NothingHasRun}
	}
	return &cmdline.ExitError{Code: 1} // review, halted, stopped, failed, crashed, or completed and then undone in part
}
