package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
	"ralph/logs/termtext"
	"ralph/state"
	"ralph/state/view"
)

type iterationsOptions struct {
	pastOptions
	json bool
}

// newIterationsCmd returns ralph iterations.
func newIterationsCmd(f *cmdline.Factory) *cobra.Command {
	o := &iterationsOptions{pastOptions: pastOptions{Factory: f}}
	cmd := &cobra.Command{
		Use: "iterations [N]", Short: "List the iterations of a run",
		Args:    cmdline.Takes("one iteration at most", cobra.MaximumNArgs(1)),
		Example: "  ralph iterations\n  ralph iterations 2    # only this one; ralph diff 2 shows its changes\n  ralph iterations --json",
		RunE: func(cmd *cobra.Command, args []string) error {
			return iterationsRun(cmd.Context(), o, strings.Join(args, ""))
		},
	}
	cmd.Flags().BoolVar(&o.json, "json", false, "Print an array of objects.")
	o.flag(cmd)
	return cmd
}

// iterationsRun lists one iteration; empty: all.
func iterationsRun(ctx context.Context, o *iterationsOptions, number string) error {
	p, err := o.read(ctx)
	if err != nil {
		return err
	}
	rows := p.rows()
	if number != "" {
		n, err := p.number(number)
		if err != nil {
			return err
		}
		rows = slices.DeleteFunc(rows, func(row view.Iteration) bool { return row.Number != n })
		if len(rows) == 0 {
			return cmdline.UsageError("%s", p.lacks(n))
		}
	}
	if o.json {
		return o.JSON(rows)
	}
	o.Say("run %s", p.run)
	table := [][]string{{"N", "TASK", "ENDED", "CHECKS", "FOUND", "FILES", "COST", "STATE", "OUTCOME"}}
	for _, row := range rows {
		ended, kept := "running", "-"
		switch {
		case !row.Ended.IsZero():
			ended = row.Ended.Local().Format("Jan 2 15:04:05")
		case row.CutOff:
			ended = "cut off"
		}
		if row.State != "" {
			kept = row.State[:10]
		}
		table = append(table, []string{fmt.Sprint(row.Number), termtext.Fit(oneLine(row.Task), 40), ended,
			checkText(row.Checks), fmt.Sprint(len(row.Findings)), fmt.Sprint(row.Files), cost(row.CostUSD), kept,
			oneLine(outcome(row))})
		var more []string
		if row.Failed != "" {
			more = append(more, row.Failed)
		}
		for _, said := range state.VerdictLines(row.Verdicts) {
			more = append(more, "verdict of "+said)
		}
		for _, edit := range row.Edits {
			more = append(more, "a person edited the plan: "+edit)
		}
		for _, line := range more {
			table = append(table, append(make([]string, 8), termtext.Line(line)))
		}
	}
	o.Table(table, "STATE", "FILES", "COST", "FOUND", "ENDED", "CHECKS")
	return nil
}

// cost is an amount in US dollars; unknown where the agent reports none.
func cost(usd float64) string {
	if usd == 0 {
		return "unknown"
	}
	return fmt.Sprintf("%.2f", usd)
}

// outcome says what became of the task. For a call that did not end well, it adds the class.
func outcome(row view.Iteration) string {
	class := row.Outcome
	if class == view.CompletedTurn {
		class = view.Trouble(row.Says)
	}
	switch {
	case row.Undone:
		return "undone by ralph undo"
	case row.Cut == string(state.RequestSkip):
		return "skipped"
	case row.Cut != "":
		return "aborted"
	case row.Ended.IsZero():
		return "-"
	case row.TaskDone:
		return view.Join(", ", "done", class)
	case row.Role != "":
		return view.Join(", ", "reviewed", class)
	case row.TaskID != "":
		return view.Join(", ", "not done", class)
	}
	return row.Outcome
}

// checkText names the failed checks.
func checkText(checks map[string]bool) string {
	var failed []string
	for name, passed := range checks {
		if !passed {
			failed = append(failed, name)
		}
	}
	slices.Sort(failed)
	switch {
	case len(checks) == 0:
		return "-"
	case len(failed) == 0:
		return fmt.Sprintf("%d passed", len(checks))
	}
	return cmdline.Inert("failed: " + strings.Join(failed, ", "))
}

// oneLine is the first line of a text, for a cell.
func oneLine(s string) string { return cmdline.Shorten(termtext.FirstLine(s)) }
