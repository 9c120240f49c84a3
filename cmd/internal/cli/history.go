package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
	"ralph/cmd/internal/preflight"
	"ralph/logs/termtext"
	"ralph/runner/git"
	"ralph/runner/git/history"
	"ralph/runner/rules"
	"ralph/state/view"
	"ralph/state/view/summary"
)

// historyCommands show what the iterations of a run changed, and undo it.
func (a *app) historyCommands() []*cobra.Command {
	var run string
	var asJSON, yes, stat bool
	iterations := &cobra.Command{
		Use: "iterations", Short: "List the iterations of a run: outcome, checks, findings, files, cost, kept state", Args: cmdline.NoArgs,
		Example: "  ralph iterations\n  ralph iterations --json",
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.iterations(cmd.Context(), run, asJSON) },
	}
	iterations.Flags().BoolVar(&asJSON, "json", false, "print an array of objects")
	diff := &cobra.Command{
		Use: "diff [A..B|N]", Short: "Show what iteration N changed, or what changed from the end of A to the end of B",
		Args: cmdline.Takes("at most one iteration or range", cobra.MaximumNArgs(1)),
		Long: "Show, as a patch, what iteration N changed, or what changed from the end of iteration A to the end of B.\n" +
			"Without an argument: the last iteration. A of 0 is the start of the run.",
		Example:           "  ralph diff         # of the last iteration\n  ralph diff 3\n  ralph diff 2..5 --stat",
		ValidArgsFunction: cmdline.FirstArg(a.completeIterations),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.diff(cmd.Context(), run, strings.Join(args, ""), stat)
		},
	}
	diff.Flags().BoolVar(&stat, "stat", false, "show only the changed files and the number of lines")
	undo := &cobra.Command{
		Use: "undo N", Short: "Undo what iteration N changed, as a new commit, after asking",
		Args: cmdline.Takes("one iteration", cobra.ExactArgs(1)),
		Long: "Undo what iteration N changed. If its files are committed, this creates a new commit; otherwise it changes\n" +
			"the work tree. The box of its task in the plan is opened again. Nothing else changes. An iteration whose\n" +
			"changes conflict with later ones is refused.",
		Example:           "  ralph undo 3",
		ValidArgsFunction: cmdline.FirstArg(a.completeIterations),
		RunE:              func(cmd *cobra.Command, args []string) error { return a.undo(cmd.Context(), run, args[0], yes) },
	}
	undo.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	bisect := &cobra.Command{
		Use: "bisect CHECK | -- COMMAND...", Short: "Find the iteration that broke a check",
		Args: cmdline.Takes("the name of a check, or a command after --", cobra.MinimumNArgs(1)),
		Long: "Find the iteration that broke a check: the lint, build or test command of the project, or any command after --.\n" +
			"It runs in temporary copies of the kept states; your files stay unchanged.",
		Example:           "  ralph bisect test\n  ralph bisect -- go test ./pkg/...",
		ValidArgsFunction: cmdline.FirstArg(a.completeChecks),
		RunE:              func(cmd *cobra.Command, args []string) error { return a.bisect(run, args, cmd.ArgsLenAtDash()) },
	}
	all := []*cobra.Command{iterations, diff, undo, bisect}
	for _, c := range all {
		c.Flags().StringVar(&run, "run", "", "the `ID` of the run (default: the last one)")
		_ = c.RegisterFlagCompletionFunc("run", a.completeRuns) // fails only for an unknown flag
	}
	return all
}

// past is what git and the events remember of one run.
type past struct {
	run, dir string
	kept     []history.Kept // states of the run, oldest first
	last     history.Kept   // the latest state of all runs
	rows     []view.Iteration
}

func (a *app) past(ctx context.Context, run string) (*past, error) {
	r, dir, err := a.Reader()
	if err != nil {
		return nil, err
	}
	all, err := history.List(ctx, dir, "")
	if err != nil {
		return nil, err
	}
	p := &past{run: run, dir: dir}
	if len(all) > 0 {
		p.last = all[len(all)-1]
	}
	if p.run == "" {
		status, _ := r.Status()
		p.run = cmp.Or(status.RunID, p.last.Run)
	}
	for _, k := range all {
		if k.Run == p.run && !k.Undone {
			p.kept = append(p.kept, k)
		}
	}
	undone, err := history.Undone(ctx, dir, p.run, all)
	if err != nil {
		return nil, err
	}
	owner, alive := r.Owner()
	told, err := view.ReadRun(r, p.run, alive && (owner.RunID == "" || owner.RunID == p.run))
	if err != nil {
		return nil, err
	}
	p.join(told.Iterations, undone)
	if p.run == "" || len(p.kept) == 0 && len(p.rows) == 0 {
		return nil, &cmdline.ExitError{Code: rules.ExitError, Text: "no iterations are known here; see: ralph status"}
	}
	return p, nil
}

// join sets rows. Events win over kept states, which also cover iterations whose
// events are gone or have no end.
func (p *past) join(rows []view.Iteration, undone map[int]bool) {
	for _, k := range p.kept {
		if k.Start {
			continue
		}
		i := slices.IndexFunc(rows, func(row view.Iteration) bool { return row.Number == k.Iteration })
		if i < 0 {
			i = len(rows)
			rows = append(rows, view.Iteration{Run: k.Run, Number: k.Iteration, Task: k.Task})
		}
		row := &rows[i]
		if row.Ended.IsZero() && !k.Time.IsZero() {
			row.Ended, row.CutOff, row.Outcome, row.Rule, row.Checks = k.Time, false, k.Outcome, k.Rule, k.Checks
			row.Files, row.Usage.CostUSD, row.CostUSD = k.Files, k.CostUSD, k.CostUSD
		}
		row.State, row.LeftOut = k.OID, k.LeftOut
	}
	for i := range rows {
		row := &rows[i]
		row.Undone = undone[row.Number]
		if row.Checks == nil {
			row.Checks = map[string]bool{} // an object in JSON, never null
		}
		if row.Findings == nil {
			row.Findings = []string{}
		}
	}
	slices.SortFunc(rows, func(x, y view.Iteration) int { return x.Number - y.Number })
	p.rows = rows
}

func (a *app) iterations(ctx context.Context, run string, asJSON bool) error {
	p, err := a.past(ctx, run)
	if err != nil {
		return err
	}
	if asJSON {
		enc := json.NewEncoder(a.Out)
		enc.SetIndent("", "  ")
		return enc.Encode(p.rows)
	}
	a.Say("run %s", p.run)
	_, err = io.WriteString(a.Out, summary.Table(p.rows))
	return err
}

// end returns the kept state at the end of an iteration, or for "0" the one at the
// start of the run.
func (p *past) end(text string) (history.Kept, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return history.Kept{}, cmdline.UsageError("%q is not the number of an iteration; see: ralph iterations", text)
	}
	for _, k := range p.kept {
		switch {
		case k.Iteration == n && !k.Start, n == 0 && k.Start:
			return k, nil
		case n == 0 && k.Base != "":
			return history.Kept{OID: k.Base, State: git.State{Run: k.Run, Start: true}}, nil
		}
	}
	return history.Kept{}, cmdline.UsageError("no state of iteration %d of run %s is kept; see: ralph iterations", n, p.run)
}

func (a *app) diff(ctx context.Context, run, arg string, stat bool) error {
	p, err := a.past(ctx, run)
	if err != nil {
		return err
	}
	if arg == "" && len(p.kept) > 0 {
		arg = strconv.Itoa(p.kept[len(p.kept)-1].Iteration)
	}
	first, second, isRange := strings.Cut(arg, "..")
	to, err := p.end(first)
	if err != nil {
		return err
	}
	from := to.Base
	if isRange {
		from = to.OID
		if to, err = p.end(second); err != nil {
			return err
		}
	}
	if from == "" {
		return cmdline.UsageError("the state before iteration %s is not known", first)
	}
	var options []string
	if stat {
		options = append(options, "--stat")
	}
	patch, err := history.Diff(ctx, p.dir, [2]string{from, to.OID}, options...)
	if err != nil {
		return err
	}
	if a.IsTerminal() {
		patch = termtext.Clean(patch) // a program gets every byte
	}
	_, err = io.WriteString(a.Out, patch)
	return err
}

// task returns the title of iteration k's task, or its id if the title is unknown.
func (p *past) task(k history.Kept) string {
	i := slices.IndexFunc(p.rows, func(row view.Iteration) bool { return row.Number == k.Iteration })
	return cmdline.Brief(cmp.Or(p.rows[i].Task, k.Task))
}

const newestFirst = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder

// kept lists the states that can be diffed or undone, newest first.
func (a *app) kept(cmd *cobra.Command) []history.Kept {
	dir, err := a.Project()
	if err != nil {
		return nil
	}
	all, _ := history.List(cmd.Context(), dir, "") // without a list there is nothing to complete
	all = slices.DeleteFunc(all, func(k history.Kept) bool { return k.Start || k.Undone })
	slices.Reverse(all)
	return all
}

func (a *app) completeRuns(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	var ids []string
	for _, k := range a.kept(cmd) {
		ids = append(ids, k.Run)
	}
	return slices.Compact(ids), newestFirst
}

func (a *app) completeIterations(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	run, _ := cmd.Flags().GetString("run")
	var numbers []string
	for _, k := range a.kept(cmd) {
		if run == "" {
			run = k.Run
		}
		if k.Run == run {
			numbers = append(numbers, cobra.CompletionWithDesc(strconv.Itoa(k.Iteration), cmdline.Brief(k.Task)))
		}
	}
	return numbers, newestFirst
}

func (a *app) completeChecks(*cobra.Command, []string, string) (names []string, _ cobra.ShellCompDirective) {
	if p, _, err := preflight.Open(a.Factory, nil); err == nil {
		for _, c := range p.AllChecks() {
			names = append(names, cobra.CompletionWithDesc(c.Name, termtext.Line(c.Reproduce())))
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
