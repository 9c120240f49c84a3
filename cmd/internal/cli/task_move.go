package cli

import (
	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
	"ralph/runner/task"
	"ralph/runner/task/store"
)

type moveOptions struct {
	*cmdline.Factory
	id, before, after string
	first, last       bool
}

func newMoveCmd(f *cmdline.Factory) *cobra.Command {
	o := &moveOptions{Factory: f}
	cmd := &cobra.Command{
		Use: "move ID", Short: "Move a task to another place in the plan",
		Args:    cmdline.Takes("the id of a task", cobra.ExactArgs(1)),
		Example: "  ralph task move T7 --first\n  ralph task move T7 --after T2",
		RunE: func(_ *cobra.Command, args []string) error {
			o.id = args[0]
			return moveRun(o)
		},
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.StringVar(&o.before, "before", "", "Before the task `ID`.")
	fs.StringVar(&o.after, "after", "", "After the task `ID`.")
	fs.BoolVar(&o.first, "first", false, "Before all others.")
	fs.BoolVar(&o.last, "last", false, "After all others.")
	return cmd
}

func moveRun(o *moveOptions) error {
	given := 0
	for _, is := range []bool{o.before != "", o.after != "", o.first, o.last} {
		if is {
			given++
		}
	}
	if given != 1 {
		return cmdline.UsageError("move needs one of --before ID, --after ID, --first, --last")
	}
	p, t, err := openTask(o.Factory, o.id)
	if err != nil {
		return err
	}
	var other task.Task
	if name := o.before + o.after; name != "" {
		if other, err = p.find(name); err != nil {
			return err
		}
	}
	where := store.First
	switch {
	case o.before != "":
		where = store.Before
	case o.after != "":
		where = store.After
	case o.last:
		where = store.Last
	}
	return p.move(t, where, other)
}

// move moves a task.
func (p *plan) move(t task.Task, where store.Place, other task.Task) error {
	if err := store.Move(p.file(), t, where, other); err != nil {
		return failed(err)
	}
	if err := p.project.FindPlan(); err != nil {
		return err
	}
	list := p.project.Tasks
	next, open := p.next()
	if open {
		p.Say("moved %s; next: %s", cmdline.Shorten(t.Title), cmdline.Shorten(next.Title))
	} else {
		p.Say("moved %s; no task can start", cmdline.Shorten(t.Title))
	}
	now, known := list.Find(t.ID)
	if !known {
		return nil
	}
	return p.record(&t, &now)
}

func newSkipCmd(f *cmdline.Factory) *cobra.Command {
	return &cobra.Command{
		Use: "skip ID...", Short: "Move tasks to the end of the plan",
		Args: cmdline.Takes("the ids of tasks", cobra.MinimumNArgs(1)),
		Long: "Move tasks to the end of the plan. " +
			"To end what an agent is doing right now, use ralph skip.",
		Example: "  ralph task skip T7",
		RunE: func(_ *cobra.Command, args []string) error {
			return taskEach(f, args, func(p *plan, t task.Task) error { return p.move(t, store.Last, task.Task{}) })
		},
	}
}
