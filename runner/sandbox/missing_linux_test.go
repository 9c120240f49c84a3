package sandbox

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"ralph/ptyexec"
)

// What steers a shell or an agent must not come into being, and leave no trace for git.
// ralph starts bd outside of the sandbox, and bd starts what is in the folder of its issues. The issues
// themselves are the agent's to write.
func TestEscape_hooksOfBeads(t *testing.T) {
	long(t)
	each(t, func(t *testing.T, p profile) {
		if !p.locks {
			return // put back after the call: TestSettle_hooksOfBeads_areAsBefore
		}
		for _, hooks := range []bool{true, false} {
			home, project := home(t)
			if err := os.MkdirAll(filepath.Join(project, ".beads", map[bool]string{true: "hooks"}[hooks]), 0o755); err != nil {
				t.Fatal(err)
			}
			b := box(t, p.name, project)
			c, err := b.At(project, append(names(), ".beads/hooks/", ".beads/config.yaml", ".beads/redirect"))
			if err != nil {
				t.Fatal(err)
			}
			b.Project = c.Project
			for _, script := range []string{
				"mkdir -p .beads/hooks && echo x > .beads/hooks/on_close", "mv .beads/hooks h && mkdir .beads/hooks && echo x > .beads/hooks/on_close",
				"mv .beads b && mkdir -p .beads/hooks && echo x > .beads/hooks/on_close", "ln -s /tmp .beads/hooks",
				"echo x > .beads/config.yaml", "echo x > c && mv c .beads/config.yaml", "echo /tmp > .beads/redirect",
			} {
				_, out := sh(t, b, home, script)
				for _, name := range []string{"hooks/on_close", "config.yaml", "redirect"} {
					if _, err := os.Lstat(filepath.Join(project, ".beads", name)); err == nil {
						t.Errorf("after %s: %s is there; %s", script, name, out)
					}
				}
			}
			if ok, out := sh(t, b, home, "echo x > .beads/issues.jsonl && mv .beads/issues.jsonl .beads/i"); !ok {
				t.Error(out)
			}
		}
	})
}

func TestEscape_lockedAndMissing(t *testing.T) {
	long(t)
	each(t, func(t *testing.T, p profile) {
		if !p.locks {
			return // stated in docs/sandbox.md
		}
		home, project := home(t)
		for _, name := range []string{".mcp.json", ".claude/settings.json", ".claude"} {
			if err := os.Remove(filepath.Join(project, name)); err != nil {
				t.Fatal(err)
			}
		}
		git := func(args ...string) string {
			out, err := exec.Command("git", append([]string{"-C", project}, args...)...).CombinedOutput()
			if err != nil {
				t.Fatal(err, string(out))
			}
			return string(out)
		}
		if err := os.RemoveAll(filepath.Join(project, ".git")); err != nil {
			t.Fatal(err)
		}
		git("init", "-q")
		b := box(t, p.name, project)
		for _, script := range []string{
			"echo x > .mcp.json", "echo x > new && mv new .mcp.json", "rm .mcp.json && echo x > .mcp.json", "echo x > .envrc", "echo x > .ralphrc",
			"mkdir -p .claude/commands && echo x > .claude/commands/x.md", "echo x > .claude/settings.local.json", "mkdir .claude/hooks/x",
			"mv .claude old && mkdir .claude && echo x > .claude/settings.json", "rm -rf .claude; mkdir -p .claude/agents && echo x > .claude/agents/x.md",
			"ln -s main.go .mcp.json", "ln -sf $PWD/main.go .envrc",
		} {
			_, out := sh(t, b, home, script)
			if left := git("status", "--porcelain", "--untracked-files=all", ".claude", ".mcp.json", ".envrc", ".ralphrc"); left != "" {
				t.Errorf("after %s: %s; %s", script, left, out)
			}
			for _, name := range []string{".claude", ".mcp.json", ".envrc", ".ralphrc"} {
				if _, err := os.Lstat(filepath.Join(project, name)); err == nil {
					t.Errorf("after %s, %s is there: %s", script, name, out)
				}
			}
		}
		if ok, out := sh(t, b, home, "cat .mcp.json .envrc; git add -A && git status --porcelain .claude .mcp.json .envrc"); !ok && p.name == "bwrap" || out != "" && p.name == "bwrap" {
			t.Errorf("git add: %v %s", ok, out)
		}
		if staged := git("ls-files", ".claude", ".mcp.json", ".envrc", ".ralphrc"); staged != "" {
			t.Errorf("staged: %s", staged)
		}
		if err := os.Mkdir(filepath.Join(project, ".claude"), 0o755); err != nil {
			t.Fatal(err)
		}
		if ok, out := sh(t, b, home, "! (mkdir .claude/commands && echo x > .claude/commands/x.md) && mkdir .claude/skills && echo x > .claude/skills/x.md"); !ok || git("status", "--porcelain", "--untracked-files=all", ".claude") != "?? .claude/skills/x.md\n" {
			t.Errorf("a file beside them: %v %s", ok, out)
		}
	})
}

// A call works on a copy of the plan, which its caller looks at first: other tasks cannot be
// changed. A check, which has none, can only read the plan.
func TestEscape_otherTasks(t *testing.T) {
	each(t, func(t *testing.T, p profile) {
		if !p.locks {
			return // runner/turn/intact puts them back: stated in docs/sandbox.md
		}
		home, project := home(t)
		plan, to := filepath.Join(project, ".ralph", "plan.md"), filepath.Join(project, ".ralph", ".returned-copy")
		b := box(t, p.name, project)
		c, err := b.Wrap(ptyexec.Command{Args: []string{"/bin/bash", "-c", "echo '- [x] two' > .ralph/new && mv .ralph/new .ralph/plan.md"}, Dir: b.Dir,
			Env: append(os.Environ(), "HOME="+home, "TMPDIR="+project)})
		if err != nil {
			t.Fatal(err)
		}
		c.Cover.Stages[0].To = to
		if exit, err := ptyexec.Run(t.Context(), c, func([]byte) bool { return false }); err != nil || exit.Code != 0 {
			t.Errorf("%+v, %v", exit, err)
		}
		b.Open = nil
		if ok, out := sh(t, b, home, "echo x > .ralph/plan.md || mv main.go .ralph/plan.md"); ok {
			t.Errorf("a check writes the plan: %s", out)
		}
		for path, want := range map[string]string{plan: "- [ ] one\n", to: "- [x] two\n"} {
			if text, err := os.ReadFile(path); string(text) != want {
				t.Errorf("%s: %q, %v", path, text, err)
			}
		}
	})
}
