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

// The exit codes of ralph status.
const (
	statusGood = 0 // running, waiting, paused or completed
	statusBad  = 1 // review, halted, stopped, failed, crashed, or completed and then undone in part
)

type statusOptions struct {
	*cmdline.Factory
	json, watch bool
}

// newStatusCmd returns ralph status.
func newStatusCmd(f *cmdline.Factory) *cobra.Command {
	o := &statusOptions{Factory: f}
	cmd := &cobra.Command{
		Use: "status", Short: "Show the state of the run once", Args: cmdline.NoArgs,
		Long: "Show the state of the run once.\n\nExit code 0: running, waiting, paused or completed; 1: review, halted, stopped, failed or crashed,\n" +
			"or completed and then undone in part; 4: nothing has run here.",
		Example: "  ralph status\n  ralph status --json | jq -r .status",
		RunE:    func(*cobra.Command, []string) error { return statusRun(o) },
	}
	cmd.Flags().BoolVar(&o.json, "json", false, "Print status.json with alive, age_seconds and next_agent added.")
	cmd.Flags().BoolVar(&o.watch, "watch", false, "Show it again every second until Ctrl-C.")
	return cmd
}

func statusRun(o *statusOptions) error {
	r, _, err := o.Reader()
	switch {
	case err != nil:
		return err
	case o.watch:
		return o.follow(r)
	}
	return o.print(r)
}

// statusJSON is status.json for programs.
type statusJSON struct {
	state.Status
	Alive bool    `json:"alive"`
	Age   float64 `json:"age_seconds"`
	// Next is what ralph agent use chose since the latest turn began.
	Next state.AgentUse `json:"next_agent,omitzero"`
}

func (o *statusOptions) print(r *state.Reader) error {
	now := time.Now()
	s := view.Gather(r, now)
	if o.json {
		shown := s.Status
		if s.State != "" && s.State != view.StateNone {
			shown.Status = s.State
		}
		if err := o.JSON(statusJSON{shown, s.Alive, s.Age.Seconds(), s.Next}); err != nil {
			return err
		}
	} else {
		m := view.Model{Snapshot: s}
		m.Recall(r)
		fmt.Fprint(o.Out, summary.Text(&m, now, o.Width()))
		if all, err := state.Notes(r).List(); err == nil && len(all) > 0 {
			last := all[len(all)-1]
			o.Say("note      %s %s: %s", last.ID, last.Where(), cmdline.Shorten(last.Text))
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

func (o *statusOptions) follow(r *state.Reader) error {
	sig := cmdline.HandleSignals(o.In)
	defer sig.Stop()
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		if !o.json && o.IsTerminal() {
			fmt.Fprint(o.Out, "\x1b[H\x1b[2J")
		}
		err := o.print(r)
		select {
		case <-sig.Ctx.Done():
			return err
		case <-ticker.C:
		}
	}
}
