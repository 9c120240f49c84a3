// Package history works with the states that git.Keeper has kept: it compares them,
// undoes an iteration, and finds the iteration that broke a check.
package history

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ralph/runner/git"
	"ralph/runner/git/command"
)

// Request is what to undo.
type Request struct {
	Iteration Kept
	// Last is the newest kept state. A file that differs from HEAD may be changed only if
	// it is still as in this state.
	Last Kept
	// Plan is the slash-separated path of the plan, relative to the root of the
	// repository; empty: not there. Later iterations tick boxes in it too, so an undo
	// only reopens the box of the iteration's task.
	Plan string
	// Reopen opens that box; nil: there is none.
	Reopen func() error
}

// Undo is a prepared undo that has been checked to apply.
type Undo struct {
	Files []string // that it changes, without the plan
	// Uncommitted are those of Files that differ from HEAD: the loop's work that nobody
	// has committed. If there are any, the undo makes no commit.
	Uncommitted []string
	root, patch string
	r           Request
	planClean   bool // the plan is as in HEAD
}

// ConflictError says why an iteration cannot be undone.
type ConflictError struct{ Why string }

func (e *ConflictError) Error() string { return "cannot undo: " + e.Why }

// PlanUndo prepares the undo of one iteration and changes nothing. A *ConflictError says
// why the iteration cannot be undone, for example because the files have changed since.
func PlanUndo(ctx context.Context, dir string, r Request) (*Undo, error) {
	k := r.Iteration
	c, err := git.Inspect(ctx, dir)
	if err != nil {
		return nil, err
	}
	if !c.Repo {
		return nil, fmt.Errorf("undo: %w", command.ErrNoRepository)
	}
	if err := git.Fit(c); err != nil {
		return nil, &ConflictError{err.Error()}
	}
	root := c.Root
	if k.Base == "" {
		return nil, &ConflictError{fmt.Sprintf("the state before iteration %d is not known", k.Iteration)}
	}
	if _, err := (command.Call{Dir: root}).Run(ctx, "cat-file", "-e", k.Base+"^{commit}"); err != nil {
		return nil, errors.Join(ctx.Err(), &ConflictError{fmt.Sprintf("the state before iteration %d is no longer kept", k.Iteration)})
	}
	u := &Undo{root: root, r: r}
	out, err := u.compare(ctx, "-z", "--name-only", k.Base, k.OID, "--")
	if err != nil {
		return nil, err
	}
	changed := splitNul(out)
	u.Files = slices.DeleteFunc(slices.Clone(changed), func(f string) bool { return f == r.Plan })
	if len(changed) == 0 || len(u.Files) == 0 && r.Reopen == nil {
		return nil, &ConflictError{fmt.Sprintf("iteration %d changed no file", k.Iteration)}
	}
	if err := u.check(ctx); err != nil {
		return nil, err
	}
	args := []string{"-p", "--binary", "--full-index", "--no-ext-diff", "--no-textconv", "--no-color", k.OID, k.Base, "--"}
	if r.Plan != "" {
		args = append(args, ".", ":(exclude,literal)"+r.Plan)
	}
	if u.patch, err = u.compare(ctx, args...); err != nil {
		return nil, err
	}
	if err := u.apply(ctx, "--check"); err != nil {
		_, why, _ := strings.Cut(err.Error(), "error: ")
		return nil, errors.Join(ctx.Err(), &ConflictError{fmt.Sprintf("later changes depend on iteration %d (%s); undo the later iterations first", k.Iteration, why)})
	}
	return u, nil
}

func (u *Undo) compare(ctx context.Context, args ...string) (string, error) {
	out, err := command.Call{Dir: u.root}.Run(ctx, append([]string{"diff-tree", "-r", "--no-renames"}, args...)...)
	if err != nil {
		return "", fmt.Errorf("undo: %w", err)
	}
	return out, nil
}

func splitNul(out string) []string {
	return slices.DeleteFunc(strings.Split(out, "\x00"), func(s string) bool { return s == "" })
}

// check finds the uncommitted files. It refuses if somebody else has changed them.
func (u *Undo) check(ctx context.Context) error {
	snap, err := git.Observe(ctx, u.root)
	if err != nil {
		return err
	}
	for _, f := range u.Files {
		if snap.Dirty(f) {
			u.Uncommitted = append(u.Uncommitted, f)
		}
	}
	if u.r.Plan != "" && snap.Head != "" {
		changed, err := u.differing(ctx, snap.Head, []string{u.r.Plan})
		if err != nil {
			return err
		}
		u.planClean = len(changed) == 0
	}
	if len(u.Uncommitted) == 0 {
		return nil
	}
	changed, err := u.differing(ctx, u.r.Last.OID, u.Uncommitted)
	if err == nil && len(changed) > 0 {
		err = &ConflictError{"these files have changes that the loop did not make; commit or stash them first: " + strings.Join(changed, ", ")}
	}
	return err
}

// differing returns the files that differ between the work tree and the commit.
func (u *Undo) differing(ctx context.Context, commit string, files []string) ([]string, error) {
	now, err := git.Hash(ctx, u.root, files)
	if err != nil {
		return nil, fmt.Errorf("undo: %w", err)
	}
	out, err := command.Call{Dir: u.root}.Run(ctx, append([]string{"ls-tree", "-r", "-z", commit, "--"}, files...)...)
	if err != nil {
		return nil, fmt.Errorf("undo: %w", err)
	}
	left := map[string]string{}
	for _, record := range splitNul(out) {
		facts, path, _ := strings.Cut(record, "\t")
		if f := strings.Fields(facts); len(f) == 3 {
			left[path] = f[0] + " " + f[2]
		}
	}
	return slices.DeleteFunc(slices.Clone(files), func(f string) bool { return now[f] == left[f] }), nil
}

func (u *Undo) apply(ctx context.Context, options ...string) error {
	if u.patch == "" {
		return nil // only the box changes
	}
	_, err := command.Call{Dir: u.root, Stdin: u.patch}.Run(ctx, append([]string{"apply", "--whitespace=nowarn"}, options...)...)
	return err
}

// Do changes all files in the work tree or none, and reopens the box. If all files were as
// in HEAD, it commits exactly this change, but not a plan that was changed or untracked.
func (u *Undo) Do(ctx context.Context) (git.Committed, error) {
	if err := u.apply(ctx); err != nil {
		return git.Committed{}, fmt.Errorf("undo: %w", err)
	}
	var boxErr error
	files := slices.Clone(u.Files)
	if u.r.Reopen != nil {
		if boxErr = u.r.Reopen(); boxErr == nil && u.planClean {
			files = append(files, u.r.Plan)
		}
	}
	k := u.r.Iteration
	if len(u.Uncommitted) > 0 || len(files) == 0 {
		return git.Committed{}, errors.Join(boxErr, git.KeepFiles(ctx, u.root, u.Files, git.State{Run: k.Run, Iteration: k.Iteration, Base: u.r.Last.OID, Undone: true}))
	}
	message := fmt.Sprintf("Undo iteration %d\n\nThis reverts what iteration %[1]d of run %s changed.", k.Iteration, k.Run)
	done, err := git.Commit(ctx, u.root, git.CommitRequest{Files: files, Message: message, Trailers: []git.Trailer{{Key: undoTrailer, Value: k.Run + "/" + strconv.Itoa(k.Iteration)}}})
	return done, errors.Join(boxErr, err)
}

const undoTrailer = "Ralph-Undo"
