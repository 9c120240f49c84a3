package turn

import (
	"context"
	"fmt"

	"ralph/runner/audit"
	"ralph/runner/git"
	"ralph/runner/git/changed"
	"ralph/runner/git/history"
	"ralph/runner/git/refs"
)

// vanished is what a turn did to the refs.
type vanished struct {
	gone            []changed.Lost
	moved           []string          // branches and tags
	putBack, astray string            // see Work
	tasks           map[string]string // by id: why the work on a task that was done is gone
}

// observeRepository looks at what the call left. It puts HEAD back on the branch of the run first, and keeps the objects
// of what is gone.
func (t *turn) observeRepository(ctx context.Context, f *facts) (git.Snapshot, error) {
	w, before := t.w, t.w.refs
	after, view, err := t.look(ctx)
	if err == nil {
		f.lost = f.found.Lost(ctx, after)
	}
	if err != nil || f.lost != "" || !f.found.Repo {
		return after, err
	}
	v := &f.vanished
	if w.branch != "" && after.Operation == "" { // a rebase detaches HEAD until it is over
		if v.putBack, v.astray, err = refs.PutBack(ctx, t.a.Dir, w.branch, before, view); err != nil {
			return after, err
		}
		if v.astray != "" {
			v.putBack = ""
		}
	}
	if v.putBack != "" {
		if after, view, err = t.look(ctx); err != nil {
			return after, err
		}
	}
	tree := func() (string, error) { return after.Tree(ctx) }
	if v.gone, err = refs.Lost(ctx, t.a.Dir, *w.First, before, view, tree); err != nil {
		return after, err
	}
	v.moved = refs.Moved(before, view)
	w.refs = view
	if err := refs.Keep(ctx, t.a.Dir, t.a.Origin.Run, v.gone); err != nil {
		return after, err
	}
	v.tasks, err = t.tasksOf(ctx, v.gone)
	return after, err
}

// look takes the Snapshot and the refs at one moment.
func (t *turn) look(ctx context.Context) (git.Snapshot, refs.View, error) {
	s, err := git.Observe(ctx, t.a.Dir)
	if err != nil {
		return s, refs.View{}, err
	}
	v, err := refs.Look(ctx, t.a.Dir, s)
	return s, v, err
}

// tasksOf finds the tasks in whose turns the lost commits were made.
func (t *turn) tasksOf(ctx context.Context, gone []changed.Lost) (map[string]string, error) {
	tasks := map[string]string{}
	for _, l := range gone {
		for _, oid := range l.Commits {
			t.w.finishKeeping()
			kept, err := history.Containing(ctx, t.a.Dir, oid)
			if err != nil {
				return nil, err
			}
			if len(kept) > 0 && !kept[0].Start && kept[0].Task != "" {
				tasks[kept[0].Task] = fmt.Sprintf("its commit %.7s is gone from %s", oid, l.Name)
			}
		}
	}
	return tasks, nil
}

// repository is the audit's input about the repository.
func (t *turn) repository(v vanished, after git.Snapshot) audit.Repository {
	r := audit.Repository{Lost: v.gone, Moved: v.moved, Operation: after.Operation, Unmerged: after.Unmerged, Scratch: t.w.branch == ""}
	if what := v.putBack + v.astray; what != "" {
		r.Head = []string{what}
	}
	return r
}

// Recall takes over what an earlier run left open: what is gone from git.
func (w *Worker) Recall(gone []changed.Lost) { w.missing = append(w.missing, gone...) }

// Standing is the audit's input before the first turn: what git shows of losses and operations that an earlier run has
// left open; nil outside git.
func (w *Worker) Standing(ctx context.Context, a Assignment) (*audit.Input, error) {
	ctx = w.git(ctx, a)
	if err := w.look(ctx, a.Dir); err != nil {
		return nil, err
	}
	defer w.Forget()
	if !w.before.Repo {
		return nil, nil
	}
	lost, err := refs.Still(ctx, a.Dir, w.missing, w.refs, func() (string, error) { return w.before.Tree(ctx) })
	r := audit.Repository{Lost: lost, Operation: w.before.Operation, Unmerged: w.before.Unmerged, Scratch: w.before.Branch == ""}
	return &audit.Input{Repository: r}, err
}

// Miss remembers what a turn of the run did to the repository, for Changed.
func (w *Worker) Miss(r Result) {
	w.missing = append(w.missing, r.Work.Gone...)
	if what := r.Work.PutBack + r.Work.Astray; what != "" {
		w.moved = append(w.moved, what)
	}
}
