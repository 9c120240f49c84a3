// Package history works on the states that git.Keeper has kept: it compares
// them, takes the changes of an iteration back, and finds the one that broke a
// check.
package history

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ralph/runner/git"
)

// Undo reverses what one iteration changed. It has been checked to apply.
type Undo struct {
	Files []string // that it changes
	// Uncommitted are those of Files that differ from HEAD: work of the loop
	// that nobody has committed. With any of them the undo is no commit.
	Uncommitted []string
	root, patch string
	kept        Kept
}

// ConflictError says why an iteration cannot be undone.
type ConflictError struct{ Why string }

func (e *ConflictError) Error() string { return "cannot undo: " + e.Why }

// PlanUndo prepares the undo of the iteration that ended in the state k. last
// is the newest kept state: a file that differs from HEAD may be changed only
// when it is as the loop has left it there. A *ConflictError says that files
// were changed since, or that the change does not come off. It changes nothing.
func PlanUndo(ctx context.Context, dir string, k, last Kept) (*Undo, error) {
	c, err := git.Inspect(ctx, dir)
	if err != nil {
		return nil, err
	}
	if !c.Repo {
		return nil, fmt.Errorf("undo: %w", git.ErrNoRepository)
	}
	if err := git.Fit(c); err != nil {
		return nil, &ConflictError{err.Error()}
	}
	root := c.Root
	if k.Base == "" {
		return nil, &ConflictError{fmt.Sprintf("the state before iteration %d is not known", k.Iteration)}
	}
	if _, err := (git.Call{Dir: root}).Run(ctx, "cat-file", "-e", k.Base+"^{commit}"); err != nil {
		return nil, errors.Join(ctx.Err(), &ConflictError{fmt.Sprintf("the state before iteration %d is no longer kept", k.Iteration)})
	}
	u := &Undo{root: root, kept: k}
	out, err := git.Call{Dir: root}.Run(ctx, "diff-tree", "-r", "-z", "--no-renames", "--name-only", k.Base, k.OID)
	if err != nil {
		return nil, fmt.Errorf("undo: %w", err)
	}
	u.Files = splitNul(out)
	if len(u.Files) == 0 {
		return nil, &ConflictError{fmt.Sprintf("iteration %d changed no file", k.Iteration)}
	}
	if err := u.check(ctx, last); err != nil {
		return nil, err
	}
	u.patch, err = git.Call{Dir: root}.Run(ctx, "diff-tree", "-r", "-p", "--binary", "--full-index", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-color", k.OID, k.Base)
	if err != nil {
		return nil, fmt.Errorf("undo: %w", err)
	}
	if err := u.apply(ctx, "--check"); err != nil {
		_, why, _ := strings.Cut(err.Error(), "error: ")
		return nil, errors.Join(ctx.Err(), &ConflictError{fmt.Sprintf("later changes stand on iteration %d (%s); undo the later iterations first", k.Iteration, why)})
	}
	return u, nil
}

func splitNul(out string) []string {
	return slices.DeleteFunc(strings.Split(out, "\x00"), func(s string) bool { return s == "" })
}

// check finds the uncommitted files, and refuses when somebody else changed them.
func (u *Undo) check(ctx context.Context, last Kept) error {
	snap, err := git.Observe(ctx, u.root)
	if err != nil {
		return err
	}
	for _, f := range u.Files {
		if snap.Dirty(f) {
			u.Uncommitted = append(u.Uncommitted, f)
		}
	}
	if len(u.Uncommitted) == 0 {
		return nil
	}
	now, err := git.Hash(ctx, u.root, u.Uncommitted)
	if err != nil {
		return fmt.Errorf("undo: %w", err)
	}
	out, err := git.Call{Dir: u.root}.Run(ctx, append([]string{"ls-tree", "-r", "-z", last.OID, "--"}, u.Uncommitted...)...)
	if err != nil {
		return fmt.Errorf("undo: %w", err)
	}
	left := map[string]string{}
	for _, record := range splitNul(out) {
		facts, path, _ := strings.Cut(record, "\t")
		if f := strings.Fields(facts); len(f) == 3 {
			left[path] = f[0] + " " + f[2]
		}
	}
	changed := slices.DeleteFunc(slices.Clone(u.Uncommitted), func(f string) bool { return now[f] == left[f] })
	if len(changed) > 0 {
		return &ConflictError{"these files have changes that are not the loop's, commit or put them away first: " + strings.Join(changed, ", ")}
	}
	return nil
}

func (u *Undo) apply(ctx context.Context, options ...string) error {
	_, err := git.Call{Dir: u.root, Stdin: u.patch}.Run(ctx, append([]string{"apply", "--whitespace=nowarn"}, options...)...)
	return err
}

// Do changes the work tree, all files or none, and commits exactly them, when
// all were as in HEAD.
func (u *Undo) Do(ctx context.Context) (git.Committed, error) {
	if err := u.apply(ctx); err != nil {
		return git.Committed{}, fmt.Errorf("undo: %w", err)
	}
	if len(u.Uncommitted) > 0 {
		return git.Committed{}, nil
	}
	message := fmt.Sprintf("Undo iteration %d\n\nThis takes back what iteration %[1]d of run %s changed.", u.kept.Iteration, u.kept.Run)
	return git.Commit(ctx, u.root, git.CommitRequest{Files: u.Files, Message: message,
		Trailers: []git.Trailer{{Key: "Ralph-Undo", Value: u.kept.Run + "/" + strconv.Itoa(u.kept.Iteration)}}})
}
