package report

import (
	"fmt"
	"slices"
	"strings"

	"ralph/logs/termtext"
	"ralph/state"
)

// NotBegun are open tasks that nobody worked on.
type NotBegun struct {
	Count int      `json:"count"`
	First []string `json:"first"` // titles, in the order of the plan; empty: they are not known
}

// titlesShown bounds the titles on a page.
const titlesShown = 5

// notBegun uses what the end of the run says. If it says nothing, all open tasks without an
// iteration count.
func notBegun(end *state.RunEnd, r *Report) NotBegun {
	left := NotBegun{First: []string{}}
	if end == nil || end.NotBegun == nil {
		open := slices.DeleteFunc(slices.Clone(r.Tasks), func(t Task) bool { return t.State == TaskDone || t.Title == "" })
		left.Count = max(0, r.Total-r.Done-len(open))
		return left
	}
	left.Count = end.NotBegun.Count
	for _, name := range end.NotBegun.First {
		switch {
		case slices.ContainsFunc(r.Tasks, func(t Task) bool { return t.ID == name.ID }):
			left.Count-- // its call did not count as an attempt
		case len(left.First) < titlesShown:
			left.First = append(left.First, line(name.Title))
		}
	}
	return left
}

// Brief is all of it in one line; empty: every task was begun.
func (n NotBegun) Brief() string {
	if n.Count <= 0 {
		return ""
	}
	parts := append([]string{termtext.Count(n.Count, "task")}, n.First...)
	if more := n.Count - len(n.First); more > 0 && len(n.First) > 0 {
		parts = append(parts, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(parts, " · ")
}
