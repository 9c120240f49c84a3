package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
	"ralph/logs"
	"ralph/runner/agent"
	"ralph/runner/git/history"
	"ralph/runner/memory"
	"ralph/state"
	"ralph/state/question"
	"ralph/state/report"
	"ralph/state/view"
)

type reportOptions struct {
	*cmdline.Factory
	run            string // empty: the last one
	page           string // file for HTML; empty: none
	markdown, json bool
}

// newReportCmd returns ralph report.
func newReportCmd(f *cmdline.Factory) *cobra.Command {
	o := &reportOptions{Factory: f}
	cmd := &cobra.Command{
		Use: "report [RUN]", Short: "Show what a run did: proof, findings, time, money, next steps",
		Args: cmdline.Takes("one run at most", cobra.MaximumNArgs(1)),
		Long: "Show the results of a run on one page: what is done and its proof, what was put aside, findings, where time and money\n" +
			"went, and what to type next. At the end of each run, ralph also writes this page to .ralph/reports/.",
		Example: "  ralph report\n  ralph report --html night.html\n  ralph report 20261120-131810-abcd --md",
		RunE: func(cmd *cobra.Command, args []string) error {
			o.run = strings.Join(args, "")
			return reportRun(cmd.Context(), o)
		},
	}
	cmd.Flags().StringVar(&o.page, "html", "", "Write the page with the diffs to this `FILE`; - means standard output.")
	cmd.Flags().BoolVar(&o.markdown, "md", false, "Print Markdown.")
	cmd.Flags().BoolVar(&o.json, "json", false, "Print an object.")
	return cmd
}

func reportRun(ctx context.Context, o *reportOptions) error {
	if o.page != "" && (o.markdown || o.json) || o.markdown && o.json {
		return cmdline.UsageError("--html, --md and --json exclude each other")
	}
	r, _, err := o.Reader()
	if err != nil {
		return err
	}
	snapshot := view.Gather(r, time.Now())
	rep, err := buildReport(ctx, r, snapshot, cmp.Or(o.run, snapshot.Status.RunID), o.Env)
	if err != nil {
		return err
	}
	switch {
	case o.page == "-":
		_, err := o.Out.Write(rep.HTML())
		return err
	case o.page != "":
		return os.WriteFile(o.page, rep.HTML(), 0o600) // file: the user names it
	case o.markdown:
		fmt.Fprint(o.Out, rep.Markdown())
	case o.json:
		return o.JSON(rep)
	default:
		fmt.Fprint(o.Out, rep.Text())
	}
	return nil
}

// Bounds of what a report asks git for.
const (
	maxChanges = 200 // the latest iterations of a run
	gitTime    = time.Minute
)

// saveReport writes the report of a run that has ended to .ralph/reports. The values of secret
// variables of env are not in it.
func saveReport(ctx context.Context, w *state.Writer, run string, env []string) error {
	ctx, cancel := context.WithTimeout(ctx, gitTime)
	defer cancel()
	snapshot := view.Gather(w.Reader, time.Now())
	snapshot.Alive = false // whoever holds the lock is done with the run
	rep, err := buildReport(ctx, w.Reader, snapshot.Settled(), run, env)
	if err != nil {
		return err
	}
	record, err := json.Marshal(rep)
	if err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return w.SaveReport(run, map[string][]byte{".html": rep.HTML(), ".md": []byte(rep.Markdown()), ".json": record})
}

// buildReport makes the report of a run; empty: nothing has run. If its events are gone, it reads the record of the run. Without
// env, it asks git nothing.
func buildReport(ctx context.Context, r *state.Reader, snapshot view.Snapshot, run string, env []string) (*report.Report, error) {
	if run == "" {
		return nil, &cmdline.ExitError{Code: cmdline.NothingHasRun, Text: "nothing has run here yet; start with: ralph"}
	}
	var changes map[int]report.Change
	if env != nil {
		var err error
		if changes, err = changesOf(ctx, r, run, env); err != nil {
			return nil, err
		}
	}
	folds, _, err := foldRuns(r, run)
	if err != nil {
		return nil, err
	}
	f := folds[run]
	if f == nil || !f.Known() {
		rep, err := recordedReport(r, run)
		if err != nil {
			return nil, cmdline.UsageError("run %q is not known here, or its events are gone; see: ralph runs", run)
		}
		rep.Attach(changes)
		return rep, nil
	}
	other := snapshot.Status.RunID != run
	snapshot.Alive = snapshot.Alive && !other
	f.Run.Settle(snapshot.Alive)
	lastError := ""
	if f.Run.End == nil && other {
		lastError = lastErrors(r)[run]
	}
	return f.Build(report.Source{LastError: lastError, Project: filepath.Dir(r.Dir()), Snapshot: snapshot, Changes: changes,
		Now: snapshot.At, Questions: asked(r, f.Run.StartedAt, run), Learned: learned(r, run)}), nil
}

// asked are the questions of a run, and those that were answered since it began.
func asked(r *state.Reader, since time.Time, run string) (texts []string) {
	list, _ := question.In(r).List() // a report without them is better than none
	for _, q := range list {
		if q.Run == run || q.AnsweredAt.After(since) && !since.IsZero() {
			texts = append(texts, text(q))
		}
	}
	return texts
}

// text says in a line what an agent asked, and what it was answered.
func text(q question.Question) string {
	text := view.Join(" · ", q.ID, q.Title, q.Text)
	for i, option := range q.Options {
		text += fmt.Sprintf("; %d: %s", i+1, option)
	}
	if !q.Open() {
		return text + fmt.Sprintf("; answered (%s): %s", q.AnsweredBy, q.Answer)
	}
	if text += "; not answered: ralph answer " + q.ID + " TEXT"; len(q.Options) > 0 {
		text += ", or --option N"
	}
	return text
}

// learned are the lessons that a run taught.
func learned(r *state.Reader, run string) (texts []string) {
	all, _ := memory.Load(filepath.Dir(r.Dir())) // a report without them is better than none
	for _, l := range all {
		if slices.ContainsFunc(l.Turns, func(t memory.Turn) bool { return t.Run == run }) {
			texts = append(texts, fmt.Sprintf("%s (ralph learn forget %s)", l.Text, l.ID))
		}
	}
	return texts
}

// foldRuns folds the events of a run; empty: of all but some. It also returns what it met of the last errors of runs that
// crashed, by run, as found by the runs after them.
func foldRuns(r *state.Reader, run string, but ...string) (folds map[string]*report.Fold, failed map[string]string, err error) {
	folds, failed = map[string]*report.Fold{}, map[string]string{}
	err = view.EachEvent(r, run, report.Wanted, func(e state.Event) {
		if d, ok := e.Data.(state.RunStart); ok && d.Killed != "" {
			failed[d.Killed] = d.LastError
		}
		if e.Run == "" || slices.Contains(but, e.Run) {
			return
		}
		if folds[e.Run] == nil {
			folds[e.Run] = &report.Fold{}
		}
		folds[e.Run].Add(e)
	})
	return folds, failed, err
}

// lastErrors returns the last errors of runs that crashed, by run, as found by the runs after them.
func lastErrors(r *state.Reader) map[string]string {
	all := map[string]string{}
	starts := func(k state.Kind) bool { return k == state.KindRunStart }
	_ = view.EachEvent(r, "", starts, func(e state.Event) { // a list without them is better than none
		if d, ok := e.Data.(state.RunStart); ok && d.Killed != "" {
			all[d.Killed] = d.LastError
		}
	})
	return all
}

// recordedReport reads the record of a run.
func recordedReport(r *state.Reader, run string) (*report.Report, error) {
	data, err := r.Record(run)
	if err != nil {
		return nil, err
	}
	return report.Decode(data)
}

// changesOf asks git what the latest iterations of a run changed. The values of secret variables of env are hidden.
func changesOf(ctx context.Context, r *state.Reader, run string, env []string) (map[int]report.Change, error) {
	dir := filepath.Dir(r.Dir())
	all, err := history.List(ctx, dir, "")
	if err != nil || run == "" {
		return nil, err
	}
	undone, err := history.Undone(ctx, dir, run, all)
	if err != nil {
		return nil, err
	}
	hide := logs.NewValues(agent.EnvFilter{}.Secrets(agent.Spec{}, agent.Request{Env: env}))
	heads, changes := map[string]string{}, map[int]report.Change{}
	for _, k := range all {
		heads[k.OID] = k.Head
	}
	for i := len(all) - 1; i >= 0 && len(changes) < maxChanges; i-- {
		k := all[i]
		if k.Run != run || k.Start || k.Undone || k.Base == "" {
			continue
		}
		change := report.Change{Undone: undone[k.Iteration]}
		if head, known := heads[k.Base]; known && head != k.Head {
			change.Commit = k.Head
		}
		if change.Diff, err = history.Diff(ctx, dir, [2]string{k.Base, k.OID}); err != nil {
			continue // its base was pruned
		}
		change.Diff = hide.Redact(change.Diff)
		changes[k.Iteration] = change
	}
	for n, is := range undone {
		if _, known := changes[n]; !known && is {
			changes[n] = report.Change{Undone: true}
		}
	}
	return changes, nil
}
