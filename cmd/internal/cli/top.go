package cli

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
	"ralph/monitor"
	"ralph/monitor/top"
)

func newTopCmd(f *cmdline.Factory) *cobra.Command {
	a := &app{f}
	var asJSON bool
	cmd := &cobra.Command{
		Use: "top", Short: "Show all of your active runs; Enter opens one", Args: cmdline.NoArgs,
		Long: "Show the active runs of all your projects on one screen. Enter opens the monitor of the selected run, and q goes back.\n" +
			"Without a terminal, it prints the list once.",
		Example: "  ralph top\n  ralph top --json | jq -r '.[].project'",
		RunE: func(*cobra.Command, []string) error {
			rows := func() []top.Row { return top.Living(a.Loader(a.Dir, nil).Projects(), time.Now()) }
			switch {
			case asJSON:
				enc := cmdline.NewEncoder(a.Out)
				enc.SetIndent("", "  ")
				return enc.Encode(rows())
			case !a.IsTerminal() || !a.CanAsk():
				return a.printTop(rows())
			}
			return a.showTop(rows)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "Print an array of objects.")
	return cmd
}

func (a *app) printTop(rows []top.Row) error {
	if len(rows) == 0 {
		return &cmdline.ExitError{Code: cmdline.NothingHasRun, Text: "no run is alive; start one with: ralph"}
	}
	for _, line := range top.Lines(rows, a.Width(), time.Now()) {
		fmt.Fprintln(a.Out, line)
	}
	return nil
}

// showTop shows the runs until the user quits. Opening one shows its monitor.
func (a *app) showTop(rows func() []top.Row) error {
	sig := cmdline.HandleSignals(a.In)
	defer sig.Stop()
	for dir := ""; ; {
		var err error
		if dir, err = (top.Screen{Rows: rows, On: dir, Now: time.Now}).Run(sig.Ctx); err != nil || dir == "" {
			return err
		}
		project := *a.Factory
		project.Dir = dir
		if err := (&app{&project}).monitor(sig.Ctx, monitor.Options{Dir: dir, Out: a.Out}); err != nil || sig.Ctx.Err() != nil {
			return err
		}
	}
}
