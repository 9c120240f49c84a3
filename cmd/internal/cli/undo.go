package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"ralph/cmd/internal/cmdline"
	"ralph/runner/git"
	"ralph/runner/git/history"
	"ralph/runner/rules"
	"ralph/runner/task"
	"ralph/state"
	"ralph/state/view"
)

func (a *app) undo(ctx context.Context, run, arg string, yes bool) error {
	p, err := a.past(ctx, run)
	if err != nil {
		return err
	}
	k, err := p.end(arg)
	if err != nil {
		return err
	}
	if owner, alive := cmdline.OpenState(p.dir).Owner(); alive {
		return &state.LockedError{Owner: owner}
	}
	r := history.Request{Iteration: k, Last: p.last}
	box := p.box(k, &r)
	u, err := history.PlanUndo(ctx, p.dir, r)
	undone := slices.ContainsFunc(p.rows, func(row view.Iteration) bool { return row.Number == k.Iteration && row.Undone })
	if conflict := (*history.ConflictError)(nil); errors.As(err, &conflict) && undone {
		return &cmdline.ExitError{Code: rules.ExitError, Text: fmt.Sprintf("iteration %d of run %s is undone already", k.Iteration, p.run)}
	}
	if err != nil {
		return err
	}
	how := "as a new commit"
	if len(u.Uncommitted) > 0 {
		how = "in the work tree, without a commit: its changes are not committed"
	}
	a.Say("undo of iteration %d of run %s changes %s, %s:", k.Iteration, p.run, view.Plural(len(u.Files), "file"), how)
	for _, f := range u.Files {
		a.Say("  %s", f)
	}
	if box != "" {
		a.Say("%s", box)
	}
	if !yes && !a.CanAsk() {
		return cmdline.UsageError("there is no terminal to ask on; agree with: ralph undo %s --yes", arg)
	}
	if !yes && !a.Agree("Undo it?") {
		return &cmdline.ExitError{Code: rules.ExitError, Text: "nothing was changed"}
	}
	done, err := u.Do(ctx)
	if err != nil {
		return err
	}
	for _, r := range done.Refused {
		a.Say("not committed: %s (%s)", r.File, r.Why)
	}
	if done.OID == "" {
		a.Say("undone in the work tree; see: git status")
		return nil
	}
	a.Say("undone in commit %s; revert it with: git revert %[1]s", done.OID[:10])
	return nil
}

// box adds the plan and the box of the iteration's task to the request. It returns
// what happens to the box, empty if nothing does.
func (p *past) box(k history.Kept, r *history.Request) string {
	path := filepath.FromSlash(k.Plan)
	switch {
	case path == "": // no plan, or an older version kept the state
		path, _ = task.Find(p.dir)
	case !filepath.IsAbs(path):
		path = filepath.Join(p.dir, path)
	}
	if path == "" {
		return ""
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		real = path // the plan is gone
	}
	root, _ := git.Root(p.dir)
	if rel, err := filepath.Rel(root, real); err == nil && filepath.IsLocal(rel) {
		r.Plan = filepath.ToSlash(rel)
	}
	if k.Task == "" {
		return ""
	}
	shown := path
	if rel, err := filepath.Rel(p.dir, path); err == nil && filepath.IsLocal(rel) {
		shown = rel
	}
	list, err := task.Load(path, nil)
	i := slices.IndexFunc(list.Tasks, func(t task.Task) bool { return t.ID == k.Task })
	switch {
	case err != nil:
		return fmt.Sprintf("no box is opened again: %v", err)
	case i < 0:
		return fmt.Sprintf("no box is opened again: %q is not in %s any more", p.task(k), shown)
	case !list.Tasks[i].Done:
		return ""
	}
	r.Reopen = func() error { return task.Untick(path, list.Tasks[i]) }
	return fmt.Sprintf("  %s: the box of %q is opened again", shown, cmdline.Brief(list.Tasks[i].Title))
}
