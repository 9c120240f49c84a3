package cli

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
	"ralph/monitor"
)

type topOptions struct {
	*cmdline.Factory
	json bool
}

// newTopCmd returns ralph top.
func newTopCmd(f *cmdline.Factory) *cobra.Command {
	o := &topOptions{Factory: f}
	cmd := &cobra.Command{
		Use: "top", Short: "Show all of your active runs; Enter opens one", Args: cmdline.NoArgs,
		Long: "Show the active runs of all your projects on one screen. Enter opens the monitor of the selected run, and q goes back.\n" +
			"Without a terminal, it prints the list once.",
		Example: "  ralph top\n  ralph top --json | jq -r '.[].project'",
		RunE:    func(*cobra.Command, []string) error { return topRun(o) },
	}
	cmd.Flags().BoolVar(&o.json, "json", false, "Print an array of objects.")
	return cmd
}

func topRun(o *topOptions) error {
	rows := func() []monitor.TopRow { return monitor.Living(o.Loader(o.Dir, nil).Projects(), time.Now()) }
	switch {
	case o.json:
		return o.JSON(rows())
	case !o.IsTerminal() || !o.CanAsk():
		return o.print(rows())
	}
	return o.show(rows)
}

func (o *topOptions) print(rows []monitor.TopRow) error {
	if len(rows) == 0 {
		return &cmdline.ExitError{Code: cmdline.NothingHasRun, Text: "no run is alive; start one with: ralph"}
	}
	for _, line := range monitor.TopLines(rows, o.Width(), time.Now()) {
		fmt.Fprintln(o.Out, line)
	}
	return nil
}

// show shows the runs until the user quits. Opening one shows its monitor.
func (o *topOptions) show(rows func() []monitor.TopRow) error {
	sig := cmdline.HandleSignals(o.In)
	defer sig.Stop()
	for dir := ""; ; {
		var err error
		if dir, err = (monitor.TopScreen{Rows: rows, On: dir, Now: time.Now}).Run(sig.Ctx); err != nil || dir == "" {
			return err
		}
		project := *o.Factory
		project.Dir = dir
		if err := watch(sig.Ctx, &project, monitor.Options{Dir: dir, Out: o.Out}); err != nil || sig.Ctx.Err() != nil {
			return err
		}
	}
}
