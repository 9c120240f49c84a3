package crew

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ralph/logs/termtext"
	"ralph/runner/audit"
	"ralph/runner/gate"
	"ralph/runner/git"
	"ralph/runner/git/command"
	"ralph/runner/roles"
	"ralph/runner/slots"
	"ralph/runner/turn"
	"ralph/runner/turn/stop"
	"ralph/state"
	"ralph/state/projectfs"
)

// carryOut carries out one job in its slot, from the clean worktree to the answer of the merge queue. look reviews the kept
// work; nil: the developer of the task works.
func (c *worktrees) carryOut(j *Job, look ReviewFunc) Done {
	ctx := command.With(j.Ctx, c.trust)
	d := Done{Job: j, Result: c.notBegun(ctx, j)}
	land := c.work(ctx, j, &d, look)
	defer func() {
		if j.announced {
			c.queue.withdraw()
		}
	}()
	switch {
	case d.Err != nil:
	case look == nil && j.Ctx.Err() != nil && d.Result.Proof.After.IsDone(d.Result.Task.ID):
		d.refuse(turn.Refusal{Stopped: true}) // its work does not land, so its tick must not count: the next run continues
	case land && len(j.work.Submodules) > 0:
		why := fmt.Sprintf("it changes the submodule %s, and a worktree has its own repository of that, so the work stays in %s; "+
			"do this task without worktrees: ralph --parallel 1 --isolate none", termtext.Some(j.work.Submodules, 5), j.slot.Root)
		d.refuse(turn.Refusal{Why: why, GiveUp: why})
	case land && j.work.Commit != "" && j.Ctx.Err() == nil:
		c.land(ctx, j, &d)
	}
	return d
}

// workerIn makes a worker for a slot.
func (c *worktrees) workerIn(s *slots.Slot) *turn.Worker {
	w := c.o.Worker(s.Env(c.o.Env))
	w.Trust = c.trust
	return w
}

// work brings the slot to the end of the branch with the kept work on the task, lets the developer work or the reviewers
// look, and keeps what they did. land is true if that may land.
func (c *worktrees) work(ctx context.Context, j *Job, d *Done, look ReviewFunc) (land bool) {
	tip, err := c.trunk.branch.Tip(ctx)
	var begun slots.Begun
	if err == nil {
		begun, err = j.slot.Begin(ctx, j.Assignment.Task, tip)
	}
	if err != nil {
		d.Err, d.Result = err, c.notBegun(ctx, j)
		return false
	}
	if look != nil && len(begun.Conflict) > 0 {
		d.Conflict, d.Result = begun.Conflict, turn.Conflicting(d.Result)
		return false
	}
	j.Worker = c.workerIn(j.slot)
	if look != nil {
		if message, err := command.Run(ctx, j.slot.Root, "log", "-1", "--format=%B", begun.Kept); err == nil && begun.Kept != "" &&
			strings.Contains(message, "\nRalph-Iteration: ") { // else no turn made the commit
			j.message = message
		}
		d.Result, land, d.Err = look(ctx, Place{Dir: j.slot.Dir, Env: j.slot.Env(c.o.Env), Base: begun.Base})
	} else {
		if !c.turn(ctx, j, d, begun) {
			return false
		}
		land = mayLand(d.Result)
	}
	if land {
		j.announced = true
		c.queue.announce()
	}
	late, done := stop.Outlast(ctx)
	defer done()
	if j.work, err = j.slot.Save(late, j.message); err == nil && j.marked {
		err = c.rejectForeignStash(late, j, d, begun)
		land = land && mayLand(d.Result)
	}
	d.Err, d.Work = errors.Join(d.Err, err), j.work
	if look != nil {
		j.unchecked = !c.same(late, begun.Kept, j.work)
		if land && d.Err == nil && j.work.Commit != "" {
			d.Files, d.Err = j.work.Files(late, j.slot)
		}
	}
	return land
}

// turn is the turn of the developer, here or on another machine. began is false if it ended before the call.
func (c *worktrees) turn(ctx context.Context, j *Job, d *Done, begun slots.Begun) (began bool) {
	if !j.away { // another machine has a stash of its own
		if d.Err = j.slot.Mark(ctx, j.Assignment.Task); d.Err != nil {
			return false
		}
		j.marked = true
	}
	if left := j.slot.LeftOut(); len(left) > 0 {
		c.noted.Do(func() { // it is the same for all turns
			c.Tell(state.NewEvent(j.Origin, time.Now(), state.Finding{Source: state.FoundByChecks, Text: "worktrees do not get " +
				termtext.Some(left, 5) + ": ralph copies only plain files and follows no links"}))
		})
	}
	j.Assignment.Known.Worked = j.Assignment.Known.Worked || begun.Resumed // it may be done already
	if len(begun.Conflict) > 0 {
		j.Assignment.Origin.Role = roles.Merger
		j.Assignment.Prompt.Feedback = append([]string{conflictText(begun.Conflict)}, j.Assignment.Prompt.Feedback...)
	}
	if c.away(ctx, j, d) {
		return true
	}
	if d.Err = j.slot.Setup(c.o.Setup).Run(ctx, j.Worker, j.Assignment, c.Tell); d.Err != nil {
		return false
	}
	d.Result, d.Err = j.Worker.Run(ctx, j.Assignment, c.Tell)
	return true
}

// same reports whether work is what its developer's turn has checked.
func (c *worktrees) same(ctx context.Context, kept string, w slots.Work) bool {
	if kept == "" || w.Commit == "" {
		return false
	}
	out, err := command.Run(ctx, c.trunk.slot.Root, "rev-parse",
		kept+"^{tree}", w.Commit+"^{tree}", kept+"^", w.Commit+"^")
	of := strings.Fields(out)
	return err == nil && len(of) == 4 && of[0] == of[1] && of[2] == of[3]
}

// rejectForeignStash keeps work from landing that has the files of another turn in it, from the stash that all
// worktrees share.
func (c *worktrees) rejectForeignStash(ctx context.Context, j *Job, d *Done, begun slots.Begun) error {
	var users []string
	for _, l := range d.Result.Work.Gone {
		if l.What == git.LostStash {
			users = append(users, l.OID)
		}
	}
	tip, err := c.trunk.branch.Tip(ctx)
	if err != nil {
		return err
	}
	x, err := j.slot.Crossed(ctx, slots.Turn{Task: j.Assignment.Task, Run: c.opened, Began: j.Since,
		Base: begun.Base, Tip: tip, Users: users})
	if err != nil || len(x.Foreign) == 0 {
		return err
	}
	text := fmt.Sprintf("the turn took stash entries that were not its own, %s, "+
		"with %s: git's stash is shared by all worktrees. Its work does not land; the entries are kept: git stash apply %s",
		short(x.Foreign), termtext.Some(x.Files, 5), short(x.Foreign))
	if len(x.Own) > 0 {
		text += fmt.Sprintf(". Its own are %s: git stash apply %s", short(x.Own), short(x.Own))
	}
	var keep []git.Lost
	for _, oid := range slices.Concat(x.Foreign, x.Own, []string{j.work.Commit}) {
		keep = append(keep, git.Lost{OID: oid})
	}
	if err := git.KeepLost(ctx, j.slot.Root, j.Origin.Run, keep); err != nil {
		return err
	}
	if j.work.Commit != "" {
		err, j.work = j.slot.Reject(ctx, j.work, begun.Kept), slots.Work{Key: j.work.Key, Base: j.work.Base}
	}
	found := audit.Finding{Kind: audit.KindLost, Text: text}
	d.Result = turn.Crossed(d.Result, found)
	c.Tell(state.NewEvent(j.Origin, time.Now(), state.Finding{Source: state.FoundByAudit, Name: string(found.Kind),
		Text: text}))
	return err
}

// short lists commits as git abbreviates them.
func short(oids []string) string {
	all := termtext.Each(oids, func(oid string) string { return oid[:min(12, len(oid))] })
	return strings.Join(all, " ")
}

// notBegun is the result of a turn that ended before its call.
func (c *worktrees) notBegun(ctx context.Context, j *Job) turn.Result {
	return turn.Result{V: turn.Version, Origin: j.Origin, Task: j.Assignment.Task, Agent: j.Assignment.Agent.Spec.Name,
		Checks: j.Assignment.Checks, Cut: stop.By(ctx)}
}

// mayLand is true for a result that its developer and the checks call done, unless reviewers look at it first.
func mayLand(r turn.Result) bool {
	done := r.Proof.After.IsDone(r.Task.ID) && !r.Proof.ToReview
	if r.Task.ID == "" { // no plan says whether it is finished
		done = r.Call.Outcome.Class.Success() && r.Progress() && !r.Proof.ToReview
	}
	return done && r.Cut == "" && !r.Proof.Report.Blocked() && !r.Proof.Unchecked && r.Work.Lost == ""
}

// Refresh brings the worktree into which results are merged to the end of the branch, ready for checks of the run itself.
func (c *worktrees) Refresh(ctx context.Context, own func() turn.Assignment, emit func(state.Event)) error {
	a := own()
	in, w := command.With(ctx, c.trust), c.o.Base
	tip, err := c.trunk.branch.Refresh(in)
	if err == nil && tip != c.trunk.synced {
		w.Forget()
		if err = c.trunk.slot.Prepare(in, tip); err == nil {
			err = c.trunk.slot.Setup(c.o.Setup).Run(in, w, a, emit)
		}
		if err == nil {
			c.trunk.synced = tip
		}
	}
	if err != nil {
		return err
	}
	return w.Ready(ctx, a)
}

func conflictText(files []string) string {
	return fmt.Sprintf("Your earlier work on this task is in the workspace, "+
		"but it conflicts with what others have finished in the meantime. "+
		"These files contain both, between conflict markers (<<<<<<<, =======, >>>>>>>): %s. "+
		"Join them so that both sides keep working, remove the markers, "+
		"and then mark the task as done.", termtext.Some(files, 20))
}

const maxJoined = 16 << 20 // bytes of a file

// unjoined returns those of the files in which the work has a conflict that is not resolved.
func (j *Job) unjoined(ctx context.Context, files []string) []string {
	var texts []git.Text
	for _, name := range files {
		path := filepath.Join(j.slot.Root, name)
		text, err := projectfs.In(j.slot.Root).Read(path, maxJoined)
		was, _ := command.Run(ctx, j.slot.Root, "cat-file", "blob", j.work.Base+":"+name) // empty: a new file
		texts = append(texts, git.Text{Path: name, Before: was, After: string(text), Exists: err == nil})
	}
	return git.Conflicts(ctx, j.slot.Root, texts)
}

// land sends the work through the merge queue, and adds its answer to the result.
func (c *worktrees) land(ctx context.Context, j *Job, d *Done) {
	files, err := j.work.Files(ctx, j.slot)
	if d.Err = err; err != nil {
		return
	}
	if left := j.unjoined(ctx, files); len(left) > 0 {
		d.refuse(turn.Refusal{Merge: state.MergeConflict, Report: refused(gate.Check{Name: "merge", Command: "git diff --check"},
			"these files still have the markers of a conflict: "+termtext.Some(left, 20))})
		return
	}
	c.news <- News{Do: func() { j.queued = true }}
	var l landing
	select {
	case c.queue.in <- j:
		j.announced = false
		l = <-j.landing
	case <-ctx.Done():
		l.err = ctx.Err()
	}
	d.Branch = c.trunk.branch.Name
	switch {
	case l.landed != "":
		d.Landed = l.landed
	case errors.Is(l.err, context.Canceled):
		d.refuse(turn.Refusal{Stopped: true})
	case l.err != nil:
		d.Err = l.err
	case len(l.conflict) > 0:
		d.refuse(turn.Refusal{Merge: state.MergeConflict, Report: conflictReport(l.conflict, d.Work.Key)})
	default:
		d.refuse(turn.Refusal{Merge: state.MergeChecks, Report: l.failed})
	}
}

// refuse makes the result one of a turn whose work does not land.
func (d *Done) refuse(by turn.Refusal) {
	by.Tries = d.Job.Assignment.Known.Tries + 1
	by.Why = cmp.Or(by.Why, "it does not pass together with what has landed meanwhile")
	d.Result = turn.Refused(d.Result, by)
}

// conflictReport is a check that fails: the run answers a conflict as it answers a failure.
func conflictReport(files []string, key string) gate.Report {
	text := fmt.Sprintf("conflicts with what has landed in the meantime (it is kept in %s): %s",
		slots.Ref(key), termtext.Some(files, 20))
	return refused(gate.Check{Name: "merge", Command: "git merge"}, text)
}

// refused is the report of a check that fails.
func refused(check gate.Check, text string) gate.Report {
	return gate.Report{Results: []gate.Result{{Name: check.Name, Command: check.Command, Check: check, Output: text,
		ExitCode: 1,
		Verdict:  gate.VerdictFailed, Blocks: true, Reason: text}}}
}

// checkTogether runs the checks where results are joined, for these jobs.
func (c *worktrees) checkTogether(ctx context.Context, of []*Job) (turn.Result, error) {
	if c.trunk.checker == nil {
		c.trunk.checker = c.workerIn(c.trunk.slot)
	}
	c.trunk.checker.Forget()
	c.trunk.synced = ""
	last := of[len(of)-1]
	a := last.Assignment
	a.Dir, a.Plan, a.Part, a.Checks.Everything, a.Protect = c.trunk.slot.Dir, c.trunk.slot.Plan(), turn.Check, true, nil
	a.Origin.Role, a.Sandbox = roles.Merge, contained(a)
	if err := c.trunk.slot.Setup(c.o.Setup).Run(ctx, c.trunk.checker, a, c.Tell); err != nil {
		return turn.Result{}, err
	}
	return c.trunk.checker.Run(ctx, a, c.Tell)
}
