package cli

import (
	"context"
	"sync"

	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
	"ralph/cmd/internal/preflight"
	"ralph/logs/termtext"
	"ralph/runner/agent"
	"ralph/state/act"
)

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
	table := [][]string{{"  AGENT", "RUNS", "VERSION", "LOGIN", "MODELS", "PROGRAM", "ABOUT"}}
	for i, r := range rows {
		name, runs, about := "  "+r.Name, "yes", specs[i].About
		if r.Chosen {
			name = "* " + r.Name
		}
		if !r.Runs {
			runs, about = "no", r.Why
		}
		cells := []string{name, runs}
		for _, cell := range []string{r.Version, r.Login, termtext.Some(r.Models, 3), programs[i], about} {
			cells = append(cells, cmdline.Dash(termtext.Line(cell)))
		}
		table = append(table, cells)
	}
	o.Table(table, "PROGRAM", "MODELS", "VERSION")
	o.Say("* is used unless you name another one; all models: ralph agent list --json; to try one: ralph doctor --live --agent NAME")
	return nil
}
