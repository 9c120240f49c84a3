package cli

import (
	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
	"ralph/runner/task"
)

func newNextCmd(f *cmdline.Factory) *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use: "next", Short: "Show the task that comes next", Args: cmdline.NoArgs, Example: "  ralph task next",
		RunE: func(*cobra.Command, []string) error { return nextRun(f, asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "Print JSON for programs.")
	return cmd
}

func nextRun(f *cmdline.Factory, asJSON bool) error {
	p, err := taskOpen(f)
	if err != nil {
		return err
	}
	t, ok := p.next()
	switch {
	case asJSON && !ok:
		return cmdline.NewEncoder(f.Out).Encode(nil)
	case asJSON:
		return cmdline.NewEncoder(f.Out).Encode(p.rows([]task.Task{t})[0])
	case ok:
		f.Say("%s", p.line(t, ""))
	case p.Remaining() > 0:
		f.Say("none: each open task was put aside, or waits for a person or for another; see: ralph task list")
	default:
		f.Say("none: nothing is open")
	}
	return nil
}
