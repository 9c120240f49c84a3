package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
	"ralph/runner/task"
	"ralph/state"
	"ralph/state/act"
)

func newShowCmd(f *cmdline.Factory) *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use: "show ID", Short: "Show a task with its criteria",
		Args:    cmdline.Takes("the id of a task", cobra.ExactArgs(1)),
		Example: "  ralph task show T7",
		RunE:    func(_ *cobra.Command, args []string) error { return showRun(f, args[0], asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "Print JSON for programs.")
	return cmd
}

func showRun(f *cmdline.Factory, id string, asJSON bool) error {
	p, t, err := openTask(f, id)
	if err != nil {
		return err
	}
	r := p.rows([]task.Task{t})[0]
	if asJSON {
		return cmdline.NewEncoder(f.Out).Encode(r)
	}
	s, _ := cmdline.OpenState(p.project.Dir).Status() // without it, nothing is known of its work
	p.show(t, r, s.Tasks[t.ID].Work)
	return nil
}

// show prints what there is to say about a task.
func (p *plan) show(t task.Task, r act.Task, work []state.Work) {
	p.Say("%s", p.line(t, ""))
	for _, field := range []struct{ name, value string }{
		{"id", t.ID}, {"category", t.Category}, {"tags", strings.Join(t.Tags, ", ")},
		{"depends on", strings.Join(t.DependsOn, ", ")},
		{"section", t.Section}, {"judges", strings.Join(t.Judges, ", ")}, {"file", t.File},
		{"created", t.Created}, {"updated", t.Updated},
		{"agent", strings.TrimSpace(r.Agent + " " + r.Model)},
	} {
		if field.value != "" {
			p.Say("%-11s %s", field.name, field.value)
		}
	}
	if r.Why != "" {
		p.Say("%-11s %s", "why", r.Why)
	}
	if r.Attempts > 0 {
		p.Say("%-11s %d", "attempts", r.Attempts)
	}
	for _, w := range work {
		said := fmt.Sprintf("iteration %d of run %s", w.Iteration, w.Run)
		if w.What != "" {
			said += fmt.Sprintf(" (%s: %s)", w.By, cmdline.Shorten(w.What))
		}
		p.Say("%-11s %s", "work", said)
	}
	if t.Done() {
		p.Say("%-11s %s", "proof", r.Proof)
	}
	if t.Description != "" {
		p.Say("\n%s", t.Description)
	}
	for i, c := range t.Criteria {
		if i == 0 {
			p.Say("\nIt is done when:")
		}
		p.Say("- %s", strings.ReplaceAll(c, "\n", "\n  "))
	}
	if t.Notes != "" {
		p.Say("\n%s", t.Notes)
	}
}
