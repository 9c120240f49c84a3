package preflight

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ralph/cmd/internal/cmdline"
	"ralph/cmd/internal/config"
	"ralph/state"
)

func TestFindRunPlan_ofARunThatIsNotFinished_isItsPlan(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	dir := t.TempDir()
	for name, text := range map[string]string{"a": "- [ ] 1.1 x\n", "b": "- [ ] 1.1 y\n", "c": "- [x] 1.1 z\n"} {
		path := filepath.Join(dir, "openspec/changes", name, "tasks.md")
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const a, b, gone = "openspec/changes/a/tasks.md", "openspec/changes/b/tasks.md", "openspec/changes/gone/tasks.md"
	w, _, err := state.Acquire(filepath.Join(dir, state.DirName), state.Owner{PID: os.Getpid()})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		status state.Status
		kept   map[string]string
		env    string
		want   string
	}{
		"killed":         {state.Status{RunID: "r", Status: state.StatusRunning}, map[string]string{"PLAN_FILE": b}, "", b},
		"stopped":        {state.Status{RunID: "r", Status: state.StatusStopped}, map[string]string{"MAX_CALLS_PER_HOUR": "7", "PLAN_FILE": b}, "", b},
		"completed":      {state.Status{RunID: "r", Status: state.StatusCompleted}, map[string]string{"PLAN_FILE": b}, "", a},
		"another run":    {state.Status{RunID: "q", Status: state.StatusRunning}, map[string]string{"PLAN_FILE": b}, "", a},
		"plan is gone":   {state.Status{RunID: "r", Status: state.StatusRunning}, map[string]string{"PLAN_FILE": gone}, "", a},
		"named here":     {state.Status{RunID: "r", Status: state.StatusRunning}, map[string]string{"PLAN_FILE": b}, a, a},
		"run without it": {state.Status{RunID: "r", Status: state.StatusRunning}, nil, "", a},
	} {
		t.Run(name, func(t *testing.T) {
			f := &cmdline.Factory{Err: os.Stderr, Dir: dir, Env: append(os.Environ(), "PLAN_FILE="+c.env)}
			if err := f.Loader(dir, nil).KeepRuns(config.KeptRun{Run: "r", Flags: c.kept}); err != nil {
				t.Fatal(err)
			}
			if err := w.SaveStatus(c.status); err != nil {
				t.Fatal(err)
			}
			_ = w.Release() // the runner is gone
			p, _, err := Open(f, nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := p.FindRunPlan(); err != nil || p.Plan != filepath.Join(dir, c.want) {
				t.Errorf("%s, %v", p.Plan, err)
			}
		})
	}
}

func TestKeepPlan_aPlanThatWasFound_isAFlagOfTheRun(t *testing.T) {
	p := project(t, map[string]string{"prd.json": `{"userStories": []}`})
	loader := (&cmdline.Factory{Env: []string{"HOME=" + t.TempDir()}}).Loader(p.Dir, nil)
	cfg, _, err := loader.Load()
	if err != nil {
		t.Fatal(err)
	}
	if p.Config = cfg; cfg.Flags() != nil {
		t.Fatal(cfg.Flags())
	}
	KeepPlan(cfg, p.Dir, p.Plan)
	if got := strings.Join(cfg.Flags(), " "); got != "--plan=prd.json" {
		t.Error(got)
	}
}
