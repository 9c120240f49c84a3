package runner

import (
	"context"
	"fmt"
	"slices"
	"time"

	"ralph/logs"
	"ralph/runner/audit"
	"ralph/runner/gate"
	"ralph/runner/rules"
	"ralph/runner/turn"
	"ralph/state"
)

// reviewBound is what looking at the whole run once more may take.
const reviewBound = time.Minute

// remember keeps what the audit found in a turn until it is repaired or a person
// accepts it. Ticks that were taken back are settled already.
func (r *Run) remember(res turn.Result) {
	for _, f := range res.Proof.Findings {
		if f.Revert || f.Doubt {
			continue
		}
		item := state.ReviewItem{Name: string(f.Kind), Task: f.Task, File: f.File, Text: rules.FindingText(f),
			Show: fmt.Sprintf("ralph diff %d --run %s", res.Origin.Iteration, res.Origin.Run)}
		same := func(o state.ReviewItem) bool {
			return o.Name == item.Name && o.File == item.File && o.Task == item.Task
		}
		if !slices.ContainsFunc(r.review, same) {
			r.review = append(r.review, item)
		}
	}
}

// toReview is what a person has to look at before the run counts as complete.
// It is asked when the plan has nothing left; report is of the latest checks.
func (r *Run) toReview(ctx context.Context, report gate.Report) []state.ReviewItem {
	r.forgetRepaired(ctx)
	items := slices.Clone(r.review)
	if why := r.mem.Contradiction; why != "" {
		items = append(items, state.ReviewItem{Name: "contradiction", Text: "the plan is done, but " + why, Show: "ralph iterations"})
	}
	for _, c := range report.Results {
		if before, ran := r.testsBefore(c.Name), c.Tests.Total(); c.Tests.Known && ran < before {
			items = append(items, state.ReviewItem{Name: "fewer_tests", Show: "ralph check",
				Text: fmt.Sprintf("check %s: %d tests ran before, %d run now", c.Name, before, ran)})
		}
	}
	for _, name := range report.KnownRed() {
		items = append(items, state.ReviewItem{Name: "known_red", Show: "ralph check",
			Text: fmt.Sprintf("check %s failed before the run and still fails", name)})
	}
	items = slices.DeleteFunc(items, func(i state.ReviewItem) bool { return slices.Contains(r.accepted, i.Text) })
	for n := range items {
		items[n].N = n + 1
	}
	return items
}

func (r *Run) testsBefore(check string) int {
	if r.checks.Baseline == nil {
		return 0
	}
	return r.checks.Baseline.Checks[check].Tests
}

// forgetRepaired drops findings in files that the run as a whole does not show
// any more: a later turn has repaired them.
func (r *Run) forgetRepaired(ctx context.Context) {
	if len(r.review) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, reviewBound)
	defer cancel()
	files, err := r.worker.Changed(ctx, r.d.Dir)
	if err != nil || files == nil {
		if err != nil {
			r.d.Log.Warn("the findings cannot be looked at again", logs.KeyError, err)
		}
		return
	}
	still := audit.Compare(audit.Input{Files: files})
	r.review = slices.DeleteFunc(r.review, func(i state.ReviewItem) bool {
		shows := func(f audit.Finding) bool { return string(f.Kind) == i.Name && f.File == i.File }
		touched := func(f audit.File) bool { return f.Path == i.File }
		// What an earlier process found was there when this one began.
		known := !slices.Contains(r.past.carried, i.Text) || slices.ContainsFunc(files, touched)
		return i.File != "" && known && !slices.ContainsFunc(still, shows)
	})
}
