package git

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

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

func TestWroteIgnored_onlyWhatGitIgnoresByItself_counts(t *testing.T) {
	const python = "__pycache__/\n*.pyc\n"
	for what, c := range map[string]struct {
		rules, wrote, named string
		want                bool
	}{
		"folder":                       {"/dist/\n", "dist/js/app.js", "dist/", true},
		"folder below":                 {"node_modules/\n", "src/node_modules/a/x.js", "src/node_modules", true},
		"folder that has a file":       {"dist/*\n!dist/.gitkeep\n", "dist/app.js", "dist/", true},
		"file":                         {"*.log\n", "src/app.log", "src/app.log", true},
		"file in an ignored folder":    {"/dist/\n", "dist/app.js", "dist/app.js", true},
		"another file":                 {"*.log\n", "src/test.log", "src/app.log", false},
		"cache in a folder":            {python, "src/api/__pycache__/a.pyc", "src/api/", false},
		"cache of a file":              {python, "src/api/__pycache__/a.pyc", "src/api/a.py", false},
		"installed packages":           {"node_modules/\n", "src/node_modules/a/x.js", "src/", false},
		"file that no rule lets in":    {"*\n!*/\n!*.py\n", "src/api/trace.out", "src/api/", false},
		"folder among such files":      {"*\n!*/\n!*.py\n/dist/\n", "dist/app.js", "dist/", true},
		"file in a folder of the plan": {".ralph/\n", ".ralph/logs/x", ".ralph/logs/", false},
	} {
		t.Run(what, func(t *testing.T) {
			dir := world.Project(t, map[string]string{".gitignore": c.rules, "src/api/a.py": "x\n", c.wrote: "x\n"})
			if out, err := exec.CommandContext(t.Context(), "git", "-C", dir, "init", "-q").CombinedOutput(); err != nil {
				t.Fatalf("%s: %v", out, err)
			}
			for since, want := range map[time.Duration]bool{-time.Hour: c.want, time.Hour: false} {
				if got, err := WroteIgnored(t.Context(), dir, []string{c.named}, time.Now().Add(since)); err != nil || got != want {
					t.Errorf("since %s: %t, %v", since, got, err)
				}
			}
		})
	}
}
