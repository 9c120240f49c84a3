package cli

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
	"ralph/logs/termtext"
	"ralph/runner/task"
	"ralph/runner/task/store"
	"ralph/state/view"
)

// newStateCmds returns the verbs that give a task another state. They differ by a row: the state.
func newStateCmds(f *cmdline.Factory) []*cobra.Command {
	var all []*cobra.Command
	for _, v := range []struct {
		name, short string
		state       task.State
	}{
		{"done", "Mark tasks as done", task.Done},
		{"reopen", "Open tasks again", task.Open},
		{"block", "Keep a run from working on tasks", task.Blocked},
		{"drop", "Drop tasks, so that they no longer have to be done", task.Dropped},
	} {
		why := ""
		cmd := &cobra.Command{
			Use: v.name + " ID...", Short: v.short, Args: cmdline.Takes("the ids of tasks", cobra.MinimumNArgs(1)),
			Example: "  ralph task " + v.name + " T7",
			RunE: func(_ *cobra.Command, args []string) error {
				return taskEach(f, args, func(p *plan, t task.Task) error { return p.set(t, v.state, why) })
			},
		}
		if v.state == task.Blocked {
			cmd.Flags().StringVar(&why, "reason", "", "`WHY`, for people; ralph task show prints it.")
			cmd.Example += " --reason 'waits for the design'"
		}
		all = append(all, cmd)
	}
	return all
}

// set gives a task another state.
func (p *plan) set(t task.Task, s task.State, why string) error {
	why = withoutControls(termtext.Unwrap(why))
	err := store.Set(p.file(), t, s)
	if errors.Is(err, task.ErrNoWord) {
		return cmdline.UsageError("%s plans cannot mark a task as %s; the plan was not changed", p.Format, s)
	}
	if err != nil {
		return failed(err)
	}
	now := t
	now.State, now.Word = s, ""
	p.Say("%s: %s -> %s%s", cmdline.Shorten(t.Title), t.State, s, view.Prefix(": ", cmdline.Shorten(why)))
	if s == task.Dropped || s == task.Blocked {
		p.sayWaiting(t)
	}
	return p.recordWhy(&t, &now, why)
}

// sayWaiting names the open tasks that depend on one that nobody will work on.
func (p *plan) sayWaiting(on task.Task) {
	var waiting []string
	for _, t := range p.Tasks {
		if t.Pending() && slices.Contains(t.DependsOn, on.ID) {
			waiting = append(waiting, t.ID)
		}
	}
	if len(waiting) > 0 {
		p.Warn(fmt.Sprintf("tasks that depend on %s cannot start now: %s", on.ID, termtext.Some(waiting, 5)))
	}
}
