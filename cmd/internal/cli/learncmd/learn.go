// Package learncmd has the verb learn: show and change what earlier iterations learned.
package learncmd

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
	"ralph/cmd/internal/preflight"
	"ralph/runner/git"
	"ralph/runner/lessons"
	"ralph/runner/memory"
	"ralph/state"
)

// NewLearnCmd returns ralph learn.
func NewLearnCmd(f *cmdline.Factory) *cobra.Command {
	cmd := &cobra.Command{Use: "learn", Short: "Show and change what earlier iterations learned", Args: cmdline.NoArgs,
		Long: "Show and change what earlier iterations learned about this project. docs/memory.md describes it.",
		Example: "  ralph learn\n  ralph learn add 'Dates are stored in UTC' --path src/db.go\n" +
			"  ralph learn forget 3fa9c1",
		RunE: func(*cobra.Command, []string) error { return listRun(f) },
	}
	cmd.AddCommand(newAddCmd(f), newProposeCmd(f), newListCmd(f), newForgetCmd(f), newWhyCmd(f))
	return cmd
}

func load(f *cmdline.Factory) (dir string, all []memory.Lesson, err error) {
	if dir, err = f.Project(); err != nil {
		return "", nil, err
	}
	all, err = lessons.Load(dir)
	return dir, all, err
}

// complete completes the ids of lessons.
func complete(f *cmdline.Factory) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) (ids []string, _ cobra.ShellCompDirective) {
		_, all, _ := load(f)
		for _, l := range all {
			ids = append(ids, cobra.CompletionWithDesc(l.ID, cmdline.Inert(l.Text)))
		}
		return ids, cobra.ShellCompDirectiveNoFileComp
	}
}

func find(all []memory.Lesson, id string) (int, error) {
	i := slices.IndexFunc(all, func(l memory.Lesson) bool { return l.ID == id })
	if i < 0 {
		return 0, cmdline.UsageError("no lesson has the id %q; see: ralph learn list", id)
	}
	return i, nil
}

// change does something to the lessons. A run that is alive reads them anew before each turn.
func change(f *cmdline.Factory, do func(dir string, all []memory.Lesson) ([]memory.Lesson, error)) error {
	dir, _, err := load(f)
	if err != nil {
		return err
	}
	if err := f.RefuseAgent(dir, "change what ralph has learned"); err != nil {
		return err
	}
	w, err := f.Lock(filepath.Join(dir, state.DirName), "learn")
	if locked := (*state.LockedError)(nil); err != nil && !errors.As(err, &locked) {
		return err
	}
	if err == nil {
		defer w.Release()
	}
	if err == nil { // else a run is alive, which has done it
		followBranch(f, dir)
	}
	all, err := lessons.Load(dir)
	if err != nil {
		return err
	}
	left, err := do(dir, slices.Clone(all))
	if err != nil {
		return err
	}
	_, err = lessons.Save(dir, all, left)
	f.Wrote(dir, state.LessonsFile)
	return err
}

// followBranch begins with the memory of the branch that is checked out, as a run does.
func followBranch(f *cmdline.Factory, dir string) {
	p, _, err := preflight.Open(f, nil)
	if err != nil {
		return
	}
	_ = p.FindPlan() // without one, the archive gets none
	c, err := git.Inspect(context.Background(), dir)
	if err != nil {
		return
	}
	said, err := p.Config.OnBranch(dir, c.Branch, p.Plan, time.Now())
	if err != nil {
		f.Warn(err)
	}
	if said != "" {
		f.Note("%s", cmdline.Inert(said))
	}
}
