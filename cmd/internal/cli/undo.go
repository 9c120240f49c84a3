package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
	"ralph/cmd/internal/undo"
	"ralph/logs/termtext"
	"ralph/runner/git"
	"ralph/runner/git/history"
	"ralph/runner/memory"
	"ralph/runner/task/store"
	"ralph/state"
)

type undoOptions struct {
	pastOptions
	arg string // an iteration or a task
	yes bool
}

// newUndoCmd returns ralph undo.
func newUndoCmd(f *cmdline.Factory) *cobra.Command {
	o := &undoOptions{pastOptions: pastOptions{Factory: f}}
	cmd := &cobra.Command{
		Use: "undo N|TASK", Short: "Undo an iteration or a task with a new commit; asks first",
		Args: cmdline.Takes("one iteration or task", cobra.ExactArgs(1)),
		Long: "Undo what iteration N changed, or what all iterations of a task changed: with a new commit if the files are as in HEAD,\n" +
			"otherwise in your work tree. In the plan, this opens the boxes of the tasks whose work is undone, and changes nothing\n" +
			"else. If ralph cannot undo the change cleanly, it refuses and changes nothing.",
		Example: "  ralph undo 3\n  ralph undo T4",
		RunE: func(cmd *cobra.Command, args []string) error {
			o.arg = args[0]
			return undoRun(cmd.Context(), o)
		},
	}
	cmd.Flags().BoolVarP(&o.yes, "yes", "y", false, "Do not ask.")
	o.flag(cmd)
	return cmd
}

func undoRun(ctx context.Context, o *undoOptions) error {
	finished, err := o.recover(ctx)
	if err != nil {
		return err
	}
	p, err := o.read(ctx)
	if err != nil {
		return err
	}
	all, err := p.named(o.arg)
	if err != nil {
		return err
	}
	if len(all) > 0 && slices.EqualFunc(all, finished, func(a, b history.Kept) bool { return a.OID == b.OID }) {
		return nil // this is what was asked for
	}
	if all, err = o.standing(p, all); err != nil {
		return err
	}
	if owner, alive := cmdline.OpenState(p.dir).Owner(); alive {
		return &state.LockedError{Owner: owner}
	}
	r := history.Request{Iterations: all, Last: p.last}
	boxes, opens := p.boxes(all, &r)
	if err := undo.Prepare(&r, o.Loader(p.dir, nil), cmdline.OpenState(p.dir), boxes); err != nil {
		return err
	}
	if !p.undone[all[0].Iteration] {
		r.Notes = p.notes()
	}
	u, err := history.PlanUndo(ctx, p.dir, r)
	if conflict := (*history.ConflictError)(nil); errors.As(err, &conflict) && p.undone[all[0].Iteration] {
		return cmdline.UsageError("%s of run %s is undone already; nothing was changed", r.Name(), p.run)
	} else if conflict != nil {
		return cmdline.UsageError("%v; nothing was changed", err)
	}
	if err != nil {
		return err
	}
	how := "as a new commit"
	if len(u.Uncommitted) > 0 {
		how = "in the work tree, without a commit: this holds work of the loop that is not committed"
	}
	o.Say("undo of %s of run %s changes %s, %s:", r.Name(), p.run, termtext.Count(len(u.Files), "file"), how)
	for _, f := range u.Files {
		o.Say("  %s", cmdline.Inert(f))
	}
	for _, line := range opens {
		o.Say("%s", line)
	}
	if !o.yes && !o.CanAsk() {
		return cmdline.UsageError("nobody can be asked here; agree with: ralph undo %s%s --yes", o.arg, p.flag)
	}
	if !o.yes && !o.Agree("Do it?") {
		return &cmdline.ExitError{Code: state.ExitError, Text: "nothing was changed"}
	}
	return o.carryOut(ctx, u, p)
}

// recover finishes or takes back an undo that was killed, and returns the iterations that are undone now.
func (o *undoOptions) recover(ctx context.Context) ([]history.Kept, error) {
	r, dir, err := o.Reader()
	if err != nil || !undo.Pending(o.Loader(dir, nil)) {
		return nil, err
	}
	w, done, err := o.LockAndRecover(r.Dir(), state.Owner{PID: os.Getpid(), RunID: "undo", StartedAt: time.Now()})
	if err != nil {
		return nil, err
	}
	defer w.Release()
	if len(done.Iterations) > 0 {
		o.saveReport(ctx, w, done.Iterations[0].Run)
	}
	return done.Iterations, nil
}

// saveReport writes the kept report of a run anew, if there is one.
func (o *undoOptions) saveReport(ctx context.Context, w *state.Writer, run string) {
	if kept, err := w.Record(run); err == nil && kept != nil {
		if err := saveReport(ctx, w, run, o.Env); err != nil {
			o.Warn(fmt.Errorf("the kept report is as before: %w", err))
		}
	}
}

// standing are the iterations of a task that are not undone yet. It keeps an iteration that was named by
// its number, so that PlanUndo can say that it is already undone.
func (o *undoOptions) standing(p *past, all []history.Kept) ([]history.Kept, error) {
	if _, err := strconv.Atoi(o.arg); err == nil {
		return all, nil
	}
	for _, why := range p.unkeptOf(o.arg) {
		o.Say("left out: %s", why)
	}
	left := slices.DeleteFunc(slices.Clone(all), func(k history.Kept) bool { return p.undone[k.Iteration] })
	if len(left) == 0 {
		return nil, cmdline.UsageError("task %s is undone already; nothing was changed", o.arg)
	}
	return left, nil
}

// carryOut undoes what the user has agreed to.
func (o *undoOptions) carryOut(ctx context.Context, u *history.Undo, p *past) error {
	defer undo.Shield()()
	w, err := o.Lock(filepath.Join(p.dir, state.DirName), "undo")
	if err != nil {
		return err
	}
	defer w.Release()
	done, forgotten, err := undo.Do(ctx, w, o.Loader(p.dir, nil), u)
	if err != nil {
		return err
	}
	if forgotten > 0 {
		o.Say("forgot %s that it taught", termtext.Count(forgotten, "lesson"))
	}
	for _, r := range done.Refused {
		o.Say("not committed: %s (%s)", cmdline.Inert(r.File), r.Why)
	}
	o.saveReport(ctx, w, p.run)
	if done.OID == "" {
		o.Say("undone in the work tree; see: git status")
	} else {
		o.Say("undone in commit %s; take it back with: git revert %[1]s", done.OID[:10])
	}
	return u.Close()
}

// boxes completes the request with the plan. It returns the boxes of the tasks whose work is undone, and what is said
// about them, a line each.
func (p *past) boxes(all []history.Kept, r *history.Request) (boxes undo.Boxes, said []string) {
	k := all[0]
	path := undo.PlanOf(p.dir, k)
	if path == "" {
		return boxes, nil
	}
	r.Plan, _ = p.inRepository(path)
	shown := relative(p.dir, path)
	at := store.At(p.dir, path, nil)
	list, err := store.Load(at)
	if err != nil {
		return boxes, []string{cmdline.Inert(fmt.Sprintf("no box is opened again: %v", err))}
	}
	if _, known := list.Find(k.Task); !known && k.Task != "" {
		said = append(said, fmt.Sprintf("no box is opened again: %q is not in %s any more", p.task(k), cmdline.Inert(shown)))
	}
	boxes.Plan = at
	for _, t := range list.Tasks {
		m := p.tasks[t.ID]
		if t.Done() && (undo.Gone(m, all) || t.ID == k.Task && len(m.Work) == 0) {
			boxes.Tasks = append(boxes.Tasks, t)
			said = append(said, fmt.Sprintf("  %s: the box of %q is opened again", cmdline.Inert(shown), oneLine(t.Title)))
		}
	}
	return boxes, said
}

// notes are the files of the repository in which ralph lists lessons.
func (p *past) notes() (all []string) {
	for _, path := range memory.Lists(p.dir) {
		if rel, ok := p.inRepository(path); ok {
			all = append(all, rel)
		}
	}
	return all
}

// inRepository is the slash-separated path below the root of the repository. ok is false outside of it.
func (p *past) inRepository(path string) (rel string, ok bool) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		real = path // it is gone
	}
	root, _ := git.Root(p.dir)
	if rel, err = filepath.Rel(root, real); err != nil || !filepath.IsLocal(rel) {
		return "", false
	}
	return filepath.ToSlash(rel), true
}
