// Package history compares the states that git.Keeper has kept, and undoes an iteration.
package history

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ralph/logs/termtext"
	"ralph/runner/git"
	"ralph/runner/git/command"
)

// Request is what to undo.
type Request struct {
	// Iterations are undone together or not at all; the newest comes first.
	Iterations []Kept
	// Last is the newest kept state. Undo changes an uncommitted file only if it still matches this state.
	Last Kept
	// Plan is the slash-separated path of the plan, relative to the root of the
	// repository; empty: none is in it. Later iterations tick boxes in it too, so an undo
	// only reopens the box of the iteration's task.
	Plan string
	// Reopen opens that box, and Restore gives it its old state if the undo fails afterwards; nil if there is none.
	Reopen, Restore func() error
	// Notes are files, named like Plan, in which ralph lists lessons after each iteration. Once later iterations have
	// added some, a patch no longer applies: the undo then leaves these files as they are.
	Notes []string
	// Journal is a folder outside the project, in which Do records what it changes. The next ralph takes a killed undo
	// back with it; see Interrupted.
	Journal string
	// Box and Status are for whoever takes it back: the task that Reopen opens, and what was known of the run before.
	Box, Status json.RawMessage
}

// Undo is a prepared undo that has been checked to apply.
type Undo struct {
	Files []string // that it changes, without the plan
	// Uncommitted are those of Files that differ from HEAD: work of the loop that nobody
	// has committed. If there are any, the undo makes no commit.
	Uncommitted []string
	root        string
	now, then   string   // trees of Files: as they are, and as they will be
	patches     []string // back from each iteration
	r           Request
	planClean   bool     // the plan is as in HEAD
	leaves      []string // files that it does not change
	journal     *journal

	reopened bool // Reopen was called
}

// ConflictError says why an iteration cannot be undone.
type ConflictError struct {
	Why     string
	patches bool // they do not apply
}

func (e *ConflictError) Error() string { return "cannot undo: " + e.Why }

// PlanUndo prepares the undo and changes nothing. A *ConflictError says why the iterations
// cannot be undone, for example because the files have changed since then.
func PlanUndo(ctx context.Context, dir string, r Request) (*Undo, error) {
	u, err := planUndo(ctx, dir, r, nil)
	conflict := (*ConflictError)(nil)
	if !errors.As(err, &conflict) {
		return u, err
	}
	if len(r.Notes) > 0 {
		if u, again := planUndo(ctx, dir, r, r.Notes); again == nil {
			return u, nil
		}
	}
	if conflict.patches {
		conflict.first(ctx, dir, r)
	}
	return nil, err
}

// first says which later iterations of the same files have to be undone before those of r, if that is all.
func (e *ConflictError) first(ctx context.Context, dir string, r Request) {
	const most = 30 // that are tried
	root, _ := git.Root(dir)
	files := func(k Kept) []string {
		all, _ := (&Undo{root: root}).changed(ctx, k.Base, k.OID) // without them, the advice is general
		return slices.DeleteFunc(all, func(f string) bool { return f == r.Plan })
	}
	var ours []string
	for _, k := range r.Iterations {
		ours = append(ours, files(k)...)
	}
	all, _ := List(ctx, dir, r.Iterations[0].Run)
	var later []Kept
	for _, k := range slices.Backward(all) {
		switch {
		case k.Iteration <= r.Iterations[0].Iteration || len(later) == most:
			return
		case k.Start, len(later) > 0 && later[len(later)-1].Iteration == k.Iteration,
			!slices.ContainsFunc(files(k), func(f string) bool { return slices.Contains(ours, f) }):
			continue
		}
		later = append(later, k)
		for _, some := range [][]Kept{{k}, later} {
			with := r
			with.Iterations = slices.Concat(some, r.Iterations)
			if _, err := planUndo(ctx, dir, with, r.Notes); err == nil {
				e.Why = fmt.Sprintf("later changes depend on %s; undo first: %s", r.Name(), Request{Iterations: some}.Name())
				return
			}
		}
	}
}

func planUndo(ctx context.Context, dir string, r Request, leaves []string) (*Undo, error) {
	c, err := git.Inspect(ctx, dir)
	if err != nil {
		return nil, err
	}
	if !c.Repo {
		return nil, fmt.Errorf("undo: %w", command.ErrNoRepository)
	}
	if err := git.Ready(c); err != nil {
		return nil, &ConflictError{Why: err.Error()}
	}
	u := &Undo{root: c.Root, r: r, leaves: leaves}
	if r.Plan != "" {
		u.leaves = append(slices.Clone(leaves), r.Plan)
	}
	changed := 0
	for _, k := range r.Iterations {
		n, err := u.add(ctx, k)
		if err != nil {
			return nil, err
		}
		changed += n
	}
	slices.Sort(u.Files)
	u.Files = slices.Compact(u.Files)
	if changed == 0 || len(u.Files) == 0 && r.Reopen == nil {
		return nil, &ConflictError{Why: r.Name() + " changed no file"}
	}
	if err := u.check(ctx); err != nil {
		return nil, err
	}
	if err := u.combine(ctx); err != nil {
		_, why, _ := strings.Cut(err.Error(), "error: ")
		return nil, errors.Join(ctx.Err(), &ConflictError{Why: fmt.Sprintf("later changes depend on %s, or it is not part of this branch (%s); "+
			"undo later iterations first, or check out its branch", r.Name(), why), patches: true})
	}
	return u, nil
}

// Name returns "iteration 3" or "iterations 5, 3".
func (r Request) Name() string {
	numbers := termtext.Each(r.Iterations, func(k Kept) string { return strconv.Itoa(k.Iteration) })
	if len(numbers) == 1 {
		return "iteration " + numbers[0]
	}
	return "iterations " + strings.Join(numbers, ", ")
}

// add adds the patch that undoes iteration k, and returns how many files the iteration changed.
func (u *Undo) add(ctx context.Context, k Kept) (int, error) {
	if k.Base == "" {
		return 0, &ConflictError{Why: fmt.Sprintf("the state before iteration %d is not known", k.Iteration)}
	}
	if _, err := (command.Call{Dir: u.root}).Run(ctx, "cat-file", "-e", k.Base+"^{commit}"); err != nil {
		return 0, errors.Join(ctx.Err(), &ConflictError{Why: fmt.Sprintf("the state before iteration %d is no longer kept",
			k.Iteration)})
	}
	changed, err := u.changed(ctx, k.Base, k.OID)
	if err != nil {
		return 0, err
	}
	u.Files = append(u.Files, slices.DeleteFunc(slices.Clone(changed), func(f string) bool { return slices.Contains(u.leaves, f) })...)
	args := []string{"-p", "--binary", "--full-index", "--no-ext-diff", "--no-textconv", "--no-color", k.OID, k.Base,
		"--", "."}
	for _, f := range u.leaves {
		args = append(args, ":(exclude,literal)"+f)
	}
	patch, err := u.compare(ctx, args...)
	u.patches = append(u.patches, patch)
	return len(changed), err
}

// combine applies the patches to the files as they are.
func (u *Undo) combine(ctx context.Context) error {
	x, err := git.NewIndex(ctx, u.root, "")
	if err != nil {
		return err
	}
	defer x.Close()
	if err := x.Add(ctx, u.Files); err != nil {
		return err
	}
	if u.now, err = x.Tree(ctx); err != nil {
		return err
	}
	for _, patch := range u.patches {
		if patch == "" {
			continue // it changed nothing but the plan
		}
		if _, err := x.Run(ctx, patch, "apply", "--cached", "--whitespace=nowarn"); err != nil {
			return err
		}
	}
	u.then, err = x.Tree(ctx)
	return err
}

func (u *Undo) compare(ctx context.Context, args ...string) (string, error) {
	out, err := command.Call{Dir: u.root}.Run(ctx, append([]string{"diff-tree", "-r", "--no-renames"}, args...)...)
	if err != nil {
		return "", fmt.Errorf("undo: %w", err)
	}
	return out, nil
}

// changed returns the files that differ between two commits or trees.
func (u *Undo) changed(ctx context.Context, from, to string) ([]string, error) {
	out, err := u.compare(ctx, "-z", "--name-only", from, to, "--")
	return command.Entries(out), err
}

// check finds the uncommitted files. It returns a *ConflictError if somebody else has changed them.
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
		changed, err := differing(ctx, u.root, snap.Head, []string{u.r.Plan})
		if err != nil {
			return err
		}
		u.planClean = len(changed) == 0
	}
	if len(u.Uncommitted) == 0 {
		return nil
	}
	changed, err := differing(ctx, u.root, u.r.Last.OID, u.Uncommitted)
	if err == nil && len(changed) > 0 {
		err = &ConflictError{Why: "these files have changes that the loop did not make; commit or stash them first: " +
			strings.Join(changed, ", ")}
	}
	return err
}

// differing returns those of the files that differ between the work tree and a commit or tree.
func differing(ctx context.Context, root, commit string, files []string) ([]string, error) {
	now, err := git.TreeWith(ctx, root, commit, files)
	if err != nil {
		return nil, fmt.Errorf("undo: %w", err)
	}
	return (&Undo{root: root}).changed(ctx, commit, now)
}

// Do changes all files in the work tree or none, and reopens the box. If none of the files differed from HEAD, it
// commits exactly this change, but not a plan that was changed or untracked. The caller calls Undo.Close once it has
// noted the undo elsewhere.
func (u *Undo) Do(ctx context.Context) (git.Committed, error) {
	if err := git.Unlocked(u.root); err != nil {
		return git.Committed{}, fmt.Errorf("undo: %w", err)
	}
	j, err := u.begin(ctx)
	if err != nil {
		return git.Committed{}, errors.Join(fmt.Errorf("undo: %w", err), j.Close())
	}
	done, err := u.write(ctx, j)
	if err != nil {
		if u.reopened && u.r.Restore != nil {
			err = errors.Join(err, u.r.Restore())
		}
		_, back := j.TakeBack(context.WithoutCancel(ctx))
		return git.Committed{}, errors.Join(err, back)
	}
	u.journal = j
	return done, nil
}

// Iterations returns what is undone, the newest first.
func (u *Undo) Iterations() []Kept { return u.r.Iterations }

// Close forgets what is needed to take the undo back.
func (u *Undo) Close() error { return u.journal.Close() }

func (u *Undo) write(ctx context.Context, j *journal) (git.Committed, error) {
	if err := j.change(ctx, j.Files, j.Then); err != nil {
		return git.Committed{}, fmt.Errorf("undo: %w", err)
	}
	files := slices.Clone(u.Files)
	if u.r.Reopen != nil {
		u.reopened = true
		if err := u.r.Reopen(); err != nil {
			return git.Committed{}, err
		}
		if u.planClean {
			files = append(files, u.r.Plan)
		}
	}
	if len(u.Uncommitted) > 0 || len(files) == 0 {
		return git.Committed{}, u.record(ctx, j)
	}
	title := u.r.Name()
	message := fmt.Sprintf("Undo %s\n\nThis reverts what %[1]s of run %s changed.", title, u.r.Iterations[0].Run)
	var trailers []git.Trailer
	for _, k := range u.r.Iterations {
		trailers = append(trailers, git.Trailer{Key: undoTrailer, Value: k.Run + "/" + strconv.Itoa(k.Iteration)})
	}
	done, err := git.Commit(ctx, u.root, git.CommitRequest{Files: files, Message: message, Trailers: trailers, Hold: j.hold})
	if err == nil && done.OID == "" { // all files were refused: the undo is in the work tree only
		err = u.record(ctx, j)
	}
	return done, err
}

// record records an undo that changed only the work tree.
func (u *Undo) record(ctx context.Context, j *journal) error {
	var states []git.State
	for _, k := range u.r.Iterations {
		states = append(states, git.State{Run: k.Run, Iteration: k.Iteration, Base: u.r.Last.OID, Undone: true})
	}
	return git.KeepFiles(ctx, u.root, u.Files, j.hold, states...)
}

const undoTrailer = "Ralph-Undo"
