package console

import (
	"testing"

	"ralph/cmd/internal/config"
	"ralph/cmd/internal/preflight"
	"ralph/runner/task"
)

func TestParallelAndReviewers_theStartSaysWhoWorksAndWhoLooks(t *testing.T) {
	silent := []task.Task{{ID: "1"}, {ID: "2"}}
	const nobody = "no reviewer: wrong code that no test notices counts as done (QA=true asks another agent to read it)"
	marked := []task.Task{{ID: "1", Parallel: true}, {ID: "2", Parallel: true}}
	for name, test := range map[string]struct {
		change           func(*config.Config)
		tasks            []task.Task
		parallel, review string
	}{
		"the default":              {func(*config.Config) {}, silent, "", nobody},
		"marked tasks":             {func(c *config.Config) { c.Parallel = 4 }, marked, "parallel: up to 4 tasks at the same time", nobody},
		"any tasks":                {func(c *config.Config) { c.Parallel, c.ParallelAny = 2, true }, silent, "parallel: up to 2 tasks at the same time", nobody},
		"a plan that does not say": {func(c *config.Config) { c.Parallel = 2 }, silent, "parallel: one task at a time, although there is room for 2: the plan does not say which tasks may run side by side; mark them with [P], give them dependencies, or set PARALLEL_ANY=true", nobody},
		"QA":                       {func(c *config.Config) { c.QA = true }, silent, "", "review: each task by QA"},
		"QA and judges":            {func(c *config.Config) { c.QA, c.Judges = true, []string{"security", "ux"} }, silent, "", "review: each task by QA, then Security Auditor, UX Designer"},
		"judges of a task":         {func(c *config.Config) { c.QA = true }, []task.Task{{ID: "1", Judges: []string{"ux"}}}, "", "review: each task by QA, then the judges that tasks name"},
		"stories of AIOS": {func(c *config.Config) { c.AIOSOptions.Enabled = "true" }, []task.Task{{ID: "1.1", File: "docs/stories/1.1.story.md"}}, "",
			"review: each task by QA"},
		"stories of AIOS, without QA": {func(c *config.Config) { c.AIOSOptions.Enabled, c.AIOSOptions.QAEnabled = "true", false },
			[]task.Task{{ID: "1.1", File: "docs/stories/1.1.story.md"}}, "", nobody},
	} {
		t.Run(name, func(t *testing.T) {
			cfg, _, err := config.Loader{Dir: t.TempDir()}.Load()
			if err != nil {
				t.Fatal(err)
			}
			test.change(cfg)
			p := &preflight.Project{Config: cfg, Tasks: task.List{Tasks: test.tasks}}
			if got := parallel(p); got != test.parallel {
				t.Errorf("parallel: %q, want %q", got, test.parallel)
			}
			if got := p.Reviews(); got != test.review {
				t.Errorf("review: %q, want %q", got, test.review)
			}
		})
	}
}
