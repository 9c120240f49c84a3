package git

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ralph/internal/world"
)

func TestMentions_nameOfAFile_isItsPathOrInCode(t *testing.T) {
	for file, want := range map[string]bool{"bin/run.py": true, "bin/rerun.py": false, "bin/run.pyc": false} {
		dir := world.Project(t, map[string]string{file: "x\n"})
		if out, err := exec.CommandContext(t.Context(), "git", "-C", dir, "init", "-q").CombinedOutput(); err != nil {
			t.Fatalf("%s: %v", out, err)
		}
		if got, err := Mentions(t.Context(), dir, []string{"run.py"}); err != nil || got != want {
			t.Errorf("%s: %t, %v", file, got, err)
		}
	}
}

func TestMentions_codeOrAPath_countsAndTextsDoNot(t *testing.T) {
	for file, want := range map[string]bool{"a.py: def mode(xs)": true, "tools/mode.py: x": true, "model.py: model_of": false,
		"README.md: mode(xs)": false, ".ralph/fix_plan.md: mode(xs)": false, "other.py: x": false} {
		name, text, _ := strings.Cut(file, ": ")
		dir := world.Project(t, map[string]string{name: text + "\n"})
		if out, err := exec.CommandContext(t.Context(), "git", "-C", dir, "init", "-q").CombinedOutput(); err != nil {
			t.Fatalf("%s: %v", out, err)
		}
		if got, err := Mentions(t.Context(), dir, []string{"mode"}); err != nil || got != want {
			t.Errorf("%s: %t, %v", filepath.Base(file), got, err)
		}
	}
}
