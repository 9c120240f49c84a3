package crew

import (
	"errors"
	"fmt"
	"sync"

	"ralph/runner/crew/best"
	"ralph/runner/git/command"
	"ralph/runner/slots"
	"ralph/runner/turn"
	"ralph/runner/turn/stop"
)

// contest is one attempt at a task by several candidates, of which one wins.
type contest struct {
	size    int
	mu      sync.Mutex
	over    []*Done // in order of Job.Candidate once decided
	decided chan struct{}
}

// compare waits until all candidates for the task have ended. It tells each loser why it lost. The
// winner's work is the task's from then on.
func (c *Crew) compare(j *Job, d *Done) {
	h := j.contest
	if h == nil {
		return
	}
	h.mu.Lock()
	h.over = append(h.over, d)
	last := len(h.over) == h.size
	h.mu.Unlock()
	if last {
		c.decide(h)
		close(h.decided)
	}
	<-h.decided
}

// Tied is a candidate for a task that is as good as another one, and where its work is.
type Tied struct {
	Place
	Job    *Job
	Result turn.Result
}

// judge lets judges decide between equals, unless they did the same.
func (c *Crew) judge(byNumber []*Done, all []best.Candidate) {
	indexes, trees := best.Tied(all), map[string]bool{}
	if c.o.Judge == nil || len(indexes) == 0 {
		return
	}
	ctx := command.With(byNumber[indexes[0]].Job.ctx, c.trust)
	var tied []Tied
	for _, i := range indexes {
		d := byNumber[i]
		tree, err := command.Run(ctx, c.trunk.slot.Root, "rev-parse", d.Work.Commit+"^{tree}")
		if err != nil {
			return
		}
		trees[tree] = true
		at := Place{Dir: d.Job.Slot.Dir, Env: d.Job.Slot.Env(c.o.Env), Base: d.Work.Base}
		tied = append(tied, Tied{Place: at, Job: d.Job, Result: d.Result})
	}
	if len(trees) < 2 {
		return
	}
	for n, opinion := range c.o.Judge(ctx, tied) {
		all[indexes[n]].Opinion = opinion
	}
}

// decide is called once, when all are over: nobody else touches their Done then.
func (c *Crew) decide(h *contest) {
	refs := map[string]slots.Work{}
	byNumber := make([]*Done, h.size)
	for _, d := range h.over {
		byNumber[d.Job.Candidate] = d
	}
	all := c.measure(byNumber)
	c.judge(byNumber, all)
	// Only now: its time must not run while judges work.
	ctx, done := stop.Outlast(command.With(byNumber[0].Job.ctx, c.trust))
	defer done()
	lead := best.Pick(all)
	for i, d := range byNumber {
		if i == lead {
			continue
		}
		d.Lost = fmt.Sprintf("candidate %d of %d: %s", i+1, h.size, best.Why(all[i], all[lead]))
		if d.Work.Commit != "" {
			ref := slots.LostRef(c.o.Run, d.Job.Origin.Iteration)
			refs[ref] = d.Work
			d.Lost += "; its work stays as " + ref
		}
	}
	won := byNumber[lead]
	var err error
	if won.Work, err = c.home.Choose(ctx, won.Job.Task, won.Work, refs); err != nil {
		won.Err = errors.Join(won.Err, err)
	}
	won.Job.work = won.Work
}

// measure returns the facts by which candidates are compared.
func (c *Crew) measure(byNumber []*Done) []best.Candidate {
	all := make([]best.Candidate, len(byNumber))
	ctx, done := stop.Outlast(command.With(byNumber[0].Job.ctx, c.trust))
	defer done()
	for i, d := range byNumber {
		lines, err := d.Work.Lines(ctx, d.Job.Slot)
		d.Err = errors.Join(d.Err, err)
		r := d.Result
		all[i] = best.Candidate{Lines: lines, Whole: d.Err == nil && r.Cut == "" && !r.Proof.Unchecked &&
			r.Call.Outcome.Class.Success()}
		all[i].Green = d.Err == nil && d.Job.ctx.Err() == nil && d.Work.Commit != "" && passes(r)
	}
	return all
}
