package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ralph/cmd/internal/cmdline"
	"ralph/internal/world"
	"ralph/state"
)

func TestInit_withAPlan_imports(t *testing.T) {
	otherHome(t)
	dir := t.TempDir()
	list := filepath.Join(t.TempDir(), "ideas.md")
	if err := os.WriteFile(list, []byte("# Tasks\n\n- log in\n- log out\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		typed []string
		exit  int
		want  string
	}{
		{[]string{"init", "-y", "--template", "api", "--from", list}, state.ExitUsage, "init takes --template or --from, not both"},
		{[]string{"init", "-y", "--template", "game"}, state.ExitUsage, "game"},
		{[]string{"init", "-y", "--from", list}, 0, "2 tasks"},
		{[]string{"init", "-y", "--from", list}, state.ExitUsage, ".ralph/fix_plan.md exists; overwrite it with --force, or add"},
		{[]string{"init", "-y", "--template="}, state.ExitUsage, "known: fullstack, api, "},
		{[]string{"init", "-y", "--from", list, "--template="}, state.ExitUsage, "init takes --template or --from, not both"},
		{[]string{"task", "list"}, 0, "log out"},
	} {
		out, err := verb(t, dir, c.typed...)
		if err != nil {
			out += err.Error()
		}
		if cmdline.ExitCode(err) != c.exit || !strings.Contains(out, c.want) {
			t.Errorf("ralph %q: exit code %d, says %q, want %q", c.typed, cmdline.ExitCode(err), out, c.want)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, ".ralph", "PROMPT.md")); err != nil {
		t.Error(err)
	}
}

func TestInit_planOfATemplate_isWrittenOnce(t *testing.T) {
	otherHome(t)
	for _, more := range [][]string{nil, {"--force"}, {"--json"}} {
		dir := t.TempDir()
		out, err := verb(t, dir, append([]string{"init", "-y", "--template", "api"}, more...)...)
		if err != nil || strings.Contains(out, "kept  .ralph/fix_plan.md") || strings.Contains(out, `"kept":[".ralph`) {
			t.Errorf("%q: %v\n%s", more, err, out)
		}
		if plan, err := os.ReadFile(filepath.Join(dir, ".ralph", "fix_plan.md")); err != nil || strings.Contains(string(plan), "Each box is one task") {
			t.Errorf("%q: %v\n%s", more, err, plan)
		}
	}
}

func TestInit_templateWithForce_overwritesPlanAndSpecification(t *testing.T) {
	otherHome(t)
	dir := world.Project(t, map[string]string{".ralph/fix_plan.md": "- [ ] old\n", ".ralph/specs/api.md": "old\n"})
	out, err := verb(t, dir, "init", "--json", "--template", "api", "--force")
	if err != nil || !strings.Contains(out, `"wrote":[".ralph/fix_plan.md",".ralph/specs/api.md",`) {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, name := range []string{".ralph/fix_plan.md", ".ralph/specs/api.md"} {
		if text, err := os.ReadFile(filepath.Join(dir, name)); err != nil || strings.Contains(string(text), "old") {
			t.Errorf("%s: %v\n%s", name, err, text)
		}
	}
	w, _, err := state.Acquire(filepath.Join(dir, state.DirName), state.Owner{PID: os.Getpid(), StartedAt: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Release()
	if _, err = verb(t, dir, "init", "-y", "--template", "api", "--force"); cmdline.ExitCode(err) != state.ExitLocked {
		t.Error(err)
	}
}
