package cli

import (
	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
	"ralph/cmd/internal/preflight"
	"ralph/state"
)

type useOptions struct {
	*cmdline.Factory
	name, model string
}

func newUseCmd(f *cmdline.Factory) *cobra.Command {
	o := &useOptions{Factory: f}
	cmd := &cobra.Command{
		Use: "use NAME", Short: "Choose the agent or model for the rest of the run",
		Long: "Choose the agent or model for the rest of the run, from the next turn on. Without --model the agent uses its own\n" +
			"default. An agent or model that the plan names still wins.",
		Args:              cmdline.Takes("one name", cobra.ExactArgs(1)),
		Example:           "  ralph agent use codex\n  ralph agent use claude --model opus",
		ValidArgsFunction: cmdline.FirstArg(cmdline.CompleteAgents(f)),
		RunE: func(_ *cobra.Command, args []string) error {
			o.name = args[0]
			return useRun(o)
		},
	}
	cmd.Flags().StringVar(&o.model, "model", "", "`MODEL` to ask for (default: the agent's own).")
	return cmd
}

func useRun(o *useOptions) error {
	p, loader, err := open(o.Factory, nil)
	if err != nil {
		return err
	}
	one, err := p.Find(o.name)
	switch {
	case err != nil:
		return cmdline.UsageError("%v", err)
	case o.model != "" && !one.Spec.TakesModel(o.model):
		return preflight.NoModel(one.Spec, o.model)
	}
	if err := o.Trust(loader); err != nil {
		return err
	}
	if err := p.Installed(one); err != nil {
		return err
	}
	r := cmdline.OpenState(p.Dir)
	owner, alive := r.Owner()
	if !alive {
		return cmdline.UsageError("no ralph is running in %q; start one with: ralph --agent %s", p.Dir, one.Spec.Name)
	}
	if err := state.Use(r.Dir(), state.AgentUse{Run: owner.RunID, Agent: one.Spec.Name, Model: o.model}); err != nil {
		return err
	}
	o.Wrote(p.Dir, state.UseFile)
	with := "its own default model"
	if o.model != "" {
		with = "model " + o.model
	}
	o.Say("from the next turn of run %s on: %s with %s", owner.RunID, one.Spec.Name, with)
	if p.FindRunPlan() == nil && p.Named() {
		o.Warn("the plan names the agent of every open task; that still counts")
	}
	return nil
}
