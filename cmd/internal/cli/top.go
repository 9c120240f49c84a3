package cli

import (
	"time"

	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
	"ralph/monitor"
)

// newTopCmd returns ralph top.
func newTopCmd(f *cmdline.Factory) *cobra.Command {
	return withJSON(&cobra.Command{
		Use: "top", Short: "Show all of your active runs; Enter opens one", Args: cmdline.NoArgs,
		Long: "Show the active runs of all your projects on one screen. Enter opens the monitor of the selected run, and q goes back.\n" +
			"Without a terminal, it prints the list once.",
		Example: "  ralph top\n  ralph top --json | jq -r '.[].project'",
	}, "Print an array of objects.", func(_ []string, asJSON bool) error { return topRun(f, asJSON) })
}

func topRun(f *cmdline.Factory, asJSON bool) error {
	rows := func() []monitor.TopRow { return monitor.Living(f.Loader(f.Dir, nil).Projects(), time.Now()) }
	switch {
	case asJSON:
		return f.JSON(rows())
	case !f.IsTerminal() || !f.CanAsk():
		return printTop(f, rows())
	}
	return showTop(f, rows)
}

func printTop(f *cmdline.Factory, rows []monitor.TopRow) error {
	if len(rows) == 0 {
		return &cmdline.ExitError{Code: cmdline.NothingHasRun, Text: "no run is alive; start one with: ralph"}
	}
	f.Table(monitor.TopCells(rows, f.Width(), time.Now()))
	return nil
}

// showTop shows the runs until the user quits. Opening one shows its monitor.
func showTop(f *cmdline.Factory, rows func() []monitor.TopRow) error {
	sig := cmdline.HandleSignals(f.In)
	defer sig.Stop()
	for dir := ""; ; {
		var err error
		if dir, err = (monitor.TopScreen{Rows: rows, On: dir, Now: time.Now}).Run(sig.Ctx); err != nil || dir == "" {
			return err
		}
		project := *f
		project.Dir = dir
		if err := watch(sig.Ctx, &project, monitor.Options{Dir: dir, Out: f.Out}); err != nil || sig.Ctx.Err() != nil {
			return err
		}
	}
}
