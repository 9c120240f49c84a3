package turn

import (
	"context"

	"ralph/runner/audit"
	"ralph/runner/git"
	"ralph/runner/turn/steer"
	"ralph/state"
)

// trail are the states of a workspace that can be gone back to. Git keeps them.
type trail struct {
	start   *git.Snapshot     // the workspace when the worker began; nil: outside git
	keeper  *git.Keeper       // nil: outside git
	keeping *git.Keeping      // the state that is being written; nil: none
	base    string            // the state that the next turn begins with
	begun   int               // the iteration that was kept last
	from    string            // the state that it began with
	refused map[string]string // why files were not committed, as reported last
}

// openTrail keeps the state before the worker's first turn.
func (w *Worker) openTrail(ctx context.Context, a Assignment) {
	t := &w.trail
	if t.start != nil || w.before == nil || !w.before.Repo {
		return
	}
	start := *w.before
	t.start, t.refused = &start, map[string]string{}
	keeper, ok := git.NewKeeper(a.Dir)
	if !ok {
		return
	}
	t.keeper = keeper
	base, err := keeper.Keep(ctx, start, git.State{Run: a.Origin.Run, Iteration: a.Origin.Iteration, Start: true})
	w.notKept(err)
	t.base = base
}

func (w *Worker) notKept(err error) {
	if err != nil {
		w.Log.Warn("this state cannot be gone back to", "error", err)
	}
}

// Keep keeps the workspace as it is now, as the end of an iteration. Git writes
// it while the next agent call runs.
func (w *Worker) Keep(ctx context.Context, dir string, s git.State) error {
	t := &w.trail
	if t.keeper == nil || ctx.Err() != nil {
		return nil
	}
	ctx = w.git(ctx, dir)
	if err := w.look(ctx, dir); err != nil {
		return err
	}
	w.finishKeeping()
	if s.Iteration != t.begun { // else it is tried again, and began before its first try
		t.begun, t.from = s.Iteration, t.base
	}
	s.Base = t.from
	t.keeping = t.keeper.Start(ctx, *w.before, s)
	return nil
}

// finishKeeping waits until the latest state is in the repository.
func (w *Worker) finishKeeping() {
	t := &w.trail
	if t.keeping == nil {
		return
	}
	base, err := t.keeping.Wait()
	w.notKept(err)
	if err == nil {
		t.base = base
	}
	t.keeping = nil
}

// Changed are the files that changed since the worker's first turn, with their
// texts before and after; nil outside git.
func (w *Worker) Changed(ctx context.Context, dir string) ([]audit.File, error) {
	t := &w.trail
	if t.start == nil {
		return nil, nil
	}
	ctx = w.git(ctx, dir)
	if err := w.look(ctx, dir); err != nil {
		return nil, err
	}
	change, err := t.start.Compare(*w.before).Committed(ctx, dir, *t.start, *w.before)
	if err != nil {
		return nil, err
	}
	texts, err := change.Texts(ctx, dir, *t.start, *w.before)
	files := make([]audit.File, 0, len(texts))
	for _, text := range texts {
		files = append(files, audit.File(text))
	}
	return withSteering(dir, files, w.steer.Changed(steer.Read(dir))), err
}

// Commit commits what the agent left over since the worker's first turn. Files
// that were dirty before, and what the user staged, are not touched. The zero
// Commit says that there was nothing to do, or nothing new to report.
func (w *Worker) Commit(ctx context.Context, dir string, r git.CommitRequest) (state.Commit, error) {
	t := &w.trail
	if t.start == nil || ctx.Err() != nil {
		return state.Commit{}, nil
	}
	ctx = w.git(ctx, dir)
	if err := w.look(ctx, dir); err != nil {
		return state.Commit{}, err
	}
	files, mixed := w.before.LeftOver(*t.start), w.before.Touched(*t.start)
	if len(files)+len(mixed) == 0 {
		return state.Commit{}, nil
	}
	r.Files = files
	done, err := git.Commit(ctx, dir, r)
	if err != nil {
		return state.Commit{}, err
	}
	c := state.Commit{OID: done.OID, Files: len(done.Files)}
	if c.OID != "" {
		w.before = nil
	}
	for _, file := range mixed {
		done.Refused = append(done.Refused, git.Refusal{File: file, Why: "it was changed before the run"})
	}
	for _, refusal := range done.Refused {
		if t.refused[refusal.File] != refusal.Why {
			t.refused[refusal.File] = refusal.Why
			c.Refused = append(c.Refused, state.Refusal(refusal))
		}
	}
	return c, nil
}
