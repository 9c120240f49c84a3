package cli

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
	"ralph/logs/termtext"
	"ralph/state"
	"ralph/state/view/summary"
)

// control makes a verb that asks a running ralph for something. Resume, which can also start one, is another.
// instead says when another verb is the right one.
func control(q state.Request, short, instead string) func(*cmdline.Factory) *cobra.Command {
	return func(f *cmdline.Factory) *cobra.Command {
		c := &cobra.Command{
			Use: string(q), Short: short, Long: short + ". " + instead, Args: cmdline.NoArgs, Example: "  ralph " + string(q),
			RunE: func(_ *cobra.Command, task []string) error { return controlRun(f, q, task...) },
		}
		if q != state.RequestStop {
			c.Use, c.Args = c.Use+" [TASK]", cmdline.Takes("one task at most", cobra.MaximumNArgs(1))
			c.Example += fmt.Sprintf("\n  ralph %s T3    # only this one of the tasks that run side by side", q)
		}
		return c
	}
}

func controlRun(f *cmdline.Factory, q state.Request, task ...string) error {
	r, dir, err := f.Reader()
	if err != nil {
		return err
	}
	owner, alive := r.Owner()
	if !alive {
		return cmdline.UsageError("no ralph is running in %q, so there is nothing to %s; see: ralph status", dir, q)
	}
	if len(task) == 0 {
		return send(f, r, owner, q)
	}
	s, err := r.Status()
	if err != nil {
		return err
	}
	running := termtext.Each(s.Slots, func(slot state.SlotStatus) string { return slot.TaskID })
	switch {
	case len(running) == 0:
		return cmdline.UsageError("no tasks run side by side, so %s takes no task; leave %q out", q, task[0])
	case !slices.Contains(running, task[0]):
		return cmdline.UsageError("task %q is not running; running tasks: %s", task[0], termtext.Some(running, 10))
	}
	if err := state.Send(r.Dir(), markAgent(f, r, q).About(task[0])); err != nil {
		return err
	}
	f.Say("asked run %s to %s task %s", s.RunID, q, task[0])
	return nil
}

// markAgent marks a request that an agent makes.
func markAgent(f *cmdline.Factory, r *state.Reader, q state.Request) state.Request {
	if f.Inside(filepath.Dir(r.Dir())) != "" {
		return q.OfAgent()
	}
	return q
}

func send(f *cmdline.Factory, r *state.Reader, owner state.Owner, q state.Request) error {
	if err := state.Send(r.Dir(), markAgent(f, r, q)); err != nil {
		return err
	}
	effect := ""
	if s, err := r.Status(); err == nil {
		effect = summary.Effect(q, s)
	}
	f.Say("asked run %s (pid %d) to %s%s", owner.RunID, owner.PID, q, effect)
	return nil
}
