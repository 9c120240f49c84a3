package preflight

import (
	"path/filepath"
	"strings"
	"testing"

	"ralph/cmd/internal/config"
	"ralph/internal/world"
)

func TestNoTasks_planThatSaysSomething_needsATask(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"plan.md", "# Plan\n\nMake it fast. Then:\n\n- write tests\n- write docs\n", "plan.md has no task yet; a task is written like this: - [ ] what to do"},
		{"plan.md", "# Plan\n\n- [ ] one\n", ""},
		{"plan.md", "# Plan\n\n- [x] one\n", ""},
		{"plan.md", "## Future\n\n- [ ] perhaps\n", "plan.md has only optional tasks; a task is written like this: - [ ] what to do"},
		{"plan.md", " \n\n", "plan.md has no task yet; a task is written like this: - [ ] what to do"},
		{"plan.md", "```\n- [ ] an example\n```\n", "plan.md has no task yet; a task is written like this: - [ ] what to do"},
		{"prd.json", `{"project": "p", "userStories": []}`, `prd.json has no task yet; a task is written like this: "userStories": [{"title": "what to do"}]`},
		{"prd.json", `{"userStories": 3}`, "the plan cannot be used"},
		{".taskmaster/tasks/tasks.json", `{"master": {"tasks": []}}`, ".taskmaster/tasks/tasks.json has no task yet"},
	} {
		cfg, _, err := config.Loader{Dir: t.TempDir()}.Load()
		if err != nil {
			t.Fatal(err)
		}
		dir := world.Project(t, map[string]string{test.name: test.text})
		cfg.PlanFile = test.name
		p := &Project{Dir: dir, Config: cfg}
		if err := p.FindPlan(); err != nil { // a start refuses it, and asks nothing
			if !strings.HasPrefix(err.Error(), test.want) || test.want == "" {
				t.Errorf("%q: %v, want %q", test.text, err, test.want)
			}
		} else if got := p.NoTasks(); got != test.want {
			t.Errorf("%q: %q, want %q", test.text, got, test.want)
		}
	}
}

// Who deletes a plan by mistake must not pay for calls without one.
func TestNoTasks_noPlan_asksOnlyWhereThereWasOne(t *testing.T) {
	for _, test := range []struct{ prompt, status, want string }{
		{"Make it fast.\n", "", ""},
		{"Make it fast.\n", `{"task": {"total": 0}}`, ""},
		{"Do the next task of .ralph/fix_plan.md.\n", "", "there is no plan, but prompt.md names .ralph/fix_plan.md"},
		{"Read @fix_plan.md.\n", "", "there is no plan, but prompt.md names fix_plan.md"},
		{"Make it fast.\n", `{"task": {"total": 3}}`, "there is no plan, but the last run had one with 3 tasks"},
	} {
		files := map[string]string{"prompt.md": test.prompt}
		if test.status != "" {
			files[".ralph/status.json"] = test.status
		}
		dir := world.Project(t, files)
		if got := (&Project{Dir: dir, Prompt: filepath.Join(dir, "prompt.md")}).NoTasks(); got != test.want {
			t.Errorf("%q, %s: %q, want %q", test.prompt, test.status, got, test.want)
		}
	}
}
