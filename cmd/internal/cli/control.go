package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"

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
	a.set(f.settings)
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

// finished tells in one line why a run without a living runner is not to go on by itself;
// "" when only the machine ended it: it was killed, or asked to end by SIGTERM
// or SIGHUP, and no person had asked it to pause or to end before.
func finished(s state.Status) string { return inLine(ended(s)) }

func inLine(text string) string { return strings.Join(strings.Fields(text), " ") }

func ended(s state.Status) string {
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
// write, and count only as this user has started the run with them.
func (a *app) again(r *state.Reader, run string) (*runFlags, error) {
	flags, err := r.RunFlags(run)
	var corrupt *state.CorruptError
	if err != nil && !errors.As(err, &corrupt) {
		return nil, err
	}
	known, err := a.loader(filepath.Dir(r.Dir()), nil).KeptRuns()
	if err != nil {
		return nil, err
	}
	last := slices.IndexFunc(known, func(k config.KeptRun) bool { return k.Run == run })
	_, same := started(known, run, flags)
	switch {
	case len(known) == 0:
		return nil, usageError("run %s cannot be resumed: you did not start it in this folder, or too long ago; begin with: ralph", run)
	case last < 0:
		return nil, usageError("run %s, which .ralph/status.json names, is not the last one that you started here: that is %s; begin with: %s", run, known[0].Run, typed(known[0]))
	case !same || corrupt != nil:
		return nil, usageError("the flags of run %s were changed since you started it: .ralph/logs/%[1]s/flags.json has %.200s; begin with yours: %s", run, inLine(quoteArgs(flags)), typed(known[last]))
	}
	f := &runFlags{output: "text", resumed: run}
	given, settings := apart(flags)
	if f.options, err = parseOptions(given); err != nil {
		return nil, usageError("the flags of run %s cannot be used again: %v", run, err)
	}
	f.settings = settings
	return f, nil
}

// set puts settings into the environment, in place of others of their names.
func (a *app) set(settings []string) {
	for _, s := range settings {
		name, _, _ := strings.Cut(s, "=")
		a.env = slices.DeleteFunc(slices.Clone(a.env), func(kv string) bool { return strings.HasPrefix(kv, name+"=") })
		a.env = append(a.env, s)
	}
}

// apart divides what a run was started with into flags and KEY=value.
func apart(words []string) (flags, settings []string) {
	for _, w := range words {
		if strings.HasPrefix(w, "-") {
			flags = append(flags, w)
		} else {
			settings = append(settings, w)
		}
	}
	return flags, settings
}

// started finds a run that was started with just these flags.
func started(known []config.KeptRun, run string, flags []string) (config.KeptRun, bool) {
	i := slices.IndexFunc(known, func(k config.KeptRun) bool { return k.Run == run && slices.Equal(k.Flags, flags) })
	if i < 0 {
		return config.KeptRun{}, false
	}
	return known[i], true
}

// typed is the command line of a run.
func typed(k config.KeptRun) string {
	flags, settings := apart(k.Flags)
	return quoteArgs(slices.Concat(settings, []string{"ralph"}, flags))
}

// keep records what the run is started with, for again. The one that status.json
// names can be resumed until it names this one, which it does before the first
// event after the start.
func (a *app) keep(r *state.Reader, run config.KeptRun) func(state.Event) {
	loader := a.loader(filepath.Dir(r.Dir()), nil)
	record := func(runs ...config.KeptRun) {
		if err := loader.KeepRuns(runs...); err != nil {
			a.warn(fmt.Errorf("this run cannot be resumed: %w", err))
		}
	}
	runs := []config.KeptRun{run}
	known, _ := loader.KeptRuns() // what cannot be read resumes nothing
	last, _ := r.Status()
	flags, _ := r.RunFlags(last.RunID)
	if before, ok := started(known, last.RunID, flags); ok {
		runs = append(runs, before)
	}
	record(runs...)
	named := sync.OnceFunc(func() { record(run) })
	return func(e state.Event) {
		if e.Kind != state.KindRunStart {
			named()
		}
	}
}

func parseOptions(flags []string) (map[string]string, error) {
	options := map[string]string{}
	cmd := &cobra.Command{}
	addOptions(cmd.Flags(), options)
	return options, cmd.ParseFlags(flags)
}
