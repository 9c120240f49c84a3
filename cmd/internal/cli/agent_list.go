package cli

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"text/tabwriter"

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
	names := make([]string, len(specs))
	for i, spec := range specs {
		names[i] = spec.Name
	}
	found, err := look(ctx, p, names, untrusted != nil)
	if err != nil {
		return err
	}
	if o.json {
		return asJSON(o.Factory, names, found, p.Config.Agent)
	}
	w := tabwriter.NewWriter(o.Out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "  AGENT\tRUNS\tVERSION\tLOGIN\tMODELS\tPROGRAM\tFROM\tABOUT")
	for i, spec := range specs {
		h, mark, runs, from, about := found[i], " ", "yes", "built in", spec.About
		if spec.Name == p.Config.Agent {
			mark = "*"
		}
		if h.Why != "" {
			runs, about = "no", h.Why
		}
		if at := p.Config.AgentSource(spec.Name); at.Kind != "" {
			from = at.Where
		}
		cells := []string{mark + " " + spec.Name, runs, h.Version, h.login, termtext.Some(h.models, 3), h.Path, from,
			about}
		for i, cell := range cells {
			cells[i] = cmdline.Dash(termtext.Line(cell))
		}
		cells[0] = mark + " " + spec.Name
		fmt.Fprintln(w, strings.TrimSuffix(strings.Join(cells, "\t"), "\t-"))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	o.Say("* is used unless you name another one; all models: ralph agent list --json; to try one: ralph doctor --live --agent NAME")
	return nil
}

// listed is what is known about an agent without calling it.
type listed struct {
	preflight.Health
	login  string
	models []string
}

// look finds out about all agents at the same time. It runs nothing of an untrusted project.
func look(ctx context.Context, p *preflight.Project, names []string, untrusted bool) ([]listed, error) {
	found := make([]listed, len(names))
	ctx, cancel := context.WithTimeout(ctx, preflight.VersionBound)
	defer cancel()
	var wg sync.WaitGroup
	defer wg.Wait()
	for i, name := range names {
		one, err := p.Find(name)
		if err != nil {
			return nil, err
		}
		wg.Go(func() {
			h := p.Probe(ctx, one, untrusted)
			found[i] = listed{Health: h}
			if h.Askable && h.Why == "" {
				found[i].login = p.Login(ctx, one)
				found[i].models = p.Models(ctx, one)
			}
		})
	}
	return found, nil
}

// asJSON prints the agents as JSON.
func asJSON(f *cmdline.Factory, names []string, found []listed, chosen string) error {
	rows := []act.Agent{}
	for i, name := range names {
		h := found[i]
		models := []string{}
		for _, m := range h.models {
			models = append(models, termtext.Line(m))
		}
		rows = append(rows,
			act.Agent{Name: name, Runs: h.Why == "", Why: h.Why, Chosen: name == chosen, Version: h.Version,
				Login: h.login, Models: models})
	}
	return cmdline.NewEncoder(f.Out).Encode(rows)
}
