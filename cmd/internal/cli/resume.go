package cli

import (
	"path/filepath"

	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
	"ralph/cmd/internal/preflight"
	"ralph/cmd/internal/resume"
	"ralph/state"
)

type resumeOptions struct {
	*cmdline.Factory
	unfinished bool // leave alone a run that did not end by accident
}

func newResumeCmd(f *cmdline.Factory) *cobra.Command {
	o := &resumeOptions{Factory: f}
	cmd := &cobra.Command{
		Use: "resume", Short: "End a pause or a wait; if nothing runs, continue the last run", Args: cmdline.NoArgs,
		Example: "  ralph resume",
		RunE:    func(*cobra.Command, []string) error { return resumeRun(o) },
	}
	cmd.Flags().BoolVar(&o.unfinished, "unfinished", false,
		"only continue an interrupted run: one that was killed, or ended by SIGTERM or SIGHUP as in a reboot")
	return cmd
}

func resumeRun(o *resumeOptions) error {
	r, _, err := o.Reader()
	if err != nil {
		return err
	}
	if owner, alive := r.Owner(); alive {
		if o.unfinished { // whoever paused it did not ask to end the pause
			return &state.LockedError{Owner: owner}
		}
		return send(o.Factory, r, owner, state.RequestResume)
	}
	last, err := r.Status()
	if err != nil {
		return err
	}
	ending, why := last.Ending(), resume.Finished(last)
	switch {
	case o.unfinished && why != "":
		o.Say("nothing to resume: %s", why)
		return nil
	case ending == state.EndingNone:
		return cmdline.UsageError("nothing to resume: %s; start a run with: ralph", why)
	}
	dir := filepath.Dir(r.Dir())
	run, err := resume.Find(o.Loader(dir, nil), r, last.RunID)
	if err != nil {
		return err
	}
	f := *o.Factory
	f.Env = resume.SetEnv(f.Env, run.Settings)
	if ending == state.EndingComplete {
		open := openTasks(&f, dir, run.Options)
		if open == 0 {
			o.Say("%s", why)
			return nil
		}
		o.Say("run %s was complete; the plan has %s again", last.RunID, cmdline.Count(open, "open task"))
	}
	return runRun(&runOptions{
		Factory: &f, options: run.Options, output: "text", resumed: run.ID, unattended: o.unfinished,
	})
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
	list, err := p.Tasks()
	if err != nil {
		return 0
	}
	return list.Remaining()
}
