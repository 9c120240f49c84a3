// Package agentcmd is ralph agent: list, add and test agents.
package agentcmd

import (
	"context"
	"fmt"
	"sync"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
	"ralph/cmd/internal/preflight"
	"ralph/runner/agent"
)

// NewAgentCmd returns the verb with its subcommands.
func NewAgentCmd(f *cmdline.Factory) *cobra.Command {
	cmd := &cobra.Command{
		Use: "agent", Short: "List, add and test agents",
		Example: "  ralph agent list\n  ralph agent test codex",
		RunE:    cmdline.Parent,
	}
	cmd.AddCommand(newListCmd(f), newAddCmd(f), newTestCmd(f))
	return cmd
}

func newListCmd(f *cmdline.Factory) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "Show every agent: its program, its version, and whether it can run", Args: cmdline.NoArgs,
		Example: "  ralph agent list",
		RunE:    func(cmd *cobra.Command, _ []string) error { return listRun(cmd.Context(), f) },
	}
}

func listRun(ctx context.Context, f *cmdline.Factory) error {
	p, loader, err := preflight.Open(f, nil)
	if err == nil {
		err = p.FindAgents()
	}
	if err != nil {
		return err
	}
	untrusted, err := loader.Untrusted()
	if err != nil {
		return err
	}
	specs := append(agent.Specs(), p.Config.Agents()...)
	found := make([]preflight.Health, len(specs))
	ctx, cancel := context.WithTimeout(ctx, preflight.VersionBound)
	defer cancel()
	var wg sync.WaitGroup
	for i, spec := range specs {
		one, err := p.Find(spec.Name)
		if err != nil {
			return err
		}
		wg.Go(func() { found[i] = p.Probe(ctx, one, untrusted != nil) })
	}
	wg.Wait()
	w := tabwriter.NewWriter(f.Out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "  AGENT\tRUNS\tVERSION\tPROGRAM\tFROM\tWHY NOT")
	for i, spec := range specs {
		h, mark, runs, from := found[i], " ", "yes", "built in"
		if spec.Name == p.Config.Agent {
			mark = "*"
		}
		if h.Why != "" {
			runs = "no"
		}
		if at := p.Config.AgentSource(spec.Name); at.Kind != "" {
			from = at.Where
		}
		version, path := cmdline.Dash(h.Version), cmdline.Dash(h.Path)
		fmt.Fprintf(w, "%s %s\t%s\t%s\t%s\t%s\t%s\n", mark, spec.Name, runs, version, path, from, h.Why)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	f.Say("* is the configured agent; test one with: ralph agent test NAME")
	return nil
}
