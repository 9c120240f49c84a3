package cli

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ralph/cmd/internal/cmdline"
	"ralph/cmd/internal/config"
	"ralph/cmd/internal/preflight"
	"ralph/internal/world"
	"ralph/state"
)

// A person is asked once: the runner that ralph --monitor starts knows the answer.
func TestRun_planOfProse_isAskedAboutOnATerminal(t *testing.T) {
	dir := world.Project(t, map[string]string{"plan.md": "Make it fast.\n"})
	cfg, _, err := config.Loader{Dir: dir}.Load()
	if err != nil {
		t.Fatal(err)
	}
	p := &preflight.Project{Dir: dir, Plan: filepath.Join(dir, "plan.md"), Config: cfg}
	for answer, agreed := range map[string]bool{"y\n": true, "n\n": false, "\n": false} {
		said := &strings.Builder{}
		o := &runOptions{Factory: &cmdline.Factory{In: world.Typed(t, answer), Err: said}, output: "text"}
		err := o.agreeNoTasks(p)
		if (err == nil) != agreed || !agreed && cmdline.ExitCode(err) != state.ExitUsage || strings.Count(said.String(), "[y/N]") != 1 {
			t.Errorf("%q: %v\n%s", answer, err, said)
		}
		if slices.Contains(o.argv(p), "--without-tasks") != agreed {
			t.Errorf("%q: the inner runner gets %q", answer, o.argv(p))
		}
	}
}
