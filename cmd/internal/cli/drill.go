package cli

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"ralph/cmd/internal/drill"
	"ralph/runner/agent"
	"ralph/runner/rules"
)

func (a *app) drillCommand() *cobra.Command {
	var every bool
	values := map[string]string{}
	cmd := &cobra.Command{
		Use: "drill [CLASS]", Short: "Play a recorded end of an agent, and show what ralph would do about it; calls no one", Args: takes("one class at most", cobra.MaximumNArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error { return a.drill(args, values, every) },
	}
	addOptions(cmd.Flags(), values)
	cmd.Flags().BoolVar(&every, "all", false, "a table of every class and agent; with --agent only that one")
	return cmd
}

func classNames() []string {
	var names []string
	for _, c := range agent.Classes() {
		names = append(names, string(c.Class))
	}
	return names
}

func (a *app) drill(args []string, flags map[string]string, every bool) error {
	s, _, err := a.configured(flags)
	if err != nil {
		return err
	}
	if every {
		if len(args) > 0 {
			return usageError("drill takes a class or --all, not both")
		}
		return a.drillAll(s, flags["AGENT"] != "")
	}
	if len(args) == 0 {
		return usageError("drill needs a class or --all; known are: %s", strings.Join(classNames(), ", "))
	}
	if !slices.Contains(classNames(), args[0]) {
		return usageError("unknown class %q, known are: %s", args[0], strings.Join(classNames(), ", "))
	}
	set := s.drillSetting(s.agent.Spec, time.Now())
	class := agent.Class(args[0])
	r, ok := drill.Find(class, set.Spec)
	if !ok {
		return &exitError{rules.ExitError, fmt.Sprintf("there is no recording of %s by %s, and its end cannot be staged; see what there is with: ralph drill --all", class, set.Spec.Name)}
	}
	scene := drill.Play(r, set)
	a.printDrill(r, set, scene)
	if scene.Outcome.Class != class {
		return &exitError{rules.ExitError, fmt.Sprintf("the recording is one of %s, and your configuration reads it as %s: see the patterns of agents.%s", class, scene.Outcome.Class, set.Spec.Name)}
	}
	return nil
}

// drillSetting is the user's own configuration; every fallback counts as free.
func (s *setup) drillSetting(spec agent.Spec, now time.Time) drill.Setting {
	set := drill.Setting{Spec: spec, Options: s.cfg.Options, Now: now}
	for _, name := range s.cfg.FallbackAgents {
		if name != spec.Name {
			set.Fallback = name
			break
		}
	}
	return set
}

func (a *app) printDrill(r drill.Recording, set drill.Setting, scene drill.Scene) {
	o, d := scene.Outcome, scene.Decision
	played := quoteArgs(r.Args)
	if r.Agent != set.Spec.Name {
		played += fmt.Sprintf(" (there is none of %s; %s prints the same format, %s)", set.Spec.Name, r.Agent, set.Spec.Format)
	}
	a.say("played    recording %s: %s", r.Name, played)
	if staged := r.Staged(); staged != "" {
		a.say("staged    %s", staged)
	}
	a.say("class     %s", o.Class)
	a.say("record    %s", orDash(inert(o.Evidence)))
	reason := o.Reason
	if d.Reason != "" {
		reason = d.Reason
	}
	a.say("reason    %s", inert(reason))
	a.say("rule      %s", d.Rule)
	a.say("decision  %s", decisionText(d, set.Now))
	counts := "nothing: it costs no iteration, no attempt of the task and no breaker count"
	if len(scene.Counted) > 0 {
		counts = strings.Join(scene.Counted, ", ")
	}
	a.say("counts    %s", counts)
	a.say("next      %s", drillNext(d))
	a.say("assumed: the first call of a run whose plan has open tasks, ended just now; times in the recording's own text are from its day")
}

// decisionText says what the loop does and until when.
func decisionText(d rules.Decision, now time.Time) string {
	text := map[rules.Action]string{
		rules.ActionContinue: "go on with the next iteration",
		rules.ActionRetry:    "the same task again",
		rules.ActionWait:     "wait until",
		rules.ActionStop:     fmt.Sprintf("stop with exit code %d", d.Exit),
	}[d.Action]
	if !d.Until.After(now) {
		return text
	}
	text += map[rules.Action]string{rules.ActionRetry: " at", rules.ActionStop: "; it is over at"}[d.Action]
	return text + fmt.Sprintf(" %s (in %s)", d.Until.Local().Format("2006-01-02 15:04:05 MST"), d.Until.Sub(now).Round(time.Second))
}

func drillNext(d rules.Decision) string {
	if d.Next != "" {
		return d.Next
	}
	return "nothing: ralph goes on by itself"
}

// drillAll prints class x agent. A cell is the answer; a class in it is what the
// configuration reads where the recording is another one.
func (a *app) drillAll(s *setup, only bool) error {
	specs := append(agent.Specs(), s.cfg.Agents()...)
	if only {
		specs = []agent.Spec{s.agent.Spec}
	}
	now := time.Now()
	right, all := 0, 0
	w := tabwriter.NewWriter(a.out, 0, 4, 2, ' ', 0)
	fmt.Fprint(w, "CLASS")
	for _, spec := range specs {
		fmt.Fprint(w, "\t", spec.Name)
	}
	fmt.Fprintln(w, "\tCOUNTS")
	for _, c := range agent.Classes() {
		fmt.Fprint(w, c.Class)
		counts := ""
		for _, spec := range specs {
			r, ok := drill.Find(c.Class, spec)
			if !ok {
				fmt.Fprint(w, "\t-")
				continue
			}
			all++
			scene := drill.Play(r, s.drillSetting(spec, now))
			if scene.Outcome.Class != c.Class {
				fmt.Fprintf(w, "\t! %s", scene.Outcome.Class)
				continue
			}
			right++
			if counts == "" {
				counts = countsText(scene)
			}
			fmt.Fprintf(w, "\t%s", cellText(scene.Decision, now))
		}
		fmt.Fprintf(w, "\t%s\n", orDash(counts))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	a.say("%d of %d recordings are read as what they are; - is no recording; times are from now on; one in full: ralph drill CLASS --agent NAME", right, all)
	if right != all {
		return &exitError{rules.ExitError, "your configuration reads recordings as another class, marked with !: see the patterns under agents in config.yaml"}
	}
	return nil
}

// cellText is a decision in two words.
func cellText(d rules.Decision, now time.Time) string {
	wait := ""
	if d.Until.After(now) {
		wait = " " + short(d.Until.Sub(now))
	}
	switch d.Action {
	case rules.ActionContinue:
		return "go on"
	case rules.ActionStop:
		return fmt.Sprintf("stop %d", d.Exit)
	}
	return string(d.Action) + wait
}

// short is a duration in its two largest units.
func short(d time.Duration) string {
	switch {
	case d >= 24*time.Hour:
		return fmt.Sprintf("%dd%dh", int(d.Hours())/24, int(d.Hours())%24)
	case d >= time.Hour:
		return fmt.Sprintf("%dh%dm", int(d.Hours()), int(d.Minutes())%60)
	case d >= time.Minute:
		return fmt.Sprintf("%dm%ds", int(d.Minutes()), int(d.Seconds())%60)
	}
	return d.Round(time.Second).String()
}

// countsText is what a call costs, without the numbers.
func countsText(s drill.Scene) string {
	if len(s.Counted) == 0 {
		return "nothing"
	}
	text := "iteration"
	if slices.ContainsFunc(s.Counted, func(c string) bool { return strings.HasPrefix(c, "breaker") }) {
		text += ", breaker"
	}
	return text
}
