package console

import (
	"fmt"
	"slices"
	"strings"

	"ralph/cmd/internal/config"
	"ralph/cmd/internal/preflight"
	"ralph/runner/crew"
	"ralph/runner/roles"
	"ralph/runner/task"
	"ralph/state/view"
)

// parallel says how many tasks are worked on at the same time; empty: one, without PARALLEL.
func parallel(p *preflight.Project) string {
	switch n := p.Config.Spread().Parallel; {
	case n <= 1:
		return ""
	case !p.Config.ParallelAny && crew.Silent(p.Tasks):
		return fmt.Sprintf("parallel: one task at a time, although there is room for %d: "+
			"the plan does not say which tasks may run "+
			"side by side; mark them with [P], give them dependencies, or set PARALLEL_ANY=true", n)
	default:
		return fmt.Sprintf("parallel: up to %d tasks at the same time", n)
	}
}

// reviewers says who looks at each task before it counts as done, or that nobody does; empty: nobody, as QA=false
// says. A task of the plan may name more.
func reviewers(p *preflight.Project) string {
	var steps []string
	aios := roles.AIOSOptions(p.Config.AIOSOptions).At(p.Dir)
	for _, s := range p.Config.For(roles.Asking{Task: task.Task{ID: "any"}, Rows: p.Config.JudgeRows(),
		Project: slices.ContainsFunc(p.Tasks.Tasks, aios.Asks)}) {
		steps = append(steps, strings.Join(s.Names(), ", "))
	}
	if slices.ContainsFunc(p.Tasks.Tasks, func(t task.Task) bool { return len(t.Judges) > 0 }) {
		steps = append(steps, "the judges that tasks name")
	}
	all := view.Join(", then ", steps...)
	if all == "" && p.Config.Source("QA").Kind == config.SourceDefault {
		return "no reviewer: wrong code that no test notices counts as done (QA=true asks another agent to read it)"
	}
	return view.Prefix("review: each task by ", all)
}
