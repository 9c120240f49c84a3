package cli

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"ralph/config"
	"ralph/runner/rules"
	"ralph/runner/task"
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
		var onlyUnfinished bool
		cmd := &cobra.Command{
			Use: string(q), Short: help[q], Args: cobra.NoArgs,
			RunE: func(*cobra.Command, []string) error { return a.control(q, onlyUnfinished) },
		}
		if q == state.RequestResume {
			cmd.Flags().BoolVar(&onlyUnfinished, "unfinished", false, "only a run that did not end by itself: killed, or ended by SIGTERM or SIGHUP, as a reboot does; of any other say so and end with 0")
		}
		all = append(all, cmd)
	}
	return all
}

func (a *app) control(q state.Request, onlyUnfinished bool) error {
	r, dir, err := a.reader()
	if err != nil {
		return err
	}
	owner, alive := r.Owner()
	switch {
	case alive && onlyUnfinished: // whoever paused it did not ask for an end of the pause
		return &state.LockedError{Owner: owner}
	case !alive && q == state.RequestResume:
		return a.resumeRun(r, onlyUnfinished)
	case !alive:
		return &exitError{1, fmt.Sprintf("no ralph is running in %q; see: ralph status", dir)}
	}
	if err := state.Send(r.Dir(), q); err != nil {
		return err
	}
	a.say("asked run %s (pid %d) to %s", owner.RunID, owner.PID, q)
	return nil
}

// resumeRun continues the last run with the flags that it was started with.
func (a *app) resumeRun(r *state.Reader, onlyUnfinished bool) error {
	last, err := r.Status()
	if err != nil {
		return err
	}
	why := finished(last)
	switch {
	case onlyUnfinished && why != "":
		a.say("nothing to go on with: %s", why)
		return nil
	case last.RunID == "":
		return usageError("nothing to resume: %s; begin with: ralph", why)
	}
	f, err := a.again(r, last.RunID)
	if err != nil {
		return err
	}
	if last.Status == state.StatusCompleted {
		open := a.openTasks(filepath.Dir(r.Dir()), f.options)
		if open == 0 {
			a.say("%s", why)
			return nil
		}
		a.say("run %s was complete; the plan has %s again", last.RunID, count(open, "open task"))
	}
	f.unattended = onlyUnfinished
	return a.run(f)
}

// openTasks counts those of the plan as it is now: after ralph undo, or with
// new tasks. What cannot be read has none; the run itself would say why.
func (a *app) openTasks(dir string, options map[string]string) int {
	cfg, _, err := a.loader(dir, options).Load()
	if err != nil {
		return 0
	}
	plan, err := findPlan(dir, cfg)
	if err != nil {
		return 0
	}
	list, err := task.Load(plan, cfg.OptionalSections)
	if err != nil {
		return 0
	}
	return list.Remaining()
}

// finished tells why a run without a living runner is not to go on by itself;
// "" when only the machine ended it: it was killed, or asked to end by SIGTERM
// or SIGHUP, and no person had asked it to pause or to end before.
func finished(s state.Status) string {
	killed := s.Status == state.StatusRunning || s.Status == state.StatusWaiting
	asked := s.Pending
	if s.Status == state.StatusPaused {
		asked = state.RequestPause
	}
	switch {
	case s.RunID == "":
		return "no run was started here"
	case s.Status == state.StatusCompleted:
		return fmt.Sprintf("run %s is complete: %s", s.RunID, s.Reason)
	case asked != "":
		return fmt.Sprintf("run %s was asked to %s; go on with: ralph resume", s.RunID, asked)
	case killed || s.Status == state.StatusStopped && s.ExitCode == rules.ExitTerminated:
		return ""
	}
	return fmt.Sprintf("run %s is %s: %s (exit code %d); go on with: ralph resume", s.RunID, s.Status, s.Reason, s.ExitCode)
}

// again are the flags with which a run is resumed. They lie where an agent can
// write: what needs a person's consent counts only as this user has typed it.
func (a *app) again(r *state.Reader, run string) (*runFlags, error) {
	flags, err := r.RunFlags(run)
	if err != nil {
		return nil, err
	}
	f := &runFlags{output: "text", resumed: run}
	if f.options, err = parseOptions(flags); err != nil {
		return nil, usageError("the flags of run %s cannot be used again: %v", run, err)
	}
	loader := a.loader(filepath.Dir(r.Dir()), f.options)
	u := loader.FlagClaims()
	if u == nil {
		return f, nil
	}
	if typed, err := config.Trusted(loader.StateHome(), *u); typed || err != nil {
		return f, err
	}
	return nil, usageError("run %s is kept with %s, which you have not typed in this project; if you mean it, type it: ralph %[2]s", run, strings.Join(u.Lines, " "))
}

// typed records what a person's flags decide about programs, for again.
func (a *app) typed(dir string, flags []string) {
	options, err := parseOptions(flags)
	loader := a.loader(dir, options)
	if u := loader.FlagClaims(); err == nil && u != nil {
		err = config.Trust(loader.StateHome(), *u)
	}
	if err != nil {
		fmt.Fprintln(a.err, "ralph: warning: this run cannot be resumed:", err)
	}
}

func parseOptions(flags []string) (map[string]string, error) {
	options := map[string]string{}
	cmd := &cobra.Command{}
	addOptions(cmd.Flags(), options)
	return options, cmd.ParseFlags(flags)
}
