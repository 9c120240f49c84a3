package cli

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
	"ralph/cmd/internal/undo"
	"ralph/runner/git"
	"ralph/runner/git/history"
	"ralph/runner/task"
	"ralph/runner/task/store"
	"ralph/state"
	"ralph/state/view"
)

// pastOptions are those of all verbs that look at the iterations of one run.
type pastOptions struct {
	*cmdline.Factory
	run string // empty: the last one
}

func (o *pastOptions) flag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&o.run, "run", "", "The `ID` of the run (default: the last one).")
}

// past is what is known of one run.
type past struct {
	run, dir string
	flag     string         // --run and its id, for advice; empty: it is the last one
	kept     []history.Kept // of the run, oldest first
	last     history.Kept   // of all runs
	undone   map[int]bool
	events   []view.Iteration
	tasks    map[string]state.TaskMemory // what is known of each task: whose work it was
}

// read reads what is known of the run.
func (o *pastOptions) read(ctx context.Context) (*past, error) {
	r, dir, err := o.Reader()
	if err != nil {
		return nil, err
	}
	all, err := history.List(ctx, dir, "")
	if err != nil {
		return nil, err
	}
	p := &past{run: o.run, dir: dir}
	if o.run != "" {
		p.flag = " --run " + cmdline.Quote(o.run)
	}
	if len(all) > 0 {
		p.last = all[len(all)-1]
	}
	status, err := r.Status()
	if p.tasks = status.Tasks; p.run == "" {
		if p.run = status.RunID; p.run == "" || err != nil {
			p.run = p.last.Run
		}
	}
	before := "" // the last run with iterations
	for _, k := range all {
		if k.Run == p.run && !k.Undone {
			p.kept = append(p.kept, k)
		}
		if !k.Start && !k.Undone {
			before = k.Run
		}
	}
	if p.undone, err = history.Undone(ctx, dir, p.run, all); err != nil {
		return nil, err
	}
	owner, alive := r.Owner()
	run, err := view.ReadRun(r, p.run, alive && (owner.RunID == "" || owner.RunID == p.run))
	if err != nil {
		return nil, err
	}
	p.events = run.Iterations
	if o.run != "" && len(p.kept) == 0 && len(p.events) == 0 {
		return nil, cmdline.UsageError("no iterations of run %q are known here; see: ralph runs", o.run)
	}
	switch {
	case p.run != "" && len(p.kept)+len(p.events) > 0:
		return p, nil
	case before == "":
		return nil, &cmdline.ExitError{Code: cmdline.NothingHasRun, Text: "no iterations are known here; see: ralph status"}
	}
	o.Warn(fmt.Sprintf("run %s made no iteration; this is about run %s", p.run, before))
	o.run = before
	return o.read(ctx)
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

// end is the kept state at the end of iteration n; for 0, that at the start of the run.
func (p *past) end(n int) (history.Kept, error) {
	for _, k := range p.kept {
		switch {
		case k.Iteration == n && !k.Start, n == 0 && k.Start:
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
		return p.lacks(n)
	case !repo:
		return fmt.Sprintf("nothing is kept of iteration %d: %s is not a git repository", n, p.dir)
	case n == 0:
		return fmt.Sprintf("nothing is kept of the start of run %s; see: ralph iterations%s", p.run, p.flag)
	case p.events[i].Running():
		return fmt.Sprintf("iteration %d is still running; what it changes is known when it ends", n)
	case p.events[i].CutOff:
		return fmt.Sprintf("iteration %d was cut off, so nothing is kept of its end; see: git status", n)
	}
	return fmt.Sprintf("nothing is kept of iteration %d: its agent was not called, or it is too long ago; "+
		"see: ralph iterations%s", n, p.flag)
}

func (p *past) lacks(n int) string {
	return fmt.Sprintf("run %s has no iteration %d; see: ralph iterations%s", p.run, n, p.flag)
}

// iteration is the kept state at the end of iteration n; 0 is none, unlike for end.
func (p *past) iteration(n int) (history.Kept, error) {
	if n <= 0 {
		return history.Kept{}, cmdline.UsageError("%s", p.lacks(n))
	}
	return p.end(n)
}

// number reads the number of an iteration, or 0.
func (p *past) number(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0, cmdline.UsageError("%q is not the number of an iteration; see: ralph iterations%s", text, p.flag)
	}
	return n, nil
}

// named are the kept ends of the iteration with this number, or of all iterations whose
// work is part of the task with this id, the newest first.
func (p *past) named(arg string) ([]history.Kept, error) {
	if n, err := strconv.Atoi(arg); err == nil {
		k, err := p.iteration(n)
		return []history.Kept{k}, err
	}
	id := p.taskID(arg)
	var all []history.Kept
	work := p.tasks[id].Iterations(p.run)
	for _, k := range slices.Backward(p.kept) {
		own := k.Task == id && (len(work) == 0 || k.Files > 0)
		if k.Start || !own && !slices.Contains(work, k.Iteration) {
			continue
		}
		all = append(all, k)
	}
	if len(all) == 0 {
		return nil, cmdline.UsageError("run %s has no iteration or task %q; see: ralph iterations%s", p.run, arg,
			p.flag)
	}
	return all, nil
}

// taskID is the id of the task that a person means; if it may be several or none, it is what the person wrote.
func (p *past) taskID(arg string) string {
	var known task.List
	add := func(id, title string) {
		if _, is := known.Find(id); id != "" && !is {
			known.Tasks = append(known.Tasks, task.Task{ID: id, Title: strings.TrimPrefix(title, "[P] ")})
		}
	}
	for _, row := range p.events {
		add(row.TaskID, row.Task)
	}
	if path := undo.PlanOf(p.dir, p.last); path != "" {
		list, _ := store.Load(store.At(p.dir, path, nil)) // without it, the events must do
		for _, t := range list.Tasks {
			add(t.ID, t.Title)
		}
	}
	for _, k := range p.kept {
		add(k.Task, "")
	}
	if t, err := known.Resolve(strings.TrimPrefix(arg, "[P] ")); err == nil {
		return t.ID
	}
	return arg
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
