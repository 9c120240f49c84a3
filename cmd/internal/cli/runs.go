package cli

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"time"

	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
	"ralph/logs/termtext"
	"ralph/state"
	"ralph/state/report"
	"ralph/state/view"
)

const errorWidth = 120 // columns of an error in the list

// runRow is a run in the list.
type runRow struct {
	ID         string    `json:"id"`
	Project    string    `json:"project"`
	Status     string    `json:"status"`
	Exit       int       `json:"exit_code"`          // below zero: it has not ended, or was killed
	Proven     bool      `json:"proven"`             // it has completed, and its checks prove it
	Unproven   string    `json:"unproven,omitempty"` // why it is complete and not proven
	Done       int       `json:"tasks_done"`
	Total      int       `json:"tasks_total"`
	Iterations int       `json:"iterations"`
	USD        float64   `json:"cost_usd"`
	Seconds    float64   `json:"seconds"`
	StartedAt  time.Time `json:"started_at,omitzero"`
	EndedAt    time.Time `json:"ended_at,omitzero"`
	LastError  string    `json:"last_error,omitempty"` // of a run that crashed
}

// newRunsCmd returns ralph runs, with its verbs.
func newRunsCmd(f *cmdline.Factory) *cobra.Command {
	all, asJSON := false, false
	cmd := &cobra.Command{
		Use: "runs", Aliases: []string{"sessions"}, Short: "List the runs of this project, or of all of your projects",
		Args:    cmdline.NoArgs,
		Long:    "List the runs of this project, or of all of your projects: start, length, result, tasks, cost, exit code.",
		Example: "  ralph runs\n  ralph runs --all --json\n  ralph runs show 20261120-131810-abcd",
		RunE:    func(*cobra.Command, []string) error { return runsRun(f, all, asJSON) },
	}
	cmd.Flags().BoolVar(&all, "all", false, "List the runs of all of your projects.")
	cmd.Flags().BoolVar(&asJSON, "json", false, "Print an array of objects.")
	show := newReportCmd(f)
	show.Use, show.Short, show.Long = "show RUN", "Show what a run came to, as ralph report does", ""
	show.Args = cmdline.Takes("one run", cobra.ExactArgs(1))
	show.Example = "  ralph runs show 20261120-131810-abcd"
	cmd.AddCommand(show, newPruneCmd(f))
	return cmd
}

// runsRun lists runs, the latest first; all: of all projects.
func runsRun(f *cmdline.Factory, all, asJSON bool) error {
	dir, err := f.Project()
	if err != nil {
		return err
	}
	dirs, rows := []string{dir}, []runRow{}
	if all {
		if dirs = f.Loader(dir, nil).Projects(); !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	for _, project := range dirs {
		some, err := runsOf(cmdline.OpenState(project), project)
		if err != nil && !all {
			return err
		}
		rows = append(rows, some...)
	}
	sort.SliceStable(rows, func(i, j int) bool { // not slices: that makes another sort for each type
		return cmp.Or(rows[j].StartedAt.Compare(rows[i].StartedAt), cmp.Compare(rows[j].ID, rows[i].ID)) < 0
	})
	if asJSON {
		if err := f.JSON(rows); err != nil {
			return err
		}
	}
	switch {
	case len(rows) == 0:
		return &cmdline.ExitError{Code: cmdline.NothingHasRun, Text: "no runs are known; start one with: ralph"}
	case !asJSON:
		printRuns(f, rows, all)
	}
	return nil
}

// runsOf lists the runs of a project: those with a record, and those whose events are
// still there and that nobody pruned.
func runsOf(r *state.Reader, dir string) ([]runRow, error) {
	known, err := r.Recorded()
	if err != nil {
		return nil, err
	}
	snapshot := view.Gather(r, time.Now())
	last := snapshot.Status.RunID
	// The record of the last run may be outdated: the run was resumed.
	known = slices.DeleteFunc(known, func(run string) bool { return run == last })
	folds, failed, err := foldRuns(r, "", known...)
	if err != nil {
		return nil, err
	}
	var rows []runRow
	for _, f := range folds {
		if f.Run.End != nil && f.Run.ID <= r.Pruned() {
			continue
		}
		alone := report.Source{Project: dir, Now: time.Now(), Snapshot: snapshot, LastError: failed[f.Run.ID]}
		rows = append(rows, rowOf(f.Build(alone), dir))
	}
	for _, run := range known {
		if rep, err := recordedReport(r, run); err == nil {
			rows = append(rows, rowOf(rep, dir))
		}
	}
	return rows, nil
}

func rowOf(rep *report.Report, dir string) runRow {
	return runRow{rep.Run, dir, rep.Status, rep.Exit, rep.Proven, rep.Unproven, rep.Done, rep.Total, rep.Iterations, rep.USD,
		rep.Took().Seconds(), rep.StartedAt, rep.EndedAt, rep.LastError}
}

func printRuns(f *cmdline.Factory, rows []runRow, all bool) {
	head := []string{"RUN", "STARTED", "TOOK", "RESULT", "TASKS", "ITERATIONS", "COST", "EXIT"}
	if all {
		head = append(head, "PROJECT")
	}
	crashed := slices.ContainsFunc(rows, func(row runRow) bool { return row.LastError != "" })
	if crashed {
		head = append(head, "LAST ERROR")
	}
	table := [][]string{head}
	for _, row := range rows {
		exit, tasks := "-", "-"
		if row.Exit >= 0 {
			exit = fmt.Sprint(row.Exit)
		}
		if row.Total > 0 {
			tasks = fmt.Sprintf("%d/%d", row.Done, row.Total)
		}
		cells := []string{oneLine(row.ID), row.StartedAt.Local().Format("Jan 2 15:04"),
			view.Span(view.Seconds(row.Seconds)), oneLine(cmp.Or(state.NotProven(row.Status, row.Unproven), row.Status)), tasks, fmt.Sprint(row.Iterations), cost(row.USD), exit}
		if all {
			cells = append(cells, cmdline.Inert(row.Project))
		}
		if crashed {
			cells = append(cells, termtext.Fit(cmdline.Inert(row.LastError), errorWidth))
		}
		table = append(table, cells)
	}
	f.Table(table, "EXIT", "STARTED", "COST", "TOOK", "ITERATIONS", "TASKS")
}

func newPruneCmd(f *cmdline.Factory) *cobra.Command {
	keep := 0
	cmd := &cobra.Command{
		Use: "prune", Short: "Forget all but the latest runs", Args: cmdline.NoArgs,
		Long: "Forget all but the latest runs of this project: their reports are removed, " +
			"and ralph runs leaves them out.",
		Example: "  ralph runs prune --keep 10",
		RunE: func(*cobra.Command, []string) error {
			if keep < 0 {
				return cmdline.UsageError("--keep %d is not allowed: at least 0", keep)
			}
			return f.WithLock("prune", "forget runs", func(w *state.Writer) error {
				n, err := w.PruneReports(keep)
				f.Say("forgot %s", termtext.Count(n, "run"))
				return err
			})
		},
	}
	cmd.Flags().IntVar(&keep, "keep", 100, "How many of the latest runs to keep: `N`.")
	return cmd
}
