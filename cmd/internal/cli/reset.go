package cli

import (
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"ralph/state"
)

// resetFlags are what can be forgotten.
type resetFlags struct{ circuit, session, all bool }

func (a *app) resetCommand() *cobra.Command {
	f := &resetFlags{}
	cmd := &cobra.Command{
		Use: "reset", Short: "Close the circuit breaker, forget the agent session, or both and all counters", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if *f == (resetFlags{}) {
				return usageError("reset needs at least one of --circuit, --session, --all")
			}
			return a.reset(*f)
		},
	}
	cmd.Flags().BoolVar(&f.circuit, "circuit", false, "close the circuit breaker and forget its history")
	cmd.Flags().BoolVar(&f.session, "session", false, "forget the agent session that --continue would resume")
	cmd.Flags().BoolVar(&f.all, "all", false, "both, and all counters and the last status; logs and your files stay")
	return cmd
}

func (a *app) addResetFlags(root *cobra.Command) {
	root.Flags().Bool("reset-circuit", false, "same as: ralph reset --circuit")
	root.Flags().Bool("reset-session", false, "same as: ralph reset --session")
	root.Flags().Bool("circuit-status", false, "show the circuit breaker")
}

// resetByFlags does what the flag forms ask for.
func (a *app) resetByFlags(cmd *cobra.Command) (done bool, err error) {
	f := resetFlags{circuit: isSet(cmd.Flags(), "reset-circuit"), session: isSet(cmd.Flags(), "reset-session")}
	if f != (resetFlags{}) {
		return true, a.reset(f)
	}
	if isSet(cmd.Flags(), "circuit-status") {
		return true, a.circuitStatus()
	}
	return false, nil
}

func isSet(fs *pflag.FlagSet, name string) bool {
	v, err := fs.GetBool(name)
	return err == nil && v
}

func (a *app) reset(f resetFlags) error {
	r, _, err := a.reader()
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
		a.warn(e)
	}
	if f.all {
		if err := w.ResetAll(); err != nil {
			return err
		}
		a.say("reset: circuit breaker, session, counters and the last status are forgotten")
		return nil
	}
	if f.circuit {
		if err := w.ResetBreaker("ralph reset --circuit", now); err != nil {
			return err
		}
		a.say("reset: the circuit breaker is CLOSED")
	}
	if f.session {
		if err := w.ResetSession("ralph reset --session", now); err != nil {
			return err
		}
		a.say("reset: the agent session is forgotten")
	}
	return nil
}

func (a *app) circuitStatus() error {
	r, _, err := a.reader()
	if err != nil {
		return err
	}
	b, err := r.Breaker()
	if err != nil {
		return err
	}
	a.say("circuit breaker: %s", b.State)
	if b.Reason != "" {
		a.say("reason: %s", b.Reason)
	}
	a.say("consecutive iterations without progress: %d, with the same error: %d, with permission denials: %d", b.NoProgress, b.SameError, b.PermissionDenials)
	a.say("opened %d times in all", b.TotalOpens)
	history, err := r.History()
	for _, c := range history[max(0, len(history)-10):] {
		a.say("%s  iteration %d  %s -> %s  %s", c.Timestamp.Local().Format("2006-01-02 15:04:05"), c.Loop, c.FromState, c.ToState, c.Reason)
	}
	return err
}
