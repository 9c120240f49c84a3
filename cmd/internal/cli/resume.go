package cli

import (
	"maps"
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
	"ralph/cmd/internal/preflight"
	"ralph/logs/termtext"
	"ralph/state"
)

type resumeOptions struct {
	runOptions
	unfinished bool // leave alone a run that did not end by accident
}

func newResumeCmd(f *cmdline.Factory) *cobra.Command {
	o := &resumeOptions{runOptions: runOptions{Factory: f, options: map[string]string{}}}
	cmd := &cobra.Command{
		Use:   "resume [N]",
		Short: "End a pause or a wait; without a run, continue the last one",
		Args:  atMostIterations(&o.runOptions),
		Long: "End a pause or a wait, or cancel `ralph stop`. If nothing is running, continue the last run with its own flags. N is the\n" +
			"new limit on its iterations, including those that it has already made. Other flags override those of the run.",
		Example: "  ralph resume\n  ralph resume 20\n  ralph resume --max-cost 15",
		RunE:    func(*cobra.Command, []string) error { return resumeRun(o) },
	}
	cmdline.AddHiddenOptions(cmd, f, o.options)
	cmd.Flags().BoolVar(&o.unfinished, "unfinished", false,
		"Only continue an interrupted run: one that was killed, or that SIGTERM or SIGHUP ended, as in a reboot.")
	return cmd
}

func resumeRun(o *resumeOptions) error {
	r, _, err := o.Reader()
	if err != nil {
		return err
	}
	if owner, alive := r.Owner(); alive {
		if o.unfinished { // nobody has asked to end the pause
			return &state.LockedError{Owner: owner}
		}
		if len(o.options) > 0 {
			return cmdline.UsageError("run %s is alive (pid %d) and keeps its options; "+
				"to change them: ralph stop, then resume it", owner.RunID, owner.PID)
		}
		return send(o.Factory, r, owner, state.RequestResume)
	}
	last, err := r.Status()
	if err != nil {
		return err
	}
	ending, why := last.Ending(), preflight.Finished(last)
	switch {
	case o.unfinished && why != "":
		o.Say("nothing to resume: %s", why)
		return nil
	case ending == state.EndingNone:
		return cmdline.UsageError("nothing to resume: %s; start a run with: ralph", why)
	}
	dir := filepath.Dir(r.Dir())
	run, err := preflight.FindRun(o.Loader(dir, nil), last.RunID)
	if err != nil {
		return err
	}
	if n, err := strconv.Atoi(o.options[maxIterations]); err == nil && n > 0 && n <= last.LoopCount {
		return cmdline.UsageError("run %[2]s has already made %[3]s, so the number must be at least %[4]d, not %[1]d",
			n, last.RunID, termtext.Count(last.LoopCount, "iteration"), last.LoopCount+1)
	}
	options := map[string]string{}
	maps.Copy(options, run.Flags)
	maps.Copy(options, o.options)
	f := *o.Factory
	f.Env = preflight.SetEnv(f.Env, run.Env)
	if ending == state.EndingComplete {
		open := openTasks(&f, dir, options)
		if open == 0 {
			o.Say("%s", why)
			return nil
		}
		o.Say("run %s was complete; the plan has %s again", last.RunID, termtext.Count(open, "open task"))
	}
	return runRun(&runOptions{Factory: &f, options: options, output: "text", resumed: run.Run, unattended: o.unfinished})
}

// openTasks counts the open tasks of the plan as it is now. It may have some
// after ralph undo, or new ones. An unreadable plan counts as none.
func openTasks(f *cmdline.Factory, dir string, options map[string]string) int {
	cfg, _, err := f.Loader(dir, options).Load()
	if err != nil {
		return 0
	}
	p := &preflight.Project{Dir: dir, Config: cfg}
	if p.FindPlan() != nil {
		return 0
	}
	return p.Tasks.Remaining()
}
