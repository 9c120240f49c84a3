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
		if got, err := Mentions(t.Context(), dir, []string{"run.py"}, false, nil); err != nil || (len(got) > 0) != want {
			t.Errorf("%s: %q, %v", file, got, err)
		}
	}
}

func TestMentions_codeSettingsOrAPath_countAndTextsDoNot(t *testing.T) {
	const code, prose = "code", "prose" // who counts: all, or only those that look for texts for people, too
	for file, want := range map[string]string{"a.py: def mode(xs)": code, "tools/mode.py: x": code, "model.py: model_of": "",
		"README.md: mode(xs)": prose, ".ralph/fix_plan.md: mode(xs)": "", "other.py: x": "", "settings.yaml: mode: 1": code,
		"prd.json: mode": "", "package.json: mode": code, "mode/notes.txt: x": code} {
		name, text, _ := strings.Cut(file, ": ")
		dir := world.Project(t, map[string]string{name: text + "\n"})
		if out, err := exec.CommandContext(t.Context(), "git", "-C", dir, "init", "-q").CombinedOutput(); err != nil {
			t.Fatalf("%s: %v", out, err)
		}
		for _, who := range []string{code, prose} {
			got, err := Mentions(t.Context(), dir, []string{"mode"}, who == prose, []string{filepath.Join(dir, "prd.json"), "/elsewhere"})
			if found := want != "" && want <= who; err != nil || (len(got) > 0) != found || found && got[0] != name {
				t.Errorf("%s, %s: %q, %v", name, who, got, err)
			}
		}
	}
}
