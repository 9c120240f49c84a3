package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"ralph/state"
)

// controlCommands ask a living runner for something.
func (a *app) controlCommands() []*cobra.Command {
	help := map[state.Request]string{
		state.RequestPause:  "Pause the running loop after its current iteration",
		state.RequestResume: "End a pause or a wait; with no loop running, continue the last run",
		state.RequestSkip:   "End the current iteration and take the next task; the skipped one comes last",
		state.RequestStop:   "End the run after its current iteration (exit code 130)",
		state.RequestAbort:  "End the run and its agent now (exit code 130)",
	}
	var all []*cobra.Command
	for _, q := range state.Requests() {
		all = append(all, &cobra.Command{
			Use: string(q), Short: help[q], Args: cobra.NoArgs,
			RunE: func(*cobra.Command, []string) error { return a.control(q) },
		})
	}
	return all
}

func (a *app) control(q state.Request) error {
	r, dir, err := a.reader()
	if err != nil {
		return err
	}
	owner, alive := r.Owner()
	if !alive {
		if q == state.RequestResume {
			return a.resumeRun(r)
		}
		return &exitError{1, fmt.Sprintf("no ralph is running in %q; see: ralph status", dir)}
	}
	if err := state.Send(r.Dir(), q); err != nil {
		return err
	}
	a.say("asked run %s (pid %d) to %s", owner.RunID, owner.PID, q)
	return nil
}

// resumeRun continues the last run with the flags that it was started with.
func (a *app) resumeRun(r *state.Reader) error {
	last, err := r.Status()
	if err != nil {
		return err
	}
	if last.RunID == "" {
		return usageError("nothing to resume: no run was started here; begin with: ralph")
	}
	if last.Status == state.StatusCompleted {
		a.say("run %s is complete: %s", last.RunID, last.Reason)
		return nil
	}
	flags, err := r.RunFlags(last.RunID)
	if err != nil {
		return err
	}
	f := &runFlags{options: map[string]string{}, output: "text", resumed: last.RunID}
	cmd := &cobra.Command{}
	addOptions(cmd.Flags(), f.options)
	if err := cmd.ParseFlags(flags); err != nil {
		return usageError("the flags of run %s cannot be used again: %v", last.RunID, err)
	}
	return a.run(f)
}
