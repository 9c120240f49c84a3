package console

import (
	"fmt"
	"strings"

	"ralph/cmd/internal/preflight"
	"ralph/logs/termtext"
)

// bounds says in one line what ends a run that never completes.
func bounds(p *preflight.Project) string {
	c := p.Config
	var set []string
	bound := func(is bool, format string, args ...any) {
		if is {
			set = append(set, fmt.Sprintf(format, args...))
		}
	}
	bound(c.MaxIterations > 0, "at most %s", termtext.Count(c.MaxIterations, "iteration"))
	bound(c.MaxPerTask > 0 && p.Plan != "", "at most %s for a task", termtext.Count(c.MaxPerTask, "iteration"))
	bound(c.MaxCost > 0, "at most %g USD%s", c.MaxCost, p.Agent.Spec.CostNote())
	bound(c.MaxDuration > 0, "at most %s", c.MaxDuration)
	bound(c.Until != "", "until %s", c.Until)
	if c.MaxIterations == 0 && c.MaxCost == 0 && c.MaxDuration == 0 && c.Until == "" {
		set = append(set, "none for the whole run (--max-iterations, --max-cost, --max-duration)")
	}
	return strings.Join(set, ", ")
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
