package crew

import (
	"context"
	"strings"

	"ralph/runner/git/command"
	"ralph/runner/slots"
	"ralph/runner/turn"
	"ralph/runner/turn/stop"
)

// Place is a workspace with the work on a task in it.
type Place struct {
	Dir  string // the project in the slot
	Env  []string
	Base string // the commit that the work begins with
}

// ReviewFunc has reviewers look at the work in a place, and reports whether it may land. The error is a failure of ralph
// itself, not a refusal.
type ReviewFunc func(ctx context.Context, at Place) (res turn.Result, land bool, err error)

// review shows the work in a slot, and sends it through the merge queue if it may land.
func (c *worktrees) review(j *Job, look ReviewFunc) (d Done) {
	d.Job = j
	ctx := command.With(j.ctx, c.trust)
	d.Result = c.notBegun(ctx, j)
	kept, message, err := c.home.Kept(ctx, j.assignment.Task)
	if err != nil {
		d.Err, d.Result = err, c.notBegun(ctx, j)
		return d
	}
	begun, ok := c.beginIn(ctx, j, &d)
	if !ok {
		return d
	}
	if d.Conflict = begun.Conflict; len(d.Conflict) > 0 {
		d.Result = turn.Conflicting(d.Result)
		return d
	}
	if strings.Contains(message, "\nRalph-Iteration: ") { // else no turn made the commit
		j.message = message
	}
	j.worker = c.workerIn(j.slot)
	var land bool
	d.Result, land, d.Err = look(ctx, Place{Dir: j.slot.Dir, Env: j.slot.Env(c.o.Env), Base: begun.Base})
	late, done := stop.Outlast(ctx)
	defer done()
	if j.work, err = j.slot.Save(late, j.message); err != nil && d.Err == nil {
		d.Err = err
	}
	d.Work, j.unchecked = j.work, !c.same(late, kept, j.work)
	if land && d.Err == nil && j.work.Commit != "" && ctx.Err() == nil {
		d.Files, d.Err = j.work.Files(ctx, j.slot)
	}
	if len(d.Files) > 0 && d.Err == nil {
		c.land(ctx, j, &d)
	}
	return d
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
