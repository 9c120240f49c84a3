package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
	"ralph/cmd/internal/preflight"
	"ralph/logs/termtext"
	"ralph/runner/agent/ending"
	"ralph/runner/rules"
	"ralph/state"
)

// newDrillCmd returns ralph drill.
func newDrillCmd(f *cmdline.Factory) *cobra.Command {
	flags := map[string]string{}
	cmd := &cobra.Command{
		Use: "drill [CLASS]", Short: "Replay a recorded agent failure and show what ralph would do",
		Long: "Replay the recorded end of an agent call and show what ralph would do. This calls no agent.\n\n" +
			"Classes:\n  " + strings.Join(classNames(), "\n  "),
		Args:      cmdline.Takes("at most one class", cobra.MaximumNArgs(1)),
		Example:   "  ralph drill usage-limit\n  ralph drill crash --agent codex",
		ValidArgs: classNames(),
		RunE: func(_ *cobra.Command, args []string) error {
			return drillRun(f, strings.Join(args, ""), flags)
		},
	}
	cmdline.AddHiddenOptions(cmd, f, flags)
	return cmd
}

func classNames() []string {
	return termtext.Each(ending.Classes(), func(c ending.Info) string { return string(c.Class) })
}

// drillRun replays a failure of a class; empty: none was given.
func drillRun(f *cmdline.Factory, name string, flags map[string]string) error {
	p, _, err := open(f, flags)
	if err != nil {
		return err
	}
	known := strings.Join(classNames(), ", ")
	switch {
	case name == "":
		return cmdline.UsageError("drill needs a class; known are: %s", known)
	case !slices.Contains(classNames(), name):
		return cmdline.UsageError("unknown class %q, known are: %s", name, known)
	}
	set, class := preflight.DrillSetting{Spec: p.Agent.Spec, Policy: p.Config.Policy, Now: time.Now()}, ending.Class(name)
	for _, other := range p.Config.FallbackAgents { // each counts as available
		if other != set.Spec.Name {
			set.Fallback = cmp.Or(set.Fallback, other)
		}
	}
	r, ok := preflight.FindRecording(class, set.Spec)
	if !ok {
		return &cmdline.ExitError{Code: state.ExitError, Text: fmt.Sprintf(
			"there is no recording of %s by %s", class, set.Spec.Name)}
	}
	scene := preflight.PlayRecording(r, set)
	printScene(f, r, set, scene)
	if scene.Outcome.Class != class {
		return &cmdline.ExitError{Code: state.ExitError, Text: fmt.Sprintf(
			"the recording shows %s, but your configuration reads it as %s: see the patterns of agents.%s",
			class, scene.Outcome.Class, set.Spec.Name)}
	}
	return nil
}

func printScene(f *cmdline.Factory, r preflight.Recording, set preflight.DrillSetting, scene preflight.Scene) {
	o, d := scene.Outcome, scene.Decision
	played := cmdline.Quote(r.Args...)
	if r.Agent != set.Spec.Name {
		played += fmt.Sprintf(" (none by %s; %s prints the same format, %s)", set.Spec.Name, r.Agent, set.Spec.Format)
	}
	f.Say("played    recording %s: %s", r.Name, played)
	f.Say("class     %s", o.Class)
	f.Say("record    %s", cmp.Or(o.Evidence, "-"))
	f.Say("reason    %s", cmp.Or(d.Reason, o.Reason))
	f.Say("rule      %s", d.Rule)
	f.Say("decision  %s", decisionText(d, set.Now))
	f.Say("counts    %s", cmp.Or(strings.Join(scene.Counted, ", "),
		"nothing: no iteration, no attempt of the task, no failure"))
	f.Say("next      %s", cmp.Or(d.Next, "nothing: ralph continues by itself"))
	f.Say("assumes that the call was the first of a run whose plan has open tasks, and ended just now; " +
		"the recording's text keeps its original times")
}

// decisionText says what the run does next, and when.
func decisionText(d rules.Decision, now time.Time) string {
	text := map[state.Action]string{
		state.ActionContinue: "continue with the next iteration",
		state.ActionRetry:    "the same task again",
		state.ActionWait:     "wait until",
		state.ActionStop:     fmt.Sprintf("stop with exit code %d", d.Exit),
	}[d.Action]
	if !d.Until.After(now) {
		return text
	}
	text += map[state.Action]string{state.ActionRetry: " at", state.ActionStop: "; it is over at"}[d.Action]
	at := d.Until.Local().Format("2006-01-02 15:04:05 MST")
	return text + fmt.Sprintf(" %s (in %s)", at, d.Until.Sub(now).Round(time.Second))
}
