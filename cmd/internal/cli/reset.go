package cli

import (
	"os"
	"time"

	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
	"ralph/state"
	"ralph/state/view"
)

// resetOptions say what to reset.
type resetOptions struct{ circuit, session, all bool }

func (a *app) resetCommand() *cobra.Command {
	var o resetOptions
	cmd := &cobra.Command{
		Use: "reset", Short: "Reset the circuit breaker, the session, or all counters and the status", Args: cmdline.NoArgs,
		Example: "  ralph reset --circuit\n  ralph reset --all",
		RunE: func(*cobra.Command, []string) error {
			if o == (resetOptions{}) {
				return cmdline.UsageError("reset needs at least one of --circuit, --session, --all")
			}
			return a.reset(o)
		},
	}
	cmd.Flags().BoolVar(&o.circuit, "circuit", false, "close the circuit breaker and delete its history")
	cmd.Flags().BoolVar(&o.session, "session", false, "delete the agent session that --continue would resume")
	cmd.Flags().BoolVar(&o.all, "all", false, "both, and all counters and the last status; logs and your files stay")
	return cmd
}

func (a *app) reset(o resetOptions) error {
	r, _, err := a.Reader()
	if err != nil {
		return err
	}
	now := time.Now()
	w, aside, err := state.Acquire(r.Dir(), state.Owner{PID: os.Getpid(), RunID: "reset", StartedAt: now})
	if err != nil {
		return err
	}
	defer w.Release()
	for _, e := range aside {
		a.Warn(e)
	}
	if o.all {
		if err := w.ResetAll(); err != nil {
			return err
		}
		a.Say("reset: the circuit breaker, the session, the counters and the last status are gone")
		return nil
	}
	if o.circuit {
		if err := w.ResetBreaker("ralph reset --circuit", now); err != nil {
			return err
		}
		a.Say("reset: the circuit breaker is CLOSED")
	}
	if o.session {
		if err := w.ResetSession("ralph reset --session", now); err != nil {
			return err
		}
		a.Say("reset: the agent session is deleted")
	}
	return nil
}

// circuitStatus shows the circuit breaker and its latest changes.
func (a *app) circuitStatus() error {
	r, _, err := a.Reader()
	if err != nil {
		return err
	}
	b, err := r.Breaker()
	if err != nil {
		return err
	}
	a.Say("circuit breaker: %s", b.State)
	if b.Reason != "" {
		a.Say("reason: %s", b.Reason)
	}
	a.Say("consecutive iterations without progress: %d, with the same error: %d, with permission denials: %d",
		b.NoProgress, b.SameError, b.PermissionDenials)
	a.Say("opened %s in total", view.Plural(b.TotalOpens, "time"))
	history, err := r.History()
	for _, c := range history[max(0, len(history)-10):] {
		a.Say("%s  iteration %d  %s -> %s  %s", c.Timestamp.Local().Format(time.DateTime), c.Loop, c.FromState, c.ToState, c.Reason)
	}
	return err
}
