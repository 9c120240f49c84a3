// Package historycmd has the verbs that show past iterations and undo them:
// iterations, diff, undo, bisect, report, runs.
package historycmd

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
	"ralph/runner/git"
	"ralph/runner/git/history"
	"ralph/state"
	"ralph/state/view"
)

// verbs is the factory, as receiver of all of them.
type verbs struct{ *cmdline.Factory }

// NewCmds returns ralph iterations, diff, undo, bisect, report and runs.
func NewCmds(f *cmdline.Factory) []*cobra.Command {
	a := &verbs{f}
	var run string
	var asJSON, yes, stat bool
	iterations := &cobra.Command{
		Use: "iterations", Short: "List the iterations of a run: outcome, checks, findings, files, cost, kept state",
		Args:    cmdline.NoArgs,
		Example: "  ralph iterations\n  ralph iterations --json",
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.iterations(cmd.Context(), run, asJSON) },
	}
	iterations.Flags().BoolVar(&asJSON, "json", false, "Print an array of objects.")
	diff := &cobra.Command{
		Use: "diff [N|A..B|TASK]", Short: "Show what an iteration, a range of them or a task changed",
		Args: cmdline.Takes("at most one iteration, range or task", cobra.MaximumNArgs(1)),
		Long: "Show as a patch what iteration N changed, what changed between the end of iteration A and the end of B, or what each\n" +
			"iteration of a task changed. Without an argument, show the last iteration. If A is 0, it means the start of the run.",
		Example: "  ralph diff         # of the last iteration\n  ralph diff 3\n  ralph diff 2..5 --stat\n  ralph diff T4      # of all iterations of task T4",
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.diff(cmd.Context(), run, strings.Join(args, ""), stat)
		},
	}
	diff.Flags().BoolVar(&stat, "stat", false, "Show only the names of the files, and how many lines changed.")
	undo := &cobra.Command{
		Use: "undo N|TASK", Short: "Undo what an iteration or a task changed, with a new commit; asks first",
		Args: cmdline.Takes("one iteration or task", cobra.ExactArgs(1)),
		Long: "Undo what iteration N changed, or what all iterations of a task changed: with a new commit if the files are as in HEAD,\n" +
			"otherwise in your work tree. In the plan, this opens the box of the task again, and changes nothing else. If ralph\n" +
			"cannot undo the change cleanly, it refuses and changes nothing.",
		Example: "  ralph undo 3\n  ralph undo T4",
		RunE:    func(cmd *cobra.Command, args []string) error { return a.undo(cmd.Context(), run, args[0], yes) },
	}
	undo.Flags().BoolVarP(&yes, "yes", "y", false, "Do not ask.")
	bisect := &cobra.Command{
		Use: "bisect CHECK | -- COMMAND...", Short: "Find the iteration that broke a check",
		Args: cmdline.Takes("the name of a check, or a command after --", cobra.MinimumNArgs(1)),
		Long: "Find the iteration that broke a check: the lint, build or test command of the project, or any command after --.\n" +
			"The command runs in copies of the kept states below your cache folder, in the sandbox if SANDBOX names one. Your files\n" +
			"stay as they are.",
		Example: "  ralph bisect test\n  ralph bisect -- go test ./pkg/...",
		RunE:    func(cmd *cobra.Command, args []string) error { return a.bisect(run, args, cmd.ArgsLenAtDash()) },
	}
	undo.GroupID, bisect.GroupID = cmdline.GroupGoBack, cmdline.GroupGoBack
	all := []*cobra.Command{iterations, diff, undo, bisect}
	for _, c := range all {
		c.Flags().StringVar(&run, "run", "", "The `ID` of the run (default: the last one).")
	}
	addCompletions(f, all)
	return append(all, a.reportCommand(), a.runsCommand())
}

// past is what is known of one run.
type past struct {
	run, dir string
	kept     []history.Kept // of the run, oldest first
	last     history.Kept   // of all runs
	undone   map[int]bool
	events   []view.Iteration
}

func (a *verbs) past(ctx context.Context, run string) (*past, error) {
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
		status, err := r.Status()
		if p.run = status.RunID; p.run == "" || err != nil {
			p.run = p.last.Run
		}
	}
	for _, k := range all {
		if k.Run == p.run && !k.Undone {
			p.kept = append(p.kept, k)
		}
	}
	if p.undone, err = history.Undone(ctx, dir, p.run, all); err != nil {
		return nil, err
	}
	owner, alive := r.Owner()
	told, err := view.ReadRun(r, p.run, alive && (owner.RunID == "" || owner.RunID == p.run))
	if err != nil {
		return nil, err
	}
	p.events = told.Iterations
	if run != "" && len(p.kept) == 0 && len(p.events) == 0 {
		return nil, cmdline.UsageError("no iterations of run %q are known here; see: ralph runs", run)
	}
	if p.run == "" || len(p.kept) == 0 && len(p.events) == 0 {
		return nil, &cmdline.ExitError{Code: cmdline.NothingHasRun, Text: "no iterations are known here; see: ralph status"}
	}
	return p, nil
}

// rows joins events and kept states. If both know a fact, the event counts. Only
// kept states know iterations whose events are gone or have no end.
func (p *past) rows() []view.Iteration {
	all, index := append([]view.Iteration{}, p.events...), map[int]int{} // never null in JSON
	for i := range all {
		index[all[i].Number] = i
	}
	for _, k := range p.kept {
		if k.Start {
			continue
		}
		i, known := index[k.Iteration]
		if !known {
			i = len(all)
			all = append(all, view.Iteration{Run: k.Run, Number: k.Iteration, Task: k.Task})
		}
		row := &all[i]
		if row.Ended.IsZero() && !k.Time.IsZero() {
			row.Ended, row.CutOff, row.Outcome, row.Rule, row.Checks = k.Time, false, k.Outcome, k.Rule, k.Checks
			row.Files, row.Usage.CostUSD, row.CostUSD = k.Files, k.CostUSD, k.CostUSD
		}
		row.State, row.LeftOut = k.OID, k.LeftOut
	}
	for i := range all {
		row := &all[i]
		row.Undone = p.undone[row.Number]
		if row.Checks == nil {
			row.Checks = map[string]bool{} // in JSON an object, never null
		}
		if row.Findings == nil {
			row.Findings = []string{}
		}
	}
	sort.SliceStable(all, func(i, j int) bool { return all[i].Number < all[j].Number })
	return all
}

func (a *verbs) iterations(ctx context.Context, run string, asJSON bool) error {
	p, err := a.past(ctx, run)
	if err != nil {
		return err
	}
	rows := p.rows()
	if asJSON {
		enc := cmdline.NewEncoder(a.Out)
		enc.SetIndent("", "  ")
		return enc.Encode(rows)
	}
	a.Say("run %s", p.run)
	w := tabwriter.NewWriter(a.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "N\tENDED\tOUTCOME\tCHECKS\tFOUND\tFILES\tCOST\tSTATE\tTASK")
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
		fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%d\t%d\t%s\t%s\t%s\n", row.Number, ended, oneLine(outcome(row)),
			checkText(row.Checks), len(row.Findings), row.Files,
			cost(row.CostUSD), kept, oneLine(row.Task))
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
			fmt.Fprintf(w, "\t\t\t\t\t\t\t\t%s\n", cmdline.Inert(cmdline.OneLine(line)))
		}
	}
	return w.Flush()
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
		class = view.Unwell(row.Says)
	}
	switch {
	case row.Undone:
		return "undone"
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

func oneLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(cmdline.Inert(s)), "\n")
	if r := []rune(strings.ReplaceAll(s, "\t", " ")); len(r) > 60 {
		return string(r[:57]) + "..."
	}
	return s
}

// end is the kept state at the end of iteration n; for 0, that at the start of the run.
func (p *past) end(n int) (history.Kept, error) {
	for _, k := range p.kept {
		switch {
		case k.Iteration == n && !k.Start:
			return k, nil
		case n == 0 && k.Start:
			return k, nil
		case n == 0 && k.Base != "":
			return history.Kept{OID: k.Base, State: git.State{Run: k.Run, Start: true}}, nil
		}
	}
	return history.Kept{}, cmdline.UsageError("%s", p.unkept(n))
}

// unkept says why no state of iteration n is kept.
func (p *past) unkept(n int) string {
	i := slices.IndexFunc(p.events, func(row view.Iteration) bool { return row.Number == n })
	_, repo := git.Root(p.dir)
	switch {
	case i < 0 && n > 0:
		return fmt.Sprintf("run %s has no iteration %d; see: ralph iterations", p.run, n)
	case !repo:
		return fmt.Sprintf("nothing is kept of iteration %d: %s is not a git repository", n, p.dir)
	case n == 0:
		return fmt.Sprintf("nothing is kept of the start of run %s; see: ralph iterations", p.run)
	case p.events[i].Running():
		return fmt.Sprintf("iteration %d is still running; what it changes is known when it ends", n)
	case p.events[i].CutOff:
		return fmt.Sprintf("iteration %d was cut off, so nothing is kept of its end; see: git status", n)
	}
	return fmt.Sprintf("nothing is kept of iteration %d: its agent was not called, or it is too long ago; see: ralph iterations", n)
}

func (p *past) number(text string) (history.Kept, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return history.Kept{}, cmdline.UsageError("%q is not the number of an iteration; see: ralph iterations", text)
	}
	return p.end(n)
}

// named are the kept ends of the iteration with this number, or of all iterations whose
// work is part of the task with this id, the newest first.
func (p *past) named(arg string) ([]history.Kept, error) {
	if _, err := strconv.Atoi(arg); err == nil {
		k, err := p.number(arg)
		return []history.Kept{k}, err
	}
	id := p.taskID(arg)
	var all []history.Kept
	for _, k := range slices.Backward(p.kept) {
		if k.Start || k.Task != id || k.Rule == "candidate_lost" {
			continue
		}
		if all = append(all, k); k.Afresh {
			break
		}
	}
	if len(all) == 0 {
		return nil, cmdline.UsageError("run %s has no iteration or task %q; see: ralph iterations", p.run, arg)
	}
	return all, nil
}

// taskID is the id of the task with this id, or else of the only one whose title begins with these words.
func (p *past) taskID(arg string) string {
	if slices.ContainsFunc(p.kept, func(k history.Kept) bool { return k.Task == arg }) {
		return arg
	}
	id := arg
	for _, row := range p.events {
		begins := row.TaskID != "" && strings.HasPrefix(strings.ToLower(row.Task), strings.ToLower(arg))
		switch {
		case row.TaskID == arg:
			return arg
		case begins && id != arg && id != row.TaskID:
			return arg // it may be either
		case begins:
			id = row.TaskID
		}
	}
	return id
}

// unkeptOf says why nothing is kept of iterations of a task, a line for each of them.
func (p *past) unkeptOf(arg string) (why []string) {
	id := p.taskID(arg)
	for _, row := range p.events {
		if row.TaskID == id && !slices.ContainsFunc(p.kept,
			func(k history.Kept) bool { return !k.Start && k.Iteration == row.Number }) {
			why = append(why, p.unkept(row.Number))
		}
	}
	return why
}

// task says what iteration k worked on: the title where it is known, else the id.
func (p *past) task(k history.Kept) string {
	for _, row := range p.events {
		if row.Number == k.Iteration && row.Task != "" {
			return oneLine(row.Task)
		}
	}
	return oneLine(k.Task)
}
