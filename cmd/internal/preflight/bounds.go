package preflight

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"ralph/cmd/internal/cmdline"
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
	bound(c.MaxIterations > 0, "at most "+cmdline.Count(c.MaxIterations, "iteration"), "iterations")
	bound(c.MaxPerTask > 0, fmt.Sprintf("at most %d for a task", c.MaxPerTask), "iterations for a task")
	bound(c.MaxCost > 0, fmt.Sprintf("at most %g USD", c.MaxCost), "cost")
	bound(c.MaxDuration > 0, fmt.Sprintf("at most %s", c.MaxDuration), "time")
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

// NoTasks says in one line that the plan says something, but has no task to tick; empty:
// there is no plan, it is blank, or it has tasks.
func (p *Project) NoTasks() string {
	if p.Plan == "" {
		return ""
	}
	list, err := p.Tasks()
	if err != nil || len(list.Tasks) > 0 {
		return "" // a start refuses one that cannot be read
	}
	if text, err := os.ReadFile(p.Plan); err != nil || len(bytes.TrimSpace(text)) == 0 {
		return ""
	}
	example := "- [ ] what to do"
	if strings.EqualFold(filepath.Ext(p.Plan), ".json") {
		example = `"userStories": [{"title": "what to do"}]`
	}
	return fmt.Sprintf("%s has no tasks, such as: %s", view.Within(p.Dir, p.Plan), example)
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
