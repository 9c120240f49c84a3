package preflight

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ralph/cmd/internal/cmdline"
	"ralph/cmd/internal/config"
	"ralph/internal/fakebd"
	"ralph/runner/task/store"
)

func project(t *testing.T, files map[string]string) *Project {
	t.Helper()
	p := &Project{Dir: t.TempDir(), Config: &config.Config{}}
	for name, text := range files {
		path := filepath.Join(p.Dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.FindPlan(); err != nil {
		t.Fatal(err)
	}
	return p
}

func TestOtherPlans_severalPlans_namesTheOneThatIsTaken(t *testing.T) {
	files := map[string]string{"prd.json": `{"userStories": []}`, ".kiro/specs/a/tasks.md": "- [ ] 1. a\n", "backlog/tasks/a.md": "---\nid: a\nstatus: Done\n---\n"}
	p := project(t, files)
	want := "several plans: taking prd.json (prd.json), the first in the order of docs/plans.md, " +
		"not .kiro/specs/a/tasks.md (Kiro), backlog (Backlog.md); choose one with --plan or PLAN_FILE"
	if got := p.OtherPlans(); got != want || p.Plan != filepath.Join(p.Dir, "prd.json") {
		t.Errorf("%s: %s", p.Plan, got)
	}
	if p.Config.PlanFile = "backlog"; p.OtherPlans() != "" {
		t.Error("the user has named one")
	}
	delete(files, "prd.json")
	delete(files, "backlog/tasks/a.md")
	if got := project(t, files).OtherPlans(); got != "" {
		t.Error(got)
	}
}

func TestOtherBranch_namesBothBranches(t *testing.T) {
	p := project(t, map[string]string{"prd.json": `{"branchName": "ralph/shop", "userStories": []}`})
	for branch, want := range map[string]string{"ralph/shop": "", "": "",
		"main": `prd.json is for the branch "ralph/shop", but "main" is checked out, and a run works there; to switch: git switch ralph/shop (-c makes it)`} {
		if p.Branch = branch; p.OtherBranch() != want {
			t.Errorf("on %q: %s", branch, p.OtherBranch())
		}
	}
	if p := project(t, map[string]string{"prd.json": `{"userStories": []}`}); p.OtherBranch() != "" {
		t.Error("no branch is named:", p.OtherBranch())
	}
}

func TestProblem_planThatCannotBeWorkedThrough_isOneLine(t *testing.T) {
	for name, c := range map[string]struct{ file, text, want string }{
		"circle":     {"prd.json", `{"userStories": [{"id": "a", "dependsOn": ["b"]}, {"id": "b", "dependsOn": ["a"]}]}`, `task "a" (line 1) depends on itself: a -> b -> a`},
		"missing id": {"prd.json", `{"userStories": [{"id": "a", "dependsOn": ["x"]}]}`, `task "a" (line 1) depends on "x", which the plan does not have`},
		"done":       {"prd.json", `{"userStories": [{"id": "a", "passes": true, "dependsOn": ["x"]}]}`, ""},
		"word":       {".ralph/tasks.json", `{"tasks": [{"id": "a", "name": "b", "status": "later"}]}`, ""},
		"fine":       {"fix_plan.md", "- [ ] a\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := project(t, map[string]string{c.file: c.text})
			list, err := store.Load(store.File{Path: p.Plan})
			if err != nil {
				t.Fatal(err)
			}
			got := Problem(p.Dir, list)
			if !strings.Contains(got, c.want) || (c.want == "") != (got == "") || strings.Contains(got, "\n") {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

// Reading the plan already runs the program, and that may run what the project configures.
func TestFindPlan_toldByAProgram_needsConsent(t *testing.T) {
	dir := fakebd.Install(t, `[{"id": "bd-1", "title": "One", "status": "open"}]`)
	home := t.TempDir()
	f := &cmdline.Factory{In: os.Stdin, Out: io.Discard, Err: io.Discard, Dir: dir, Env: []string{"HOME=" + home, "XDG_STATE_HOME=" + home}}
	p, loader, err := Open(f, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.FindPlan(); err == nil || !strings.Contains(err.Error(), "the plan .beads is read and changed by running bd, and you have not agreed") {
		t.Errorf("without consent: %v", err)
	}
	if err := p.choosePlan(f); err == nil || !strings.Contains(err.Error(), "needs your consent first") {
		t.Errorf("a run without consent: %v", err)
	}
	if ran := fakebd.Calls(t, dir); ran != "" {
		t.Errorf("without consent, bd ran: %s", ran)
	}
	all, err := p.Unagreed()
	if err != nil || len(all) != 1 {
		t.Fatalf("%v, %v", all, err)
	}
	if err := f.Record(loader, all); err != nil {
		t.Fatal(err)
	}
	if err := p.FindPlan(); err != nil || len(p.Tasks.Tasks) != 1 || p.Tasks.Tasks[0].ID != "bd-1" {
		t.Errorf("with consent: %v, %v", p.Tasks, err)
	}
	p.Config.Parallel = 2
	if err := p.checkPlan(f); err == nil || !strings.Contains(err.Error(), "leave out PARALLEL") {
		t.Errorf("side by side: %v", err)
	}
}

// What steers the program of a plan is locked like what steers an agent, where there is such a plan.
func TestSteering_planThatAProgramKeeps_hasItsFiles(t *testing.T) {
	for plan, want := range map[string]bool{".beads": true, "docs": false} {
		dir, home := t.TempDir(), t.TempDir()
		if err := os.Mkdir(filepath.Join(dir, plan), 0o755); err != nil {
			t.Fatal(err)
		}
		f := &cmdline.Factory{In: os.Stdin, Out: io.Discard, Err: io.Discard, Dir: dir, Env: []string{"HOME=" + home, "XDG_STATE_HOME=" + home}}
		p, _, err := Open(f, nil)
		if err != nil {
			t.Fatal(err)
		}
		c, err := p.Sandbox(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{".beads/config.yaml", ".beads/hooks/", ".beads/redirect"} {
			if got := slices.Contains(c.Project.Locked, name); got != want {
				t.Errorf("with %s: %s is locked: %v", plan, name, got)
			}
		}
		if !slices.Contains(c.Project.Locked, ".mcp.json") {
			t.Errorf("with %s: locked are %q", plan, c.Project.Locked)
		}
	}
}

func TestOverruled_optionOfTheCommandLineThatThePlanReplaces_isNamed(t *testing.T) {
	for name, c := range map[string]struct {
		plan  string
		flags map[string]string
		want  string
	}{
		"another agent": {`{"userStories": [{"id": "a", "provider": {"provider": "gemini", "model": "flash"}}, {"id": "b"}]}`,
			map[string]string{"MODEL": "opus"}, "--model opus does not apply where the plan names another: a (gemini flash)"},
		"the whole plan": {`{"model": "haiku", "userStories": [{"id": "a"}]}`, map[string]string{"MODEL": "opus"}, "--model opus does not apply where the plan names another: a (haiku)"},
		"agent":          {`{"userStories": [{"id": "a", "agent": "codex"}]}`, map[string]string{"AGENT": "claude"}, "--agent claude does not apply where the plan names another: a (codex)"},
		"the same":       {`{"userStories": [{"id": "a", "model": "opus"}]}`, map[string]string{"MODEL": "opus"}, ""},
		"done":           {`{"userStories": [{"id": "a", "model": "x", "passes": true}]}`, map[string]string{"MODEL": "opus"}, ""},
		"not typed":      {`{"userStories": [{"id": "a", "model": "x"}]}`, nil, ""},
	} {
		dir := t.TempDir()
		for file, text := range map[string]string{"prd.json": c.plan, "PROMPT.md": "x"} {
			if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if got := strings.Join(found(t, dir, c.flags).overruled(), "; "); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
