package runner

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"time"

	"ralph/logs/termtext"
	"ralph/runner/crew"
	"ralph/runner/git"
	"ralph/runner/ledger"
	"ralph/runner/output"
	"ralph/runner/rules"
	"ralph/runner/slots"
	"ralph/runner/task"
	"ralph/state"
)

// openWorktrees opens worktrees if the options ask for them. A stop says why they cannot work here.
func (r *Run) openWorktrees(ctx context.Context) (rules.Decision, error) {
	err := r.o.SlotOptions.Check()
	if err == nil && !r.o.Worktrees() {
		return rules.Decision{}, nil
	}
	r.ledger.UncheckedTick = "" // what a killed turn did there has not landed
	var landed []string
	var c *crew.Crew
	if err == nil {
		c, landed, err = crew.InWorktrees(ctx, crew.Options{SlotOptions: r.o.SlotOptions, Dir: r.d.Dir, Plan: r.ledger.Plan.File,
			HighestIteration: r.ledger.HighestIteration, Run: r.d.RunID, Ralph: r.d.Start.Version, Prefix: r.prefix,
			Env: r.d.Env, Secure: r.d.Filter.Checks(r.d.Env), Log: r.d.Log, Base: r.worker, Worker: r.newWorker})
	}
	if unfit := (*slots.UnfitError)(nil); errors.As(err, &unfit) {
		return rules.DecideCase(rules.CaseUnfit, unfit.Why), nil
	}
	if err != nil {
		return rules.Decision{}, err
	}
	r.crew = c
	r.watchCheckout(ctx, nil)
	for _, id := range landed {
		r.ledger.Plan.Mark(id, task.Done)
	}
	return rules.Decision{}, nil
}

// prefix returns what the message of a commit for the task begins with.
func (r *Run) prefix(t task.Task) string { return r.panel.Prefix(r.o.CommitPrefix, t) }

// leave gives the workspaces up. If there are commits that the user's checkout does not have, it adds to d how to get
// them.
func (r *Run) leave(d rules.Decision) rules.Decision {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if n, branch := r.crew.Unlanded(ctx); n > 0 {
		where := "to get what is finished: git merge " + branch
		if r.o.Land == slots.LandPull {
			where = "what is finished is on " + branch
		}
		r.d.Log.Warn("some commits are not in the checkout", "branch", branch, "commits", n)
		if d.Next != "" {
			where += "; " + d.Next
		}
		d.Next = where
	}
	r.crew.Close(ctx)
	if r.crew.InWorktrees() {
		r.leavePlan(ctx)
	}
	return d
}

// watchCheckout looks at the user's checkout while jobs work in worktrees, and reports what has changed there during a turn.
// turn is nil where the run itself may have changed something.
func (r *Run) watchCheckout(ctx context.Context, turn *state.Origin) {
	if !r.crew.InWorktrees() || r.o.On() { // a sandbox shows it to no agent
		return
	}
	now, err := git.Observe(ctx, r.d.Dir)
	if err != nil {
		return
	}
	before := r.checkout
	r.checkout = now.Changes()
	root, _ := git.Root(r.d.Dir)
	own := []string{r.d.State.Dir(), r.ledger.Plan.File.Path}
	changed := slices.DeleteFunc(r.checkout.Names(), func(name string) bool {
		within := func(path string) bool { return len(ledger.Within(path, filepath.Join(root, name))) > 0 }
		return r.checkout[name] == before[name] || slices.ContainsFunc(own, within)
	})
	if turn != nil && len(changed) > 0 {
		r.ledger.Tell(*turn, state.Finding{Source: state.FoundByAudit, Name: "checkout_changed", Task: turn.Task, Doubt: true,
			Text: "while this turn worked in a worktree, files in your own checkout changed: " + termtext.Some(changed, 5) +
				". If that was not you, the agent has written there by an absolute path; ralph leaves them as they are"})
	}
}

// leavePlan lets the end say that the ticks are not committed: what lands never contains the plan.
func (r *Run) leavePlan(ctx context.Context) {
	root, _ := git.Root(r.d.Dir)
	rel, err := filepath.Rel(root, r.ledger.Plan.File.Path)
	now, failed := git.Observe(ctx, r.d.Dir)
	if err == nil && failed == nil && r.ledger.Memory.Iterations > 0 && now.Dirty(filepath.ToSlash(rel)) {
		r.ledger.Uncommitted = output.Uncommitted(r.ledger.Uncommitted, []state.Refusal{{File: r.ledger.Plan.File.Name,
			Why: "work in worktrees lands without the plan; its ticks are yours to commit"}})
	}
}
