package turn

// This file adds to a Result what happened after its turn was over. It returns another
// Result; the one that it gets stays as it is.

import (
	"cmp"
	"slices"

	"ralph/runner/audit"
	"ralph/runner/gate"
	"ralph/runner/git"
	"ralph/state"
)

// Refusal says why finished work does not land.
type Refusal struct {
	Merge   string      // see state.IterationEnd; empty: Report stays that of the turn
	Report  gate.Report // of the checks that refuse it
	Stopped bool        // a person ended it before the checks could say anything
	Tries   int         // failed checks of the task in a row, with this one
	Why     string      // its tick is taken back
	GiveUp  string      // the task needs a person; see Proof
}

// Refused is the Result of a turn whose work does not land.
func Refused(r Result, by Refusal) Result {
	p := r.Proof
	if by.Merge != "" {
		p.Merge, p.Report = by.Merge, by.Report
	}
	p.Unchecked, p.Tries, p.GiveUp = p.Unchecked || by.Stopped, by.Tries, cmp.Or(by.GiveUp, p.GiveUp)
	p.Reopen = append(slices.Clip(p.Reopen), Reopen{Task: r.Task.ID, By: ReopenChecks, Why: by.Why})
	p.After = p.After.Without([]string{r.Task.ID})
	r.Proof = p
	r.Call.Signalled = false // the agent could not know this when it signalled completion
	return r
}

// Crossed is the Result of a turn that has work of another one in it. It does not count.
func Crossed(r Result, found audit.Finding) Result {
	p := r.Proof
	r.Work.Gone = append(slices.Clip(r.Work.Gone), git.Lost{What: git.LostCrossed, Text: found.Text})
	p.Findings = append(slices.Clip(p.Findings), found)
	p.Reopen = append(slices.Clip(p.Reopen), Reopen{Task: r.Task.ID, By: ReopenAudit, Why: found.Text})
	p.After, p.ToReview, p.Unearned = p.After.Without([]string{r.Task.ID}), false, true
	r.Proof = p
	r.Call.Signalled = false // as in Refused
	return r
}

// Conflicting is the Result of a turn that could not begin: its work conflicts with what has landed.
func Conflicting(r Result) Result {
	r.Proof.Merge = state.MergeConflict
	return r
}

// WithCurrentPlan is the Result with the plan as it is now: other turns may have finished tasks in the meantime. If its
// work has landed, its ticks of other tasks count too, except of those in busy, on which others work.
func WithCurrentPlan(r Result, now Plan, landed bool, busy func(id string) bool) Result {
	var ticked []string
	for _, t := range r.Proof.After.List.Tasks {
		own := t.ID == r.Task.ID
		if t.Done() && (own || landed && !r.Work.Before.IsDone(t.ID) && !busy(t.ID)) {
			ticked = append(ticked, t.ID)
		}
	}
	var reopen []Reopen
	for _, o := range r.Proof.Reopen {
		if o.Task == r.Task.ID || landed && o.By == ReopenConfirm && !now.IsDone(o.Task) && !busy(o.Task) {
			reopen = append(reopen, o)
		}
	}
	r.Work.Before, r.Work.AsAgentLeft, r.Proof.After, r.Proof.Reopen = now, now, now, reopen
	for _, id := range ticked {
		r.Proof.After = r.Proof.After.Claimed(now, id, true)
	}
	r.Work.AsAgentLeft = r.Proof.After
	if !landed { // nobody else sees its change
		r.Proof.Links = nil
	}
	return r
}

// WithChecks is the Result with what the run knows of the checks.
func WithChecks(r Result, c Checks) Result {
	r.Checks = c
	return r
}

// WithFinalPlan is the Result of a turn after which the plan is like this.
func WithFinalPlan(r Result, after Plan) Result {
	r.Proof.After = after
	return r
}

// Returned is the Result of a review after which the task is with its developer again, who got somewhere.
func Returned(r Result, now Plan) Result {
	r.Work.Before, r.Proof.ToReview = now, true
	return r
}

// Asking is the Result with only those questions that go to a person. giveUp says why the task is put aside
// instead; empty: as the turn has it.
func Asking(r Result, asks []state.Ask, giveUp string) Result {
	r.Call.Asks = asks
	if giveUp != "" {
		r.Proof.GiveUp = giveUp
	}
	return r
}

// Closed is the call with a session that nobody resumes.
func Closed(c Call) Call {
	c.Session = Session{}
	return c
}

// Priced is the Result of a call that was cut off, with an estimate of its cost.
func Priced(r Result, usd float64) Result {
	r.Call.Usage = r.Call.Usage.Priced(1, usd)
	r.Call.Session.Counted.CostUSD += usd // what a session reports later includes this call
	return r
}
