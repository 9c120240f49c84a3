package cli

import (
	"context"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
	"ralph/cmd/internal/preflight"
	"ralph/logs/termtext"
)

// newConfigCmd returns ralph config.
func newConfigCmd(f *cmdline.Factory) *cobra.Command {
	check, flags := false, map[string]string{}
	cmd := &cobra.Command{
		Use: "config", Short: "Show every option with its value and source", Args: cmdline.NoArgs,
		Example: "  ralph config\n  ralph config --check",
		RunE:    func(*cobra.Command, []string) error { return configRun(f, flags, check) },
	}
	cmd.Flags().BoolVar(&check, "check", false, "Only validate.")
	cmdline.AddHiddenOptions(cmd, f, flags)
	return cmd
}

func configRun(f *cmdline.Factory, flags map[string]string, check bool) error {
	p, loader, err := preflight.Open(f, flags)
	if err != nil {
		return err
	}
	if check {
		if err := p.FindAgents(); err != nil {
			return err
		}
		_ = p.FindPlan() // an unusable plan is not a mistake of the configuration, nor are tasks that name other agents
		if err := cmdline.UsageErrors(p.Misnamed(true)); err != nil {
			return err
		}
		if _, err := p.Config.InTouch(); err != nil {
			return err
		}
		if err := p.Config.Located(p.Config.Fit(context.Background(), f.Env, p.Dir, p.Config.PlanFile)); err != nil {
			return err
		}
		_, warnings, _ := loader.Load() // they were shown above
		f.Say("the configuration of %s is valid (%s)", p.Dir, termtext.Count(len(warnings), "warning"))
		return nil
	}
	w := tabwriter.NewWriter(f.Out, 0, 4, 2, ' ', 0)
	for _, row := range p.Config.Rows() { // the value last, so that a long one widens no column
		line := cmdline.Inert(fmt.Sprintf("%s\t%s\t%s", row.Key, row.Source, row.Value))
		fmt.Fprintln(w, strings.TrimRight(line, "\t"))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, line := range p.Detected() {
		f.Say("%s", cmdline.Inert(line))
	}
	return nil
}
