package cli

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
	"ralph/cmd/internal/preflight"
	"ralph/runner/hooks"
	"ralph/state"
	"ralph/state/view"
)

type hooksOptions struct {
	*cmdline.Factory
	flags map[string]string
}

// newHooksCmd returns ralph hooks.
func newHooksCmd(f *cmdline.Factory) *cobra.Command {
	o := &hooksOptions{Factory: f, flags: map[string]string{}}
	cmd := &cobra.Command{
		Use: "hooks", Short: "Show the programs that run at points of a run, or try them", Args: cmdline.NoArgs,
		Long: "Show the hooks of this project: programs of yours that ralph runs at points of a run. " +
			"docs/hooks.md describes them.",
		Example: "  ralph hooks\n  ralph hooks test pre_task",
		RunE:    func(*cobra.Command, []string) error { return hooksRun(o) },
	}
	cmdline.AddHiddenOptions(cmd, f, o.flags)
	test := &cobra.Command{
		Use: "test POINT", Short: "Run the hooks of a point with sample data",
		Args: cmdline.Takes("one point", cobra.ExactArgs(1)),
		Long: "Run the hooks of a point with sample data, in the sandbox if SANDBOX names one, and show what follows.\n\n" +
			"Exit code 0: no hook failed; 1: a hook failed; 2: the point has no hooks.",
		Example:           "  ralph hooks test pre_task",
		ValidArgsFunction: completePoints,
		RunE:              func(_ *cobra.Command, args []string) error { return hooksTest(o, args[0]) },
	}
	cmdline.AddHiddenOptions(test, f, o.flags)
	cmd.AddCommand(test)
	return cmd
}

func completePoints(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	var names []string
	for _, p := range hooks.Points() {
		names = append(names, string(p.Point)+"\t"+p.When)
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

func hooksRun(o *hooksOptions) error {
	p, _, err := preflight.Open(o.Factory, o.flags)
	if err != nil {
		return err
	}
	all := p.Config.Hooks()
	if len(all) == 0 {
		o.Say("no hooks; points are:")
	}
	w := tabwriter.NewWriter(o.Out, 0, 4, 2, ' ', 0)
	for _, point := range hooks.Points() {
		if len(all) == 0 {
			fmt.Fprintf(w, "  %s\t%s\n", point.Point, point.When)
		}
		for _, h := range all {
			if h.Point == point.Point {
				fmt.Fprintf(w, "%s\t%s\n", h.Point, cmdline.Inert(h.Describe()))
			}
		}
	}
	return w.Flush()
}

func hooksTest(o *hooksOptions, name string) error {
	point, err := hooks.Find(name)
	if err != nil {
		return cmdline.UsageError("%v", err)
	}
	p, loader, err := preflight.Open(o.Factory, o.flags)
	if err != nil {
		return err
	}
	if err := o.Trust(loader); err != nil {
		return err
	}
	settings, err := p.Sandbox(p.Dir)
	if err != nil {
		return err
	}
	_ = p.FindPlan() // one that cannot be used matters to no hook
	_ = p.FindAgents()
	sig := cmdline.HandleSignals(o.In)
	defer sig.Stop()
	failed := false
	set := hooks.Set{Hooks: p.Config.Hooks(), Dir: p.Dir, Plan: p.Plan, Env: o.Env, Filter: p.Config.EnvFilter(),
		Sandbox: settings, Kill: sig.Kill, Responder: p.Config.Responder(p.Find), Emit: func(said state.Payload) {
			h, is := said.(state.Hook)
			failed = failed || h.Failed != ""
			if !is {
				return
			}
			o.Say("%s", cmdline.Inert(h.Command))
			for _, line := range view.Lines(state.Event{Data: h}, view.LineOptions{}) {
				o.Say("  %s", line.Text)
			}
		}}
	if !set.Has(point.Point) {
		return cmdline.UsageError("no hook runs at %s; configure one as HOOK_%s or in config.yaml", name,
			strings.ToUpper(name))
	}
	v := set.At(sig.Ctx, point.Point, func() hooks.Facts { return hooks.Sample(point) })
	switch {
	case v.Abort:
		o.Say("a run would end: %s", v.Why)
	case v.Skip:
		o.Say("the task would be put aside: %s", v.Why)
	case v.Block:
		o.Say("this would not happen: %s", point.Veto)
	}
	for _, note := range v.Notes {
		o.Say("the next prompt would say: %s", note)
	}
	if failed {
		return &cmdline.ExitError{Code: state.ExitError}
	}
	return nil
}
