package turn

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"mvdan.cc/sh/v3/syntax"

	"ralph/runner/audit"
	"ralph/runner/git"
	"ralph/runner/git/command"
	"ralph/runner/task/store"
	"ralph/runner/turn/protect"
	"ralph/runner/turn/stop"
	"ralph/state"
)

// trail has the states of a workspace that ralph undo can restore. Git keeps them.
type trail struct {
	dir     string
	start   *git.Snapshot     // the workspace when the worker began; nil: outside git
	users   git.UserFiles     // changes of the user, which ralph never commits
	keeper  *git.Keeper       // nil: outside git
	keeping *git.Keeping      // the state that is being written; nil: none
	base    string            // the state that the next turn begins with
	kept    git.Snapshot      // of that state
	mine    []string          // files that a person changed: before the start, or between turns
	between []string          // those of mine that a person changed between turns
	traces  audit.Traces      // what the turns changed
	view    git.HiddenView    // what git did not show at the start
	states  int               // how many were kept
	begun   int               // the iteration that was kept last
	from    string            // the state that it began with
	refused map[string]string // by file: the latest reported reason why it was not committed
}

// openTrail keeps the state before the worker's first turn, and again when people have edited since the last one.
func (w *Worker) openTrail(ctx context.Context, a Assignment) {
	t := &w.trail
	w.Shared = cmp.Or(w.Shared, &Shared{})
	if !w.before.Repo {
		return
	}
	if t.start != nil {
		edited := t.kept.Compare(*w.before)
		if t.keeper == nil || !edited.Progress() {
			return
		}
		w.finishKeeping()
		t.between = append(t.between, slices.DeleteFunc(edited.Files, ofPlan(a))...)
		t.mine = append(t.mine, t.between...)
		w.keepStart(ctx, a)
		return
	}
	start := *w.before
	t.dir, t.start, t.refused = a.Dir, &start, map[string]string{}
	root, _ := git.Root(a.Dir)
	var err error
	if t.users, err = w.UserChanges.Begin(root, start.Changes()); err != nil {
		w.Log.Warn("a run that continues this one will not commit what this one leaves", "error", err)
	}
	maps.DeleteFunc(t.users.Files, func(f, _ string) bool { return t.users.Late[f].Mixed && ofPlan(a)(f) }) // ralph task done, then ralph resume
	t.mine = slices.DeleteFunc(t.users.Files.Names(), ofPlan(a))
	w.branch = start.Branch
	if w.Shared.first == nil { // the run has not begun other turns yet
		first := w.refs
		w.Shared.first = &first
		w.notKept(first.KeepStash(ctx, a.Dir, a.Origin.Run))
	}
	if t.view, err = git.LookForHidden(ctx, a.Dir); err != nil {
		w.Log.Warn("cannot list the files that git ignores or hides", "error", err)
	}
	w.view = t.view
	if keeper, ok := git.NewKeeper(a.Dir); ok {
		t.keeper, t.begun, t.from = keeper, w.Begun.Iteration, w.Begun.Base
		w.keepStart(ctx, a)
	}
}

// ofPlan reports whether a file belongs to the plan, which has an audit of its own, or is one that ralph wrote.
func ofPlan(a Assignment) func(file string) bool {
	in := command.Relative(a.Dir)
	return func(f string) bool { return a.Plan.Has(store.Plan{}, in(f)) || state.Wrote(a.Dir, in(f)) }
}

// Untouched reports whether nothing but the plan differs from HEAD, and no commit is younger than since: a call that
// began then and was killed has left no work. Without git, nobody knows, and it is false.
func (w *Worker) Untouched(ctx context.Context, a Assignment, since time.Time) bool {
	ctx = w.git(ctx, a)
	now, err := git.Observe(ctx, a.Dir)
	if err != nil || !now.Repo || slices.ContainsFunc(now.Changes().Names(), func(f string) bool { return !ofPlan(a)(f) }) {
		return false
	}
	out, err := command.Run(ctx, a.Dir, "log", "-1", "--format=%ct")
	made, bad := strconv.ParseInt(strings.TrimSpace(out), 10, 64)
	return err == nil && bad == nil && made <= since.Unix()
}

// WhilePeopleEdit begins a time in which ralph starts nothing. All changes until back is called count as those of people.
func (w *Worker) WhilePeopleEdit(ctx context.Context, a Assignment) (back func()) {
	if ctx = w.git(ctx, a); w.trail.start == nil || w.look(ctx, a.Dir) != nil {
		return w.Forget
	}
	was := w.before.Changes()
	return func() {
		w.Forget()
		late, done := stop.Outlast(ctx)
		defer done()
		if w.look(late, a.Dir) == nil {
			w.notKept(w.UserChanges.Edited(&w.trail.users, was, w.before.Changes(), ofPlan(a)))
		}
	}
}

// keepStart keeps the workspace as the state before the next turn.
func (w *Worker) keepStart(ctx context.Context, a Assignment) {
	base, err := w.trail.keeper.Keep(ctx, *w.before, git.State{Run: a.Origin.Run, Iteration: a.Origin.Iteration, Start: true})
	w.notKept(err)
	w.trail.base, w.trail.kept = base, *w.before
}

func (w *Worker) notKept(err error) {
	if err != nil {
		w.Log.Warn("this state cannot be kept", "error", err)
	}
}

// packEvery is after how many kept states git packs them: each is a few small files.
const packEvery = 200

// Keep keeps the workspace as it is now, as the end of an iteration. Git writes it while the next agent call runs.
// When a person has ended the run, there is no next call: git then has only the time that stop.Outlast grants.
func (w *Worker) Keep(ctx context.Context, dir string, s git.State) error {
	t := &w.trail
	if t.keeper == nil {
		return nil
	}
	ctx = command.With(ctx, w.Trust)
	late, done := stop.Outlast(ctx)
	defer done()
	if err := w.look(late, dir); err != nil {
		return err
	}
	w.finishKeeping()
	if t.states++; t.states%packEvery == 0 {
		git.Pack(ctx, dir)
	}
	if s.Iteration != t.begun { // else this is a retry: the iteration began before its first try
		t.begun, t.from = s.Iteration, t.base
	}
	s.Base = t.from
	if ctx.Err() != nil {
		_, err := t.keeper.Keep(late, *w.before, s)
		w.notKept(err)
		return nil
	}
	t.keeping, t.kept = t.keeper.Start(late, *w.before, s), *w.before
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

// Changed is the audit's input for all turns of the worker together; nil outside git.
func (w *Worker) Changed(ctx context.Context, dir string) (*audit.Input, error) {
	t := &w.trail
	if t.start == nil {
		return nil, nil
	}
	ctx = command.With(ctx, w.Trust)
	if err := w.look(ctx, dir); err != nil {
		return nil, err
	}
	change, err := t.start.Compare(*w.before).Committed(ctx, dir, *t.start, *w.before)
	if err != nil {
		return nil, err
	}
	texts, err := change.Texts(ctx, dir, *t.start, *w.before)
	if err != nil {
		return nil, err
	}
	in := &audit.Input{Edited: t.between, Steering: audit.Steering(w.steer.Steering)}
	in.Discarded = change.Discarded(*t.start, *w.before, t.mine)
	in.Undone = t.traces.Undone(texts, t.between)
	in.Files = protect.Steered(dir, texts, w.steer.Changed(dir), w.by)
	now, hidden, err := t.view.Since(ctx, t.start.Head, true)
	if err != nil {
		return nil, err
	}
	needed, err := neededIgnored(ctx, dir, now, *in, t.view.Taken)
	if err != nil {
		return nil, err
	}
	in.Hidden = slices.Concat(hidden, needed, git.Shadows(ctx, dir, change.Files))
	in.Head, in.Conflicts = w.moved, git.Conflicts(ctx, dir, texts)
	if in.Scratch = w.branch == ""; !in.Scratch {
		in.Operation, in.Unmerged = w.before.Operation, w.before.Unmerged
	}
	in.Lost, err = git.StillLost(ctx, dir, w.missing, w.refs, func() (string, error) { return w.before.Tree(ctx) })
	return in, err
}

// lookAround finds what the turn hid from git, and what it threw away.
func (t *turn) lookAround(ctx context.Context, c git.Change, before, after git.Snapshot) audit.Input {
	w := t.w
	in := audit.Input{Large: c.Large(t.a.Dir), Gone: audit.Gone{Discarded: c.Discarded(before, after, w.trail.mine)}}
	rules := slices.ContainsFunc(c.Files, func(file string) bool { return path.Base(file) == ".gitignore" })
	var err error
	w.view, in.Hidden, err = w.view.Since(ctx, before.Head, rules)
	in.Hidden = append(in.Hidden, git.Shadows(ctx, t.a.Dir, c.Files)...)
	if err == nil && len(in.Discarded) > 0 {
		w.finishKeeping()
		root, _ := git.Root(t.a.Dir)
		in.Restore, err = restoreCommand(ctx, root, w.trail.base, in.Discarded)
	}
	if err != nil {
		w.Log.Warn("cannot find everything that the turn hid or threw away", "error", err)
	}
	return in
}

// neededIgnored finds code that git ignores, written since then, that only the files that import it know: nothing makes it
// again in a clone.
func neededIgnored(ctx context.Context, dir string, now git.HiddenView, in audit.Input, then time.Time) (found []git.HiddenFile, err error) {
	names := in.NewImports()
	written := now.Written(names, then)
	for _, file := range slices.Sorted(maps.Keys(written)) {
		texts, twins, err := git.Known(ctx, dir, file, written[file])
		if err != nil {
			return nil, err
		}
		source := func(twin string) bool { // it may be compiled from this one
			return !slices.Contains(names[git.NameOf(file)], twin) && !audit.IsAboutTests(twin)
		}
		if audit.WrittenByHand(file, written[file], texts) && !slices.ContainsFunc(twins, source) {
			found = append(found, git.HiddenFile{File: file, Needed: true})
		}
	}
	return found, nil
}

// Around wraps a commit. It calls commit, or returns an error that says why not.
type Around func(commit func() (state.Commit, error)) (state.Commit, error)

// Commit commits what the agent has left uncommitted since the run began. It does not touch files that were dirty
// before, nor what the user staged. If there is something to commit, around decides about it; nil: it is committed.
func (w *Worker) Commit(ctx context.Context, a Assignment, r git.CommitRequest, around Around) (state.Commit, error) {
	t := &w.trail
	if t.start == nil && !w.UserChanges.Continues || ctx.Err() != nil {
		return state.Commit{}, nil
	}
	ctx = w.git(ctx, a)
	if err := w.look(ctx, a.Dir); err != nil {
		return state.Commit{}, err
	}
	if t.start == nil { // a run without a turn: the run before has done everything
		if w.openTrail(ctx, a); t.start == nil {
			return state.Commit{}, nil
		}
	}
	if w.before.Branch == "" {
		return state.Commit{}, errors.New("HEAD is detached: the commit would be on no branch")
	}
	now := w.before.Changes()
	if r.Files = t.users.LeftOver(now); len(r.Files) > 0 && around != nil {
		return around(func() (state.Commit, error) { return w.Commit(ctx, a, r, nil) })
	}
	mixed := t.users.AllMixed(now)
	if len(r.Files)+len(mixed) == 0 {
		return state.Commit{}, nil
	}
	done, err := git.Commit(ctx, a.Dir, r)
	if err != nil {
		return state.Commit{}, err
	}
	c := state.Commit{OID: done.OID, Files: len(done.Files)}
	if c.OID != "" {
		after := w.before.WithCommit(done)
		w.before, w.refs = &after, w.refs.WithCommit(c.OID)
	}
	done.Refused = append(done.Refused, mixed...)
	for _, refusal := range done.Refused {
		if t.refused[refusal.File] != refusal.Why {
			t.refused[refusal.File] = refusal.Why
			c.Refused = append(c.Refused, refusal)
		}
	}
	return c, nil
}

// restoreCommand returns the command that restores files from a kept state. If the state does not have them, because they are
// too large, the text says so.
func restoreCommand(ctx context.Context, root, oid string, files []string) (string, error) {
	if oid == "" {
		return "ralph kept no copy", nil
	}
	out, err := command.Run(ctx, root, append([]string{"ls-tree", "-r", "--full-tree", "--name-only", "-z", oid, "--"},
		files...)...)
	if err != nil {
		return "", fmt.Errorf("look for kept files: %w", err)
	}
	kept := strings.Split(out, "\x00")
	words := []string{"git", "-C", root, "--literal-pathspecs", "restore", "--source", fmt.Sprintf("%.12s", oid), "--"}
	names := len(words)
	for _, f := range files {
		if slices.Contains(kept, f) {
			words = append(words, f)
		}
	}
	lost := len(files) - len(words[names:])
	if lost == len(files) {
		return "ralph kept no copy, because they are too large", nil
	}
	for i, w := range words {
		if words[i], err = syntax.Quote(w, syntax.LangBash); err != nil {
			return "", fmt.Errorf("quote %q: %w", w, err)
		}
	}
	text := strings.Join(words, " ")
	if lost > 0 {
		text += fmt.Sprintf(" (%d of them were too large to keep)", lost)
	}
	return text, nil
}
