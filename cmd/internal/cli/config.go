package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
	"ralph/cmd/internal/config"
	"ralph/cmd/internal/preflight"
	"ralph/logs/termtext"
	"ralph/runner/agent"
)

type configOptions struct {
	*cmdline.Factory
	check, env bool
	flags      map[string]string
}

// newConfigCmd returns ralph config.
func newConfigCmd(f *cmdline.Factory) *cobra.Command {
	o := &configOptions{Factory: f, flags: map[string]string{}}
	cmd := &cobra.Command{
		Use: "config", Short: "Show every option with its value and source", Args: cmdline.NoArgs,
		Example: "  ralph config\n  ralph config --check\n  ralph config --env",
		RunE:    func(*cobra.Command, []string) error { return configRun(o) },
	}
	cmd.Flags().BoolVar(&o.check, "check", false, "Only validate.")
	cmd.Flags().BoolVar(&o.env, "env", false,
		"Show which variables the agent and the checks get, without their values.")
	cmdline.AddHiddenOptions(cmd, f, o.flags)
	return cmd
}

func configRun(o *configOptions) error {
	if o.check && o.env {
		return cmdline.UsageError("config takes one of --check and --env")
	}
	dir, err := o.Project()
	if err != nil {
		return err
	}
	cfg, warnings, err := o.Loader(dir, o.flags).Load()
	for _, w := range warnings {
		o.Warn(w)
	}
	switch {
	case err != nil:
		return err
	case o.env:
		return printEnv(o.Factory, cfg)
	case o.check:
		if err := checkAgents(preflight.New(o.Factory, o.Loader(dir, o.flags), cfg)); err != nil {
			return err
		}
		if _, err := cfg.InTouch(); err != nil {
			return err
		}
		if err := cfg.Located(cfg.Fit(context.Background(), o.Env, dir, cfg.PlanFile)); err != nil {
			return err
		}
		o.Say("the configuration of %s is valid (%s)", dir, termtext.Count(len(warnings), "warning"))
		return nil
	}
	if err := printConfig(o.Factory, cfg); err != nil {
		return err
	}
	for _, line := range preflight.New(o.Factory, o.Loader(dir, o.flags), cfg).Detected() {
		o.Say("%s", cmdline.Inert(line))
	}
	return nil
}

// checkAgents checks what the options say about agents and models. Tasks that name their
// own need not suit these.
func checkAgents(p *preflight.Project) error {
	if err := p.FindAgents(); err != nil {
		return err
	}
	_ = p.FindPlan() // an unusable plan is not a mistake of the configuration
	return cmdline.UsageErrors(p.Misnamed(true))
}

// printConfig prints a row for each option, the value last: the others must not be padded to the longest.
func printConfig(f *cmdline.Factory, cfg *config.Config) error {
	w := tabwriter.NewWriter(f.Out, 0, 4, 2, ' ', 0)
	for _, row := range cfg.Rows() {
		line := cmdline.Inert(fmt.Sprintf("%s\t%s\t%s", row.Key, row.Source, row.Value))
		fmt.Fprintln(w, strings.TrimRight(line, "\t"))
	}
	return w.Flush()
}

func printEnv(f *cmdline.Factory, cfg *config.Config) error {
	s, err := cfg.Spec(cfg.Agent)
	if err != nil {
		return cmdline.UsageError("%v", cfg.Bad("AGENT", err))
	}
	rows := cfg.EnvFilter().List(s, (&preflight.Project{Env: f.Env, Config: cfg}).EnvRequest())
	all := len(rows)
	if !cfg.Verbose {
		rows = slices.DeleteFunc(rows, func(r agent.EnvRow) bool { return r.Why == "" })
	}
	w := tabwriter.NewWriter(f.Out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "VARIABLE\tAGENT\tCHECKS\tWHY")
	for _, r := range rows {
		line := fmt.Sprintf("%s\t%s\t%s\t%s", cmdline.Inert(r.Name), r.Agent, r.Checks, r.Why)
		fmt.Fprintln(w, strings.TrimRight(line, "\t"))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if others := all - len(rows); others == 1 {
		f.Say("1 other passes to both; -v names it")
	} else if others > 1 {
		f.Say("%d others pass to both; -v names them", others)
	}
	f.Say("the agent is %s; pass a variable to both with ENV_EXCLUDE='!NAME'", s.Name)
	return nil
}
