package report

import (
	"fmt"
	"slices"
	"strings"

	"ralph/state"
)

// next are the first commands to type.
func (r *Report) next() []string {
	if r.Running() {
		return []string{"ralph monitor", "ralph iterations" + r.flag, "ralph status"}
	}
	again := "ralph resume"
	look := "ralph diff 0.." + fmt.Sprint(r.last()) + r.flag + " --stat"
	if r.last() == 0 {
		look = "ralph status"
	}
	switch {
	case r.undone != "" && r.flag == "", r.Rule == state.RuleQuestion && r.Advice == again: // every question is answered
	case r.Status == state.StatusCompleted:
		return []string{look, "ralph iterations" + r.flag, "git log --oneline"}
	case r.Status == state.StatusReview:
		switch r.Rule {
		case state.RuleQuestion:
			answer := "ralph answer ID TEXT"
			if strings.HasPrefix(r.Advice, "ralph answer ") {
				answer, _, _ = strings.Cut(r.Advice, " (")
			}
			return []string{"ralph questions", answer, "ralph resume"}
		case state.RuleBlocked:
			return []string{"ralph task list", "ralph task reopen ID", "ralph resume"}
		}
		show := look
		if len(r.Findings) > 0 && r.Findings[0].Show != "" {
			show = r.Findings[0].Show
		}
		return []string{show, "ralph accept", "ralph iterations" + r.flag}
	}
	if i := strings.LastIndex(r.Advice, again); i >= 0 { // perhaps with another bound
		again, _, _ = strings.Cut(r.Advice[i:], ";")
	}
	if reopen := "ralph reset --circuit && " + again; strings.Contains(r.Advice, reopen) {
		again = reopen // without it, the run halts at once
	} else if r.Exit == state.ExitClaimed && slices.ContainsFunc(r.Tasks, func(t Task) bool { return t.State == TaskAside }) {
		again = "ralph reset --tasks && " + again // else nobody takes them up
	}
	return []string{"ralph iterations" + r.flag, look, again}
}

// toType is the advice, and the commands that it does not say. An advice that is one of them stands with them.
func (r *Report) toType() (advice string, commands []string) {
	if slices.Contains(r.Next, r.Advice) {
		return "", r.Next
	}
	return r.Advice, slices.DeleteFunc(slices.Clone(r.Next), func(c string) bool { return strings.Contains(r.Advice, c) })
}

// last is the number of the last iteration. A task that was done in the iteration of another one has none.
func (r *Report) last() (n int) {
	for _, t := range r.Tasks {
		n = max(n, slices.Max(append(slices.Clone(t.Iterations), 0)))
	}
	return n
}
