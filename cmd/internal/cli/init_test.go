package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ralph/cmd/internal/cmdline"
	"ralph/runner/rules"
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
		{[]string{"init", "-y", "--template", "api", "--from", list}, rules.ExitUsage, "init takes --template or --from, not both"},
		{[]string{"init", "-y", "--template", "game"}, rules.ExitUsage, "game"},
		{[]string{"init", "-y", "--from", list}, 0, "2 tasks"},
		{[]string{"init", "-y", "--from", list}, rules.ExitUsage, "import never overwrites a file"},
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
