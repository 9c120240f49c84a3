package cli

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
	"ralph/cmd/internal/preflight"
	"ralph/logs"
	"ralph/runner/git"
	"ralph/runner/memory"
	"ralph/state"
)

// newLearnCmd returns ralph learn.
func newLearnCmd(f *cmdline.Factory) *cobra.Command {
	cmd := &cobra.Command{Use: "learn", Short: "Show and change what earlier iterations learned", Args: cmdline.NoArgs,
		Long: "Show and change what earlier iterations learned about this project. docs/memory.md describes it.",
		Example: "  ralph learn\n  ralph learn add 'src/db.go stores dates in UTC'\n" +
			"  ralph learn forget 3fa9c1",
		RunE: func(*cobra.Command, []string) error { return learnListRun(f) },
	}
	cmd.AddCommand(
		&cobra.Command{Use: "add TEXT", Short: "Add a lesson", Args: cmdline.Takes("a text", cobra.MinimumNArgs(1)),
			Example: "  ralph learn add 'Run npm run gen after changing the schema'",
			RunE:    func(_ *cobra.Command, args []string) error { return learnAddRun(f, strings.Join(args, " ")) }},
		&cobra.Command{Use: "list", Short: "List all lessons", Args: cmdline.NoArgs, Example: "  ralph learn list",
			RunE: func(*cobra.Command, []string) error { return learnListRun(f) }},
		&cobra.Command{Use: "forget ID...", Short: "Forget lessons",
			Args:    cmdline.Takes("the ids of lessons", cobra.MinimumNArgs(1)),
			Example: "  ralph learn forget 3fa9c1",
			RunE:    func(_ *cobra.Command, args []string) error { return forgetRun(f, args) }})
	return cmd
}

func learnListRun(f *cmdline.Factory) error {
	dir, err := f.Project()
	if err != nil {
		return err
	}
	all, err := memory.Load(dir)
	if err != nil {
		return err
	}
	if len(all) == 0 {
		f.Say("nothing was learned yet")
	}
	for _, l := range memory.Newest(all) {
		f.Say("%s  %s", l.ID, cmdline.Inert(l.Text))
	}
	return nil
}

func learnAddRun(f *cmdline.Factory, text string) error {
	l := memory.New(logs.Redact(text), time.Now())
	if l.Text == "" {
		return cmdline.UsageError("the lesson is empty")
	}
	return change(f, func(all []memory.Lesson) ([]memory.Lesson, error) {
		n := len(all)
		all, l = memory.Add(all, l)
		if len(all) == n {
			f.Say("%s says so already: %s", l.ID, l.Text)
			return all, nil
		}
		f.Say("added %s", l.ID)
		if why := memory.Refuse(l.Text); why != "" {
			f.Note("kept because a person says it; from an agent it would not be: %s", why)
		}
		return all, nil
	})
}

func forgetRun(f *cmdline.Factory, ids []string) error {
	return change(f, func(all []memory.Lesson) ([]memory.Lesson, error) {
		for _, id := range ids {
			i := slices.IndexFunc(all, func(l memory.Lesson) bool { return l.ID == id })
			if i < 0 {
				return nil, cmdline.UsageError("no lesson has the id %q; see: ralph learn list", id)
			}
			f.Say("forgot %s  %s", all[i].ID, cmdline.Inert(all[i].Text))
			all = slices.Delete(all, i, i+1)
		}
		return all, nil
	})
}

// change does something to the lessons. A run that is alive reads them anew before each turn.
func change(f *cmdline.Factory, do func(all []memory.Lesson) ([]memory.Lesson, error)) error {
	r, dir, err := f.AsPerson("change what ralph has learned")
	if err != nil {
		return err
	}
	w, err := f.Lock(r.Dir(), "learn")
	if locked := (*state.LockedError)(nil); err != nil && !errors.As(err, &locked) {
		return err
	}
	if err == nil { // else a run is alive, which has followed the branch
		defer w.Release()
		followBranch(f, dir)
	}
	all, err := memory.Load(dir)
	if err != nil {
		return err
	}
	left, err := do(slices.Clone(all))
	if err != nil {
		return err
	}
	_, err = memory.Save(dir, all, left)
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
	ctx := context.Background()
	if c, err := git.Inspect(ctx, dir); err == nil {
		onBranch(ctx, f, p, c.Branch)
	}
}
