// Package review keeps what a person has to look at before a run counts as
// complete.
package review

import (
	"fmt"
	"slices"

	"ralph/runner/audit"
	"ralph/runner/gate"
	"ralph/runner/rules"
	"ralph/runner/turn"
	"ralph/state"
)

// Book holds the findings that are open. The zero value is empty.
type Book struct {
	Items    []state.ReviewItem
	carried  []string // texts of those that an earlier process left open
	accepted []string // texts that a person has accepted
}

// Recall takes over what an earlier run left open. What is not about a file or a
// task is found anew.
func (b *Book) Recall(old state.Status) {
	if old.Status != state.StatusCompleted { // else it is over: what comes back is new
		b.accepted = old.Accepted
	}
	for _, item := range old.Review {
		if item.File != "" || item.Task != "" {
			b.Items, b.carried = append(b.Items, item), append(b.carried, item.Text)
		}
	}
}

// Accepted are the texts of what a person has accepted.
func (b *Book) Accepted() []string { return b.accepted }

// Add keeps what the audit found in a turn until it is repaired or a person
// accepts it. Ticks that were taken back are settled already. What a person
// accepted was said of the work before this turn. Tests are counted again at the end.
func (b *Book) Add(res turn.Result) {
	b.accepted = nil
	for _, f := range res.Proof.Findings {
		back := func(o turn.Reopen) bool { return o.Task == f.Task && o.By == turn.ReopenAudit }
		if f.Doubt || f.Kind == audit.KindFewerTests || f.Revert && slices.ContainsFunc(res.Proof.Reopen, back) {
			continue
		}
		item := state.ReviewItem{Name: string(f.Kind), Task: f.Task, File: f.File, Text: rules.FindingText(f),
			Show: fmt.Sprintf("ralph diff %d --run %s", res.Origin.Iteration, res.Origin.Run)}
		same := func(o state.ReviewItem) bool {
			return o.Name == item.Name && o.File == item.File && o.Task == item.Task
		}
		if !slices.ContainsFunc(b.Items, same) {
			b.Items = append(b.Items, item)
		}
	}
}

// Repaired drops findings in files that this process's changes, taken together,
// do not show any more. What an earlier process left open was there when this one
// began: it is dropped only when its file changed.
func (b *Book) Repaired(files []audit.File) {
	still := audit.Compare(audit.Input{Files: files})
	b.Items = slices.DeleteFunc(b.Items, func(i state.ReviewItem) bool {
		shows := func(f audit.Finding) bool { return string(f.Kind) == i.Name && f.File == i.File }
		touched := func(f audit.File) bool { return f.Path == i.File }
		known := !slices.Contains(b.carried, i.Text) || slices.ContainsFunc(files, touched)
		return i.File != "" && known && !slices.ContainsFunc(still, shows)
	})
}

// Open numbers the findings and what else needs a person: an agent that
// contradicts the done plan (empty: it does not), and what the checks say.
func (b *Book) Open(contradiction string, checks turn.Checks, report gate.Report) []state.ReviewItem {
	items := slices.Clone(b.Items)
	add := func(name, show, format string, args ...any) {
		items = append(items, state.ReviewItem{Name: name, Show: show, Text: fmt.Sprintf(format, args...)})
	}
	if contradiction != "" {
		add("contradiction", "ralph iterations", "the plan is done, but %s", contradiction)
	}
	for _, l := range report.Losses(checks.Baseline.Tests) {
		add(string(audit.KindFewerTests), "ralph check", "%s", l)
	}
	for _, name := range report.KnownRed() {
		add("known_red", "ralph check", "check %s failed before the run and still fails", name)
	}
	items = slices.DeleteFunc(items, func(i state.ReviewItem) bool { return slices.Contains(b.accepted, i.Text) })
	for n := range items {
		items[n].N = n + 1
	}
	return items
}
