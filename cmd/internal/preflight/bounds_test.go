package preflight

import (
	"path/filepath"
	"testing"
	"time"

	"ralph/config"
	"ralph/internal/world"
)

func TestBounds_eachBoundIsNamedOrMissed(t *testing.T) {
	for _, test := range []struct {
		change func(*config.Config)
		want   string
	}{
		{func(*config.Config) {}, "at most 10 for a task; no bound on iterations, cost or time"},
		{func(c *config.Config) { c.MaxIterations, c.MaxCost = 50, 2.5 }, "at most 50 iterations, at most 10 for a task, at most 2.5 USD; no bound on time"},
		{func(c *config.Config) { c.MaxIterations, c.MaxCost, c.MaxDuration = 1, 3, 90*time.Minute }, "at most 1 iteration, at most 10 for a task, at most 3 USD, at most 1h30m0s"},
		{func(c *config.Config) { c.MaxPerTask = 0 }, "no bound on iterations, iterations for a task, cost or time"},
	} {
		cfg, _, err := config.Loader{Dir: t.TempDir()}.Load()
		if err != nil {
			t.Fatal(err)
		}
		test.change(cfg)
		if got := (&Project{Config: cfg}).Bounds(); got != test.want {
			t.Errorf("%q, want %q", got, test.want)
		}
	}
}

func TestUnproven_saysWhatIsLeftOfExit0(t *testing.T) {
	const advice = `; name them in .ralphrc, for example: TEST_COMMAND="make test"`
	for _, test := range []struct {
		plan   string
		detect bool
		want   string
	}{
		{"", false, "no checks: exit code 0 will only mean that the agent says that it is done" + advice},
		{"plan.md", true, "no checks: exit code 0 will only mean that the plan is ticked and the agent says that it is done, unless ralph finds some later" + advice},
	} {
		cfg := &config.Config{}
		cfg.DetectChecks = test.detect
		if got := (&Project{Plan: test.plan, Config: cfg}).Unproven(); got != test.want {
			t.Errorf("%q, want %q", got, test.want)
		}
	}
}

func TestNoTasks_planThatSaysSomething_needsATask(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"plan.md", "# Plan\n\nMake it fast. Then:\n\n- write tests\n- write docs\n", "plan.md has no tasks, such as: - [ ] what to do"},
		{"plan.md", "# Plan\n\n- [ ] one\n", ""},
		{"plan.md", "# Plan\n\n- [x] one\n", ""},
		{"plan.md", "## Future\n\n- [ ] perhaps\n", ""},
		{"plan.md", " \n\n", ""},
		{"plan.md", "```\n- [ ] an example\n```\n", "plan.md has no tasks, such as: - [ ] what to do"},
		{"prd.json", `{"project": "p", "userStories": []}`, `prd.json has no tasks, such as: "userStories": [{"title": "what to do"}]`},
		{"prd.json", `{"userStories": 3}`, ""},
	} {
		cfg, _, err := config.Loader{Dir: t.TempDir()}.Load()
		if err != nil {
			t.Fatal(err)
		}
		dir := world.Project(t, map[string]string{test.name: test.text})
		if got := (&Project{Dir: dir, Plan: filepath.Join(dir, test.name), Config: cfg}).NoTasks(); got != test.want {
			t.Errorf("%q: %q, want %q", test.text, got, test.want)
		}
	}
}
