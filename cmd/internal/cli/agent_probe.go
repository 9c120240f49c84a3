package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
	"ralph/cmd/internal/preflight"
	"ralph/logs"
	"ralph/state"
)

type testOptions struct {
	*cmdline.Factory
	name  string // empty: the configured agent
	model string // empty: the configured model
	yes   bool
}

func newTestCmd(f *cmdline.Factory) *cobra.Command {
	o := &testOptions{Factory: f}
	cmd := &cobra.Command{
		Use: "test [NAME]", Short: "Ask an agent one harmless question; costs one call",
		Args:              cmdline.Takes("at most one name", cobra.MaximumNArgs(1)),
		Example:           "  ralph agent test\n  ralph agent test codex --yes",
		ValidArgsFunction: cmdline.FirstArg(cmdline.CompleteAgents(f)),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				o.name = args[0]
			}
			return testRun(o)
		},
	}
	cmd.Flags().BoolVarP(&o.yes, "yes", "y", false, "Do not ask before the call.")
	cmd.Flags().StringVar(&o.model, "model", "", "`MODEL` to ask for (default: as in a run).")
	return cmd
}

func testRun(o *testOptions) error {
	flags := map[string]string{}
	if o.model != "" {
		flags["MODEL"] = o.model
	}
	p, loader, err := open(o.Factory, flags)
	if err != nil {
		return err
	}
	if o.name == "" {
		o.name = p.Config.Agent
	}
	one, err := p.Find(o.name)
	if err != nil {
		return cmdline.UsageError("%v", err)
	}
	if one.Spec.Name != p.Agent.Spec.Name && o.model == "" {
		p.Config.Model = "" // it is the configured agent's
	}
	if model := p.Config.Model; model != "" && !one.Spec.TakesModel(model) {
		return preflight.NoModel(one.Spec, model)
	}
	if err := o.Trust(loader); err != nil {
		return err
	}
	if err := p.Installed(one); err != nil {
		return err
	}
	o.Say("%s", preflight.Cost(one))
	if !o.yes && !o.CanAsk() {
		return cmdline.UsageError("agent test asks before it makes the call, and there is no terminal; "+
			"agree with: ralph agent test %s --yes", o.name)
	}
	if !o.yes && !o.Agree("Make this call?") {
		return &cmdline.ExitError{Code: state.ExitInterrupted, Text: "no call was made"}
	}
	t, err := p.Ask(o.Factory, one)
	if err != nil {
		return err
	}
	printTrial(o.Factory, t)
	if code := t.Code(); code != state.ExitComplete {
		return &cmdline.ExitError{Code: code, Text: fmt.Sprintf("%s did not answer: %s", o.name,
			t.Scene.Outcome.Reason)}
	}
	o.Say("%s works", o.name)
	return nil
}

func printTrial(f *cmdline.Factory, t preflight.Trial) {
	o := t.Scene.Outcome
	answer := cmdline.Shorten(logs.Redact(t.Result.Call.Final))
	f.Say("class     %s", o.Class)
	f.Say("answer    %s", cmdline.Dash(answer))
	f.Say("session   %s", cmdline.Dash(t.Scene.Session))
	f.Say("took      %s", t.Summary())
	f.Say("why       %s", o.Reason)
	f.Say("record    %s", cmdline.Dash(o.Evidence))
}
