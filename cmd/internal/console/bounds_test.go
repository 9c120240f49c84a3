package console

import (
	"strings"
	"testing"
	"time"

	"ralph/cmd/internal/config"
	"ralph/cmd/internal/preflight"
	"ralph/runner/agent"
)

func TestBounds_eachBoundIsNamedOrMissed(t *testing.T) {
	for _, test := range []struct {
		change func(*config.Config)
		want   string
	}{
		{func(*config.Config) {}, "at most 10 iterations for a task, none for the whole run (--max-iterations, --max-cost, --max-duration)"},
		{func(c *config.Config) { c.MaxIterations, c.MaxCost = 50, 2.5 }, "at most 50 iterations, at most 10 iterations for a task, at most 2.5 USD"},
		{func(c *config.Config) { c.MaxIterations, c.MaxCost, c.MaxDuration = 1, 3, 90*time.Minute }, "at most 1 iteration, at most 10 iterations for a task, at most 3 USD, at most 1h30m0s"},
		{func(c *config.Config) { c.MaxPerTask = 0 }, "none for the whole run (--max-iterations, --max-cost, --max-duration)"},
	} {
		cfg, _, err := config.Loader{Dir: t.TempDir()}.Load()
		if err != nil {
			t.Fatal(err)
		}
		test.change(cfg)
		if got := bounds(&preflight.Project{Config: cfg, Plan: "plan.md"}); got != test.want {
			t.Errorf("%q, want %q", got, test.want)
		}
		if got := bounds(&preflight.Project{Config: cfg}); strings.Contains(got, "for a task") {
			t.Errorf("without a plan: %q", got)
		}
	}
}

func TestBounds_agentThatReportsNoCost_isSaid(t *testing.T) {
	cfg, _, err := config.Loader{Dir: t.TempDir()}.Load()
	if err != nil {
		t.Fatal(err)
	}
	cfg.MaxCost = 20
	for name, want := range map[string]bool{"claude": false, "opencode": false, "codex": true, "gemini": true, "text": true} {
		spec, err := agent.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		p := preflight.Project{Config: cfg}
		p.Agent.Spec = spec
		if got := bounds(&p); want != strings.Contains(got, "20 USD (binds nothing: "+name+" reports no cost)") {
			t.Errorf("%s: %q", name, got)
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
		{"", false, "no checks, so nothing will be proven: exit code 0 will only mean that the agent says that it is done" + advice},
		{"plan.md", true, "no checks, so nothing will be proven: exit code 0 will only mean that the plan is ticked and the agent says that it is done, unless ralph finds some later" + advice},
	} {
		cfg := &config.Config{}
		cfg.DetectChecks = test.detect
		if got := unproven(&preflight.Project{Plan: test.plan, Config: cfg}); got != test.want {
			t.Errorf("%q, want %q", got, test.want)
		}
	}
}

func TestDifferences_ofAStart_areWhatIsNewAndWhatIsGone(t *testing.T) {
	before := []string{"prompt p, no plan", "no sandbox: agents can do what you can", "limits: at most 2 iterations", "check test: make", "check lint: vet"}
	for want, now := range map[string][]string{
		"settings as in the run before; ralph config shows them":                before,
		"new since the run before: limits: at most 3 iterations":                {before[0], before[1], "limits: at most 3 iterations", before[3], before[4]},
		"new since the run before: sandbox: bwrap, network all":                 {before[0], "sandbox: bwrap, network all", before[2], before[3], before[4]},
		"no longer: check lint: vet":                                            before[:4],
		"new since the run before: check unit: go; no longer: check test: make": {before[0], before[1], before[2], "check unit: go", before[4]},
	} {
		if got := differences(now, before); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
