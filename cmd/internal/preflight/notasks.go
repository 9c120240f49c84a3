package preflight

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"

	"ralph/cmd/internal/cmdline"
	"ralph/cmd/internal/scaffold"
	"ralph/logs/termtext"
	"ralph/runner/prompt"
	"ralph/state/view"
)

// NoTasks says in one line why there is no work to do: the plan has no task that keeps a run
// going, or it is gone; empty: it has one, or the project never had a plan.
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

const maxPrompt = 16 << 20 // bytes

// planGone says how ralph knows that a project without a plan had one; empty: it had none.
func (p *Project) planGone() string {
	if text, err := prompt.Read(p.Dir, p.Prompt, maxPrompt); err == nil {
		for _, name := range scaffold.PlanNames() {
			if bytes.Contains(text, []byte(name)) {
				return fmt.Sprintf("there is no plan, but %s names %s", view.Within(p.Dir, p.Prompt), name)
			}
		}
	}
	if last, err := cmdline.OpenState(p.Dir).Status(); err == nil && last.Task.Total > 0 {
		return "there is no plan, but the last run had one with " + termtext.Count(last.Task.Total, "task")
	}
	return ""
}
