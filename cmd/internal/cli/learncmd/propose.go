package learncmd

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
	"ralph/runner/lessons"
	"ralph/state"
)

type proposeOptions struct {
	*cmdline.Factory
	yes bool
}

func newProposeCmd(f *cmdline.Factory) *cobra.Command {
	o := &proposeOptions{Factory: f}
	cmd := &cobra.Command{Use: "propose", Short: "Propose lessons that many tasks used for AGENTS.md or CLAUDE.md",
		Args: cmdline.NoArgs, Example: "  ralph learn propose",
		Long: "Show the lessons that at least three tasks used, as a change of AGENTS.md or CLAUDE.md in the folder " +
			"they concern, and ask.\nPrompts no longer repeat what you accept.",
		RunE: func(*cobra.Command, []string) error { return proposeRun(o) }}
	cmd.Flags().BoolVar(&o.yes, "yes", false, "Do not ask.")
	return cmd
}

func proposeRun(o *proposeOptions) error {
	dir, all, err := load(o.Factory)
	if err != nil {
		return err
	}
	if err := o.RefuseAgent(dir, "accept a proposal"); err != nil {
		return err
	}
	list, err := lessons.Proposals(dir, all)
	if err != nil {
		return err
	}
	if len(list) == 0 {
		o.Say("nothing to propose: no lesson was used by three tasks yet")
	}
	for _, p := range list {
		for line := range strings.Lines(p.Diff()) {
			o.Say("%s", cmdline.Inert(strings.TrimRight(line, "\n")))
		}
		if !o.yes && !o.CanAsk() {
			return cmdline.UsageError("nobody can be asked here; agree with: ralph learn propose --yes")
		}
		if !o.yes && !o.Agree(fmt.Sprintf("Change %s?", p.Name)) {
			return &cmdline.ExitError{Code: state.ExitError, Text: p.Name + " was not changed"}
		}
		if all, err = lessons.Load(dir); err != nil { // a run may have learned something meanwhile
			return err
		}
		if err := p.Accept(dir, all); err != nil {
			return err
		}
		o.Say("changed %s", p.Name)
	}
	return nil
}
