package cli

import (
	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
	"ralph/runner/task"
)

type nextOptions struct {
	*cmdline.Factory
	json bool
}

func newNextCmd(f *cmdline.Factory) *cobra.Command {
	o := &nextOptions{Factory: f}
	cmd := &cobra.Command{
		Use: "next", Short: "Show the task that comes next", Args: cmdline.NoArgs, Example: "  ralph task next",
		RunE: func(*cobra.Command, []string) error { return nextRun(o) },
	}
	cmd.Flags().BoolVar(&o.json, "json", false, "Print JSON for programs.")
	return cmd
}

func nextRun(o *nextOptions) error {
	p, err := taskOpen(o.Factory)
	if err != nil {
		return err
	}
	t, ok := p.next()
	switch {
	case o.json && !ok:
		return cmdline.NewEncoder(o.Out).Encode(nil)
	case o.json:
		return cmdline.NewEncoder(o.Out).Encode(p.rows([]task.Task{t})[0])
	case ok:
		o.Say("%s", p.line(t, ""))
	case p.Remaining() > 0:
		o.Say("none: each open task was put aside, or waits for a person or for another; see: ralph task list")
	default:
		o.Say("none: nothing is open")
	}
	return nil
}
