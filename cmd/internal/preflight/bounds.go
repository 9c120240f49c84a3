package preflight

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"ralph/cmd/internal/cmdline"
	"ralph/cmd/internal/scaffold"
	"ralph/logs/termtext"
	"ralph/state/view"
)

// Bounds says in one line what ends a run that never completes.
func (p *Project) Bounds() string {
	c := p.Config
	var set, unset []string
	bound := func(is bool, with, without string) {
		if is {
			set = append(set, with)
		} else {
			unset = append(unset, without)
		}
	}
	bound(c.MaxIterations > 0, "at most "+termtext.Count(c.MaxIterations, "iteration"), "iterations")
	if p.Plan != "" {
		bound(c.MaxPerTask > 0, "at most "+termtext.Count(c.MaxPerTask, "iteration")+" for a task", "iterations for a task")
	}
	bound(c.MaxCost > 0, fmt.Sprintf("at most %g USD%s", c.MaxCost, p.Agent.Spec.CostNote()), "cost")
	bound(c.MaxDuration > 0 || c.Until != "", view.Join(", ", atMost(c.MaxDuration), view.Prefix("until ", c.Until)), "time")
	text := strings.Join(set, ", ")
	if len(unset) == 0 {
		return text
	}
	if text != "" {
		text += "; "
	}
	if last := len(unset) - 1; last > 0 {
		unset = append(unset[:last-1], unset[last-1]+" or "+unset[last])
	}
	return text + "no bound on " + strings.Join(unset, ", ")
}

func atMost(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return fmt.Sprintf("at most %s", d)
}

// NoTasks says in one line why there is nothing to work off: the plan has no task that
// keeps a run going, or it is gone; empty: it has one, or the project never had a plan.
func (p *Project) NoTasks() string {
	if p.Plan == "" {
		return p.planGone()
	}
	if p.Tasks.Total() > 0 {
		return ""
	}
	example := "" // other formats have tools of their own
	switch base := strings.ToLower(filepath.Base(p.Plan)); {
	case base == "prd.json":
		example = `; a task is written like this: "userStories": [{"title": "what to do"}]`
	case strings.HasSuffix(base, ".md"):
		example = "; a task is written like this: - [ ] what to do"
	}
	what := "no task yet"
	if len(p.Tasks.Tasks) > 0 {
		what = "only optional tasks"
	}
	return view.Within(p.Dir, p.Plan) + " has " + what + example
}

// planGone says what shows that a project without a plan had one.
func (p *Project) planGone() string {
	if text, err := os.ReadFile(p.Prompt); err == nil {
		for _, name := range scaffold.PlanNames() {
			if bytes.Contains(text, []byte(name)) {
				return fmt.Sprintf("there is no plan, but %s names %s", view.Within(p.Dir, p.Prompt), name)
			}
		}
	}
	if last, err := cmdline.OpenState(p.Dir).Status(); err == nil && last.Task.Total > 0 {
		return fmt.Sprintf("there is no plan, but the last run had one with %s", termtext.Count(last.Task.Total, "task"))
	}
	return ""
}

// Unproven says what exit code 0 will mean in a run that has no checks yet.
func (p *Project) Unproven() string {
	means := "the agent says that it is done"
	if p.Plan != "" {
		means = "the plan is ticked and " + means
	}
	text := "no checks: exit code 0 will only mean that " + means
	if p.Config.DetectChecks {
		text += ", unless ralph finds some later"
	}
	return text + "; " + AdviceChecks
}
