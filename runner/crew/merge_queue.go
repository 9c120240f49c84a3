package crew

// The files merge*.go are the queue of finished work: it combines results, checks them
// together, and lands those that pass.
//
//	results --> pick, one on top of the other --> checks --> green: land all
//	                |                               |
//	                conflict: back                  red: bisect --> land those before the culprit,
//	                                                                the culprit goes back, the rest waits

import (
	"context"
	"fmt"

	"ralph/runner/gate"
	"ralph/runner/slots"
	"ralph/runner/turn"
)

// maxBatch is how many results are checked together at most.
const maxBatch = 8

// mergeItem is a result in the queue.
type mergeItem struct {
	Task string // id
	Work slots.Work
	// Unchecked is true if no turn has checked the work in its present state.
	Unchecked bool
}

// mergeOutcome says what happened to a mergeItem. Exactly one of its fields is set.
type mergeOutcome struct {
	Landed   string      // the commit on the branch
	Conflict []string    // files that conflict with what has landed
	Failed   gate.Report // checks that fail with this item, and pass without it
	Again    bool        // it waits for the next round
}

// mergeQueue lands results. It is for one goroutine.
type mergeQueue struct {
	Branch *branch
	// Check runs the required checks for these items in the worktree of the branch, as it is now.
	Check func(ctx context.Context, items []mergeItem) (turn.Result, error)
	Runs  int // how often Check has run
}

// picked is an item applied on top of those before it.
type picked struct {
	item   int
	commit string
	proved bool // its own turn has checked this very tree
}

// Round tries to land up to MaxBatch items, in order, and returns the outcome of each. If it returns an error, no item
// of this round has landed, unless the branch has moved.
func (q *mergeQueue) Round(ctx context.Context, items []mergeItem) ([]mergeOutcome, error) {
	out := make([]mergeOutcome, len(items))
	tip, err := q.Branch.Refresh(ctx)
	if err != nil {
		return nil, err
	}
	var row []picked
	at := tip
	for i, it := range items {
		if len(row) == maxBatch {
			out[i].Again = true
			continue
		}
		commit, conflict, err := q.Branch.pick(ctx, at, it.Work.Commit)
		if err != nil {
			return nil, fmt.Errorf("merge the work on %q: %w", it.Task, err)
		}
		if out[i].Conflict = conflict; len(conflict) == 0 {
			row = append(row, picked{item: i, commit: commit, proved: len(row) == 0 && !it.Unchecked &&
				it.Work.Base == tip})
			at = commit
		}
	}
	n, bad, err := q.passing(ctx, items, row)
	if err != nil {
		return nil, err
	}
	if n > 0 {
		if err := q.Branch.Land(ctx, tip, row[n-1].commit); err != nil {
			return nil, err
		}
	}
	for i, p := range row {
		switch {
		case i < n:
			out[p.item].Landed = p.commit
		case i == n:
			out[p.item].Failed = bad
		default:
			out[p.item].Again = true
		}
	}
	return out, nil
}

// passing returns how many of the first picked items pass together. The next one, if any, makes the checks fail as bad
// says.
func (q *mergeQueue) passing(ctx context.Context, items []mergeItem, row []picked) (n int, bad gate.Report, err error) {
	if len(row) == 0 || len(row) == 1 && row[0].proved {
		return len(row), bad, nil
	}
	reports := map[int]gate.Report{}
	green := func(k int) (bool, error) {
		if k == 1 && row[0].proved {
			return true, nil
		}
		if err := q.Branch.checkout(ctx, row[k-1].commit); err != nil {
			return false, err
		}
		var of []mergeItem
		for _, p := range row[:k] {
			of = append(of, items[p.item])
		}
		q.Runs++
		res, err := q.Check(ctx, of)
		if err == nil && res.Proof.Unchecked {
			err = fmt.Errorf("the checks were stopped: %w", context.Canceled)
		}
		reports[k] = res.Proof.Report
		return err == nil && !res.Proof.Report.Blocked(), err
	}
	all, err := green(len(row))
	if err != nil || all {
		return len(row), bad, err
	}
	n, err = culprit(len(row), green)
	return n, reports[n+1], err
}

// culprit returns the index of the item with which the checks begin to fail. green(k) tries the first k of n items; no
// items pass, and all n fail. It takes at most log2(n) tries, rounded up.
func culprit(n int, green func(k int) (bool, error)) (int, error) {
	good, bad := 0, n
	for bad-good > 1 {
		mid := good + (bad-good)/2
		ok, err := green(mid)
		if err != nil {
			return 0, err
		}
		if ok {
			good = mid
		} else {
			bad = mid
		}
	}
	return good, nil
}
