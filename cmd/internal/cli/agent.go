package cli

import (
	"cmp"
	"context"
	"sync"

	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
	"ralph/cmd/internal/config"
	"ralph/cmd/internal/preflight"
	"ralph/logs/termtext"
	"ralph/runner/agent"
	"ralph/state"
	"ralph/state/act"
)

// open reads the project, and finds its agents.
func open(f *cmdline.Factory, flags map[string]string) (*preflight.Project, config.Loader, error) {
	p, loader, err := preflight.Open(f, flags)
	if err == nil {
		err = p.FindAgents()
	}
	return p, loader, err
}

// newAgentCmd returns the verb with its subcommands.
func newAgentCmd(f *cmdline.Factory) *cobra.Command {
	cmd := &cobra.Command{
		Use: "agent", Short: "List and choose agents",
		Long: "List and choose agents. The agent text is any program that reads the prompt from standard input and prints text;\n" +
			"AGENT_CMD names it. docs/options.md describes agents of your own.",
		Example: "  AGENT=text AGENT_CMD='my-agent --yes' ralph\n  ralph agent list",
		RunE:    cmdline.Parent,
	}
	cmd.AddCommand(newListCmd(f), newUseCmd(f))
	return cmd
}

type listOptions struct {
	*cmdline.Factory
	json bool
}

func newListCmd(f *cmdline.Factory) *cobra.Command {
	o := &listOptions{Factory: f}
	cmd := &cobra.Command{
		Use: "list", Short: "Show every agent: whether it is installed and logged in, its version, its models",
		Args: cmdline.NoArgs,
		Long: "Show every agent: whether it is installed and logged in, its version, its models. This makes no call.\n\n" +
			"LOGIN is yes; no; key: a variable holds a key, but ralph has not tried it; ?: ralph cannot tell without a call.",
		Example: "  ralph agent list",
		RunE:    func(cmd *cobra.Command, _ []string) error { return listRun(cmd.Context(), o) },
	}
	cmd.Flags().BoolVar(&o.json, "json", false, "Print JSON for programs.")
	return cmd
}

// listRun finds out about all agents at the same time. It runs nothing of an untrusted project.
func listRun(ctx context.Context, o *listOptions) error {
	p, loader, err := open(o.Factory, nil)
	if err != nil {
		return err
	}
	untrusted, err := loader.Untrusted()
	if err != nil {
		return err
	}
	specs := append(agent.Specs(), p.Config.Agents()...)
	rows, programs := make([]act.Agent, len(specs)), make([]string, len(specs))
	ctx, cancel := context.WithTimeout(ctx, preflight.VersionBound)
	defer cancel()
	var wg sync.WaitGroup
	for i, spec := range specs {
		wg.Go(func() {
			one, _ := p.Find(spec.Name) // every listed one is known
			h := p.Probe(ctx, one, len(untrusted) > 0)
			r := act.Agent{Name: spec.Name, Runs: h.Why == "", Why: h.Why, Chosen: spec.Name == p.Config.Agent,
				Version: h.Version, Models: []string{}}
			if h.Askable && r.Runs {
				r.Login = p.Login(ctx, one)
				for _, m := range p.Models(ctx, one) {
					r.Models = append(r.Models, termtext.Line(m))
				}
			}
			rows[i], programs[i] = r, h.Path
		})
	}
	wg.Wait()
	if o.json {
		return cmdline.NewEncoder(o.Out).Encode(rows)
	}
	table := [][]string{{"  AGENT", "RUNS", "VERSION", "LOGIN", "MODELS", "PROGRAM", "FROM", "ABOUT"}}
	for i, r := range rows {
		name, runs, about := "  "+r.Name, "yes", specs[i].About
		from := cmp.Or(p.Config.AgentSource(r.Name).Where, "built in")
		if r.Chosen {
			name = "* " + r.Name
		}
		if !r.Runs {
			runs, about = "no", r.Why
		}
		cells := []string{name, runs}
		for _, cell := range []string{r.Version, r.Login, termtext.Some(r.Models, 3), programs[i], from, about} {
			cells = append(cells, cmdline.Dash(termtext.Line(cell)))
		}
		table = append(table, cells)
	}
	o.Table(table, "FROM", "PROGRAM", "MODELS", "VERSION")
	o.Say("* is used unless you name another one; all models: ralph agent list --json; to try one: ralph doctor --live --agent NAME")
	return nil
}

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
