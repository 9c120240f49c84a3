package cli

import (
	"time"

	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
	"ralph/logs/termtext"
)

// resetOptions are what can be forgotten.
type resetOptions struct {
	*cmdline.Factory
	circuit, session, tasks, all bool
}

func newResetCmd(f *cmdline.Factory) *cobra.Command {
	o := &resetOptions{Factory: f}
	cmd := &cobra.Command{
		Use: "reset", Short: "Forget the circuit breaker, session, tasks or counters",
		Args: cmdline.NoArgs, Example: "  ralph reset --circuit\n  ralph reset --tasks\n  ralph reset --all",
		RunE: func(*cobra.Command, []string) error {
			if !o.circuit && !o.session && !o.tasks && !o.all {
				return cmdline.UsageError("reset needs at least one of --circuit, --session, --tasks, --all")
			}
			return resetRun(o)
		},
	}
	cmd.Flags().BoolVar(&o.circuit, "circuit", false, "Close the circuit breaker; its history stays.")
	cmd.Flags().BoolVar(&o.session, "session", false, "Forget the agent session that --continue would resume.")
	cmd.Flags().BoolVar(&o.tasks, "tasks", false,
		"Forget the attempts at open tasks, so that tasks that were put aside or skipped come back.")
	cmd.Flags().BoolVar(&o.all, "all", false,
		"All of this, plus the counters, questions, notes and the last status; logs and your files stay.")
	return cmd
}

func resetRun(o *resetOptions) error {
	r, _, err := o.Reader()
	if err != nil {
		return err
	}
	w, err := o.Lock(r.Dir(), "reset")
	if err != nil {
		return err
	}
	defer w.Release()
	now := time.Now()
	for _, row := range []struct {
		wanted bool
		do     func() error
		done   string
	}{
		{o.all, w.ResetAll, "the circuit breaker, the session, the counters, the questions, the notes and the last status are gone"},
		{o.circuit && !o.all, func() error { return w.ResetBreaker("ralph reset --circuit", now) }, "the circuit breaker is CLOSED"},
		{o.session && !o.all, func() error { return w.ResetSession("ralph reset --session", now) }, "the agent session is forgotten"},
		{o.tasks && !o.all, w.ResetTasks, "the attempts at open tasks are forgotten"},
	} {
		if !row.wanted {
			continue
		}
		if err := row.do(); err != nil {
			return err
		}
		o.Say("reset: %s", row.done)
	}
	return nil
}

func circuitStatusRun(f *cmdline.Factory) error {
	r, _, err := f.Reader()
	if err != nil {
		return err
	}
	b, err := r.Breaker()
	if err != nil {
		return err
	}
	f.Say("circuit breaker: %s", b.State)
	if b.Reason != "" {
		f.Say("reason: %s", b.Reason)
	}
	f.Say("consecutive iterations without progress: %d, with the same error: %d, with permission denials: %d",
		b.NoProgress, b.SameError, b.PermissionDenials)
	f.Say("opened so far: %s", termtext.Count(b.TotalOpens, "time"))
	history, err := r.History()
	for _, c := range history[max(0, len(history)-10):] {
		at := c.Timestamp.Local().Format("2006-01-02 15:04:05")
		f.Say("%s  iteration %d  %s -> %s  %s", at, c.Loop, c.FromState, c.ToState, c.Reason)
	}
	return err
}
