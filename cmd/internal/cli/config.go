package cli

import (
	"context"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
	"ralph/cmd/internal/config"
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
	dir, err := f.Project()
	if err != nil {
		return err
	}
	cfg, warnings, err := f.Loader(dir, flags).Load()
	for _, w := range warnings {
		f.Warn(w)
	}
	switch {
	case err != nil:
		return err
	case check:
		p := preflight.New(f, f.Loader(dir, flags), cfg)
		if err := p.FindAgents(); err != nil {
			return err
		}
		_ = p.FindPlan() // an unusable plan is not a mistake of the configuration, nor are tasks that name other agents
		if err := cmdline.UsageErrors(p.Misnamed(true)); err != nil {
			return err
		}
		if _, err := cfg.InTouch(); err != nil {
			return err
		}
		if err := cfg.Located(cfg.Fit(context.Background(), f.Env, dir, cfg.PlanFile)); err != nil {
			return err
		}
		f.Say("the configuration of %s is valid (%s)", dir, termtext.Count(len(warnings), "warning"))
		return nil
	}
	if err := printConfig(f, cfg); err != nil {
		return err
	}
	for _, line := range preflight.New(f, f.Loader(dir, flags), cfg).Detected() {
		f.Say("%s", cmdline.Inert(line))
	}
	return nil
}

// printConfig prints a row for each option, with the value last, so that a long value widens no column.
func printConfig(f *cmdline.Factory, cfg *config.Config) error {
	w := tabwriter.NewWriter(f.Out, 0, 4, 2, ' ', 0)
	for _, row := range cfg.Rows() {
		line := cmdline.Inert(fmt.Sprintf("%s\t%s\t%s", row.Key, row.Source, row.Value))
		fmt.Fprintln(w, strings.TrimRight(line, "\t"))
	}
	return w.Flush()
}
