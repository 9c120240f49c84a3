// Package agentcmd has the verb agent: list, choose, add and test agents.
package agentcmd

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
	"ralph/cmd/internal/preflight"
	"ralph/logs/termtext"
	"ralph/runner/agent"
)

// NewAgentCmd returns the verb with its subcommands.
func NewAgentCmd(f *cmdline.Factory) *cobra.Command {
	cmd := &cobra.Command{
		Use: "agent", Short: "List, choose, add and test agents",
		Long: "List, choose, add and test agents. The agent text is any program that reads the prompt from standard input and prints text;\n" +
			"AGENT_CMD names it.",
		Example: "  AGENT=text AGENT_CMD='my-agent --yes' ralph\n  ralph agent list\n  ralph agent test codex",
		RunE:    cmdline.Parent,
	}
	cmd.AddCommand(newListCmd(f), newModelsCmd(f), newUseCmd(f), newAddCmd(f), newTestCmd(f))
	return cmd
}

func newListCmd(f *cmdline.Factory) *cobra.Command {
	machine := false
	cmd := &cobra.Command{
		Use: "list", Short: "Show every agent: whether it is installed and logged in, its version, its models",
		Args: cmdline.NoArgs,
		Long: "Show every agent: whether it is installed and logged in, its version, its models. This makes no call.\n\n" +
			"LOGIN is yes; no; key: a variable holds a key, but ralph has not tried it; ?: ralph cannot tell without a call.",
		Example: "  ralph agent list",
		RunE:    func(cmd *cobra.Command, _ []string) error { return listRun(cmd.Context(), f, machine) },
	}
	cmd.Flags().BoolVar(&machine, "json", false, "Print JSON for programs.")
	return cmd
}

func listRun(ctx context.Context, f *cmdline.Factory, machine bool) error {
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
	names := make([]string, len(specs))
	for i, spec := range specs {
		names[i] = spec.Name
	}
	found, err := looker{p, untrusted != nil, loader.StateHome()}.at(ctx, names)
	if err != nil {
		return err
	}
	if machine {
		return asJSON(f, names, found, p.Config.Agent)
	}
	w := tabwriter.NewWriter(f.Out, 0, 4, 2, ' ', 0)
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
			cells[i] = cmdline.Dash(cmdline.OneLine(cmdline.Inert(cell)))
		}
		cells[0] = mark + " " + spec.Name
		fmt.Fprintln(w, strings.TrimSuffix(strings.Join(cells, "\t"), "\t-"))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	f.Say("* is used unless you name another one; to see all models of an agent: ralph agent models NAME")
	return nil
}

func newModelsCmd(f *cmdline.Factory) *cobra.Command {
	return &cobra.Command{
		Use: "models [NAME]", Short: "Print the models of an agent, one per line",
		Args: cmdline.Takes("at most one name", cobra.MaximumNArgs(1)),
		Long: "Print the models of an agent, one per line: those that its program lists (at most a day old), or else\n" +
			"those that its documentation names. An agent may accept others, too.",
		Example:           "  ralph agent models opencode",
		ValidArgsFunction: cmdline.FirstArg(cmdline.CompleteAgents(f)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return modelsRun(cmd.Context(), f, strings.Join(args, ""))
		},
	}
}

func modelsRun(ctx context.Context, f *cmdline.Factory, name string) error {
	p, loader, err := preflight.Open(f, nil)
	if err == nil {
		err = p.FindAgents()
	}
	if err != nil {
		return err
	}
	one, err := p.Find(cmp.Or(name, p.Config.Agent))
	if err != nil {
		return cmdline.UsageError("%v", err)
	}
	if err := f.Trust(loader); err != nil { //nolint:contextcheck // it asks for parents of this process, in milliseconds
		return err
	}
	names := p.Models(ctx, one, loader.StateHome())
	for _, model := range names {
		f.Say("%s", model)
	}
	if len(names) == 0 {
		f.Warn(fmt.Sprintf("the models of %s are not known; any name is passed on to it", one.Spec.Name))
	}
	return nil
}
