package cli

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
	"ralph/cmd/internal/preflight"
	"ralph/cmd/internal/resume"
	"ralph/config"
	"ralph/runner/rules"
	"ralph/state"
	"ralph/state/view"
)

// controlCommands ask a running ralph for something.
func (a *app) controlCommands() []*cobra.Command {
	var verbs []*cobra.Command
	for _, row := range []struct {
		request state.Request
		help    string
	}{
		{state.RequestPause, "Pause the run after its current iteration"},
		{state.RequestSkip, "End the current iteration and take the next task; the skipped one comes last"},
		{state.RequestStop, "End the run after its current iteration (exit code 130)"},
		{state.RequestAbort, "End the run and its agent now (exit code 130)"},
	} {
		verbs = append(verbs, &cobra.Command{
			Use: string(row.request), Short: row.help, Args: cmdline.NoArgs, Example: "  ralph " + string(row.request),
			RunE: func(*cobra.Command, []string) error {
				r, dir, err := a.Reader()
				if err != nil {
					return err
				}
				owner, alive := r.Owner()
				if !alive {
					text := fmt.Sprintf("no ralph is running in %q; see: ralph status", dir)
					return &cmdline.ExitError{Code: rules.ExitError, Text: text}
				}
				return a.send(r, owner, row.request)
			},
		})
	}
	return verbs
}

func (a *app) send(r *state.Reader, owner state.Owner, q state.Request) error {
	if err := state.Send(r.Dir(), q); err != nil {
		return err
	}
	a.Say("asked run %s (pid %d) to %s", owner.RunID, owner.PID, q)
	return nil
}

func (a *app) resumeCommand() *cobra.Command {
	var unfinished bool
	cmd := &cobra.Command{
		Use: "resume", Short: "End a pause or a wait; if nothing runs, resume the last run", Args: cmdline.NoArgs,
		Example: "  ralph resume",
		RunE:    func(*cobra.Command, []string) error { return a.resume(unfinished) },
	}
	cmd.Flags().BoolVar(&unfinished, "unfinished", false,
		"resume only an interrupted run: one that was killed, or ended by SIGTERM or SIGHUP as in a reboot")
	return cmd
}

// resume ends a pause or continues the last run. With unfinished, it leaves alone
// what a person paused or ended.
func (a *app) resume(unfinished bool) error {
	r, _, err := a.Reader()
	if err != nil {
		return err
	}
	if owner, alive := r.Owner(); alive {
		if unfinished {
			return &state.LockedError{Owner: owner}
		}
		return a.send(r, owner, state.RequestResume)
	}
	last, err := r.Status()
	if err != nil {
		return err
	}
	why := resume.Finished(last)
	switch {
	case unfinished && why != "":
		a.Say("nothing to resume: %s", why)
		return nil
	case last.RunID == "":
		return cmdline.UsageError("nothing to resume: %s; start a run with: ralph", why)
	}
	dir := filepath.Dir(r.Dir())
	run, err := resume.Find(a.Loader(dir, nil), r, last.RunID)
	if err != nil {
		return err
	}
	f := *a.Factory
	f.Env = resume.SetEnv(f.Env, run.Settings)
	if last.Status == state.StatusCompleted {
		open := openTasks(f.Loader(dir, run.Options))
		if open == 0 {
			a.Say("%s", why)
			return nil
		}
		a.Say("run %s was complete; the plan has %s again", last.RunID, view.Plural(open, "open task"))
	}
	return runRun(&runOptions{
		app: &app{&f}, options: run.Options, output: "text", resumed: run.ID, unattended: unfinished,
	})
}

// openTasks counts the open tasks of the plan as it is now: ralph undo may have
// reopened some, or a person added some. An unreadable plan counts as none.
func openTasks(loader config.Loader) int {
	cfg, _, err := loader.Load()
	p := &preflight.Project{Dir: loader.Dir, Config: cfg}
	if err != nil || p.FindPlan() != nil {
		return 0
	}
	list, _ := p.Tasks()
	return list.Remaining()
}
