package console

import (
	"fmt"
	"strings"
	"time"

	"ralph/cmd/internal/preflight"
	"ralph/logs/termtext"
	"ralph/state/view"
)

// bounds says in one line what ends a run that never completes.
func bounds(p *preflight.Project) string {
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
		bound(c.MaxPerTask > 0, "at most "+termtext.Count(c.MaxPerTask, "iteration")+" for a task",
			"iterations for a task")
	}
	bound(c.MaxCost > 0, fmt.Sprintf("at most %g USD%s", c.MaxCost, p.Agent.Spec.CostNote()), "cost")
	bound(c.MaxDuration > 0 || c.Until != "",
		view.Join(", ", atMost(c.MaxDuration), view.Prefix("until ", c.Until)), "time")
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

// unproven says what exit code 0 will mean in a run that has no checks yet.
func unproven(p *preflight.Project) string {
	means := "the agent says that it is done"
	if p.Plan != "" {
		means = "the plan is ticked and " + means
	}
	text := "no checks, so nothing will be proven: exit code 0 will only mean that " + means
	if p.Config.DetectChecks {
		text += ", unless ralph finds some later"
	}
	return text + "; " + preflight.AdviceChecks
}
