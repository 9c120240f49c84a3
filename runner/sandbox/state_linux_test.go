package sandbox

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/creack/pty"
)

// What an agent starts outside, too, it cannot change inside. The rest of its state it can.
func TestEscape_programsOfTheAgent(t *testing.T) {
	long(t)
	each(t, func(t *testing.T, p profile) {
		for script, want := range map[string]bool{
			"echo x > ~/.ours/settings.json": !p.locks, "echo x > ~/.ours/commands/x.md": !p.locks, "rm ~/.ours/settings.json": !p.locks,
			"echo x > new && mv new ~/.new/config.toml": !p.locks, "echo x > ~/.program/bin": false, "rm -r ~/.program/bin": false,
			"cat ~/.program/bin && cat ~/.ours/settings.json && echo x > ~/.ours/session && echo x > ~/.new/session": true,
		} {
			home, project := home(t)
			put(t, filepath.Join(home, ".program", "bin"), "text")
			b := box(t, p.name, project)
			if !p.locks {
				put(t, filepath.Join(home, ".ours", "settings.json"), "{}")
				put(t, filepath.Join(home, ".ours", "commands", "a.md"), "")
			}
			if ok, out := sh(t, b, home, script); ok != want {
				t.Errorf("%s: success %v\n%s", script, ok, out)
			}
			if text, err := os.ReadFile(filepath.Join(home, ".program", "bin")); string(text) != "text" {
				t.Errorf("after %s: %q, %v", script, text, err)
			}
		}
	})
}

// The sandbox can lock only what a link points to, so ralph refuses to start.
func TestAt_lockedPathIsALink_isRefused(t *testing.T) {
	for _, name := range []string{".mcp.json", ".claude", ".ralph/config.yaml", ".git/hooks", "main.go"} {
		_, project := home(t)
		path := filepath.Join(project, name)
		if err := os.RemoveAll(path); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(t.TempDir(), path); err != nil {
			t.Fatal(err)
		}
		_, err := Settings{Sandbox: "bwrap"}.At(project, names())
		// In .ralph, all of the folder is locked, and the link with it.
		if refused := err != nil && strings.Contains(err.Error(), path); refused != (name != "main.go" && name != ".ralph/config.yaml") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Beside a plan in .ralph, no other file of ralph changes or comes into being. The plan may
// be replaced, as editors do, but not removed, and not by a link to a secret.
func TestEscape_besideThePlan(t *testing.T) {
	long(t)
	each(t, func(t *testing.T, p profile) {
		if !p.locks {
			return // stated in docs/sandbox.md
		}
		const other, ticked = "- [ ] one\n", "- [x] one\n"
		for script, plan := range map[string]string{
			"echo x > .ralph/config.yaml": other, "echo x > new && mv new .ralph/config.yaml": other, "ln -s plan.md .ralph/config.yaml": other,
			"mkdir -p .ralph/control && echo > .ralph/control/stop": other, "echo x > .ralph/status.json": other, "rm -f .ralph/plan.md": other,
			"mv .ralph old; mkdir .ralph && echo x > .ralph/config.yaml": other, ": > .ralph/plan.md": other,
			"ln -sf ~/.theirs/login .ralph/plan.md": other, "ln -sf ../../../.ssh/id_ed25519 .ralph/plan.md": other, "rm .ralph/plan.md; mkfifo .ralph/plan.md": other,
			"echo '- [x] one' > .ralph/plan.md": ticked, "echo '- [x] one' > .ralph/new && mv .ralph/new .ralph/plan.md": ticked,
			"sed -i 's/ /x/2' .ralph/plan.md": "- [x] one\n", "cat .ralph/plan.md .ralph/status.json": other,
		} {
			home, project := home(t)
			_, out := sh(t, box(t, p.name, project), home, script)
			want := "plan.md=" + strings.TrimSpace(plan) + `\n status.json={}`
			if got := listed(t, filepath.Join(project, ".ralph")); got != want || strings.Contains(script, "cat") != strings.Contains(out, "- [ ] one") {
				t.Errorf("%s: left: %s\n%s", script, got, out)
			}
		}
	})
}

// The notes of agents may be written, with and without a plan beside them, and nothing else may.
func TestEscape_notesOfTheAgent(t *testing.T) {
	long(t)
	each(t, func(t *testing.T, p profile) {
		for script, want := range map[string]string{
			"echo b > .ralph/AGENT.md && echo c > .ralph/progress.txt":    `AGENT.md=b\n progress.txt=c\n`,
			"echo b > .ralph/new && mv .ralph/new .ralph/AGENT.md":        `AGENT.md=b\n`,
			"rm -f .ralph/AGENT.md; ln -s ../main.go .ralph/progress.txt": `AGENT.md=a\n`,
			"echo b > .ralph/config.yaml; echo b > .ralph/AGENT.txt":      `AGENT.md=a\n`,
		} {
			for _, withPlan := range []bool{true, false} {
				home, project := home(t)
				put(t, filepath.Join(project, ".ralph", "AGENT.md"), "a\n")
				b := box(t, p.name, project)
				b.Notes = []string{"AGENT.md", "progress.txt"}
				if !withPlan {
					b.Open = nil
				}
				_, out := sh(t, b, home, script)
				got := strings.ReplaceAll(listed(t, filepath.Join(project, ".ralph")), ` plan.md=- [ ] one\n`, "")
				got = strings.ReplaceAll(got, " status.json={}", "")
				if got != want && p.locks {
					t.Errorf("%s: left: %s\n%s", script, got, out)
				}
			}
		}
	})
}

// listed are the files of a folder with their texts.
func listed(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, e.Name()+"="+strings.ReplaceAll(string(text), "\n", `\n`))
	}
	return strings.Join(all, " ")
}

// ralph replaces its files while a call runs. A mount on one of them would be gone then.
func TestEscape_stateIsReplacedMeanwhile(t *testing.T) {
	each(t, func(t *testing.T, p profile) {
		_, project := home(t)
		dir := filepath.Join(project, ".ralph")
		script := "f=.ralph/status.json; ! echo evil > $f && ! mv main.go $f && ! rm $f && echo evil > .ralph/new.json && echo evil > .ralph/plan.md"
		if !p.locks {
			script = "echo evil > .ralph/status.json" // the control: the attack works
		}
		meanwhile(t, box(t, p.name, project), script, func() {
			for _, name := range []string{"status.json", "new.json", "plan.md"} {
				put(t, filepath.Join(dir, "temporary"), name)
				if err := os.Rename(filepath.Join(dir, "temporary"), filepath.Join(dir, name)); err != nil {
					t.Error(err)
				}
			}
		})
		want := "new.json=new.json plan.md=plan.md status.json=status.json"
		if got := listed(t, dir); (got == want) != p.locks {
			t.Errorf("left: %s", got)
		}
	})
}

// What an agent writes itself although it starts programs, such as ~/.claude.json, it writes
// into a copy. The user may replace the file meanwhile.
func TestEscape_copies(t *testing.T) {
	each(t, func(t *testing.T, p profile) {
		if !p.locks {
			return // stated in docs/sandbox.md
		}
		t.Setenv("TMPDIR", t.TempDir()) // tests of other packages have copies, too
		home, project := home(t)
		for _, name := range []string{".ours.json", ".ours/state.json"} {
			put(t, filepath.Join(home, name), "text")
		}
		b := box(t, p.name, project)
		if ok, out := sh(t, b, home, "grep text ~/.ours.json ~/.ours/state.json && echo evil > ~/.ours.json && echo evil > ~/.ours/state.json && cat ~/.ours.json"); !ok || !strings.Contains(out, "evil") {
			t.Errorf("%v %s", ok, out)
		}
		sh(t, b, home, "echo evil > new; mv new ~/.ours/state.json; rm ~/.ours/state.json; mv ~/.ours ~/.theirs")
		for _, name := range []string{".ours.json", ".ours/state.json"} {
			if text, err := os.ReadFile(filepath.Join(home, name)); string(text) != "text" {
				t.Errorf("%s is %q, %v", name, text, err)
			}
		}
		if left, _ := filepath.Glob(filepath.Join(os.TempDir(), "ralph-??????????????????????????")); len(left) > 0 {
			t.Errorf("left: %q", left)
		}
	})
}

// A short call, such as that of a check, leaves a longer one beside it covered.
func TestEscape_callsSideBySide(t *testing.T) {
	each(t, func(t *testing.T, p profile) {
		if !p.locks {
			return
		}
		home, project := home(t)
		for _, name := range []string{".mcp.json", ".claude/settings.json", ".claude"} {
			if err := os.Remove(filepath.Join(project, name)); err != nil {
				t.Fatal(err)
			}
		}
		b := box(t, p.name, project)
		meanwhile(t, b, "! echo x > .mcp.json && ! mkdir -p .claude/commands && cat .mcp.json", func() {
			if ok, out := sh(t, box(t, p.name, project), home, "true"); !ok {
				t.Error(out)
			}
			if _, err := os.Lstat(filepath.Join(project, ".mcp.json")); err != nil {
				t.Errorf("the running call is uncovered: %v", err)
			}
		})
		for _, name := range []string{".mcp.json", ".claude"} {
			if _, err := os.Lstat(filepath.Join(project, name)); err == nil {
				t.Errorf("%s is left", name)
			}
		}
	})
}

func TestEscape_aCopyOfTheProject(t *testing.T) {
	each(t, func(t *testing.T, p profile) {
		home, project := home(t)
		repository(t, project)
		if err := os.Remove(filepath.Join(project, ".mcp.json")); err != nil {
			t.Fatal(err)
		}
		script := "cp -r . ../copy 2>/dev/null || cp -r . /tmp/copy$$ && git status && git add -A"
		if p.locks {
			script += " && test -f .mcp.json && ! echo x > .mcp.json"
		}
		if ok, out := sh(t, box(t, p.name, project), home, script); !ok && p.name != "landlock" {
			t.Error(out)
		}
		if staged := git(t, project, "ls-files", ".mcp.json", ".envrc"); staged != "" {
			t.Errorf("staged: %s", staged)
		}
	})
}

// Another terminal has what people type into it. Landlock cannot tell it from those that a
// program opens: stated in docs/sandbox.md. A container has terminals of its own, which may have the same names.
func TestEscape_terminals(t *testing.T) {
	long(t)
	each(t, func(t *testing.T, p profile) {
		home, project := home(t)
		master, slave, err := pty.Open()
		if err != nil {
			t.Fatal(err)
		}
		defer master.Close()
		defer slave.Close()
		for script, want := range map[string]bool{
			"echo x > " + slave.Name(): false, "timeout 1 head -c 1 < " + slave.Name() + "; test $? = 0 -o $? = 124": false,
			"echo x > /dev/null && test -t 1 && echo x > /dev/tty && { ! command -v script || script -qec true /dev/null; }": true,
			"test -c /dev/kmsg && echo x > /dev/kmsg": false,
		} {
			if ok, out := sh(t, box(t, p.name, project), home, script); ok != want && (p.name == "bwrap" || !strings.Contains(script, slave.Name())) {
				t.Errorf("%s: success %v\n%s", script, ok, out)
			}
		}
	})
}

// Engines keep sockets in the home folder, too.
func TestEscape_socketsInTheHomeFolder(t *testing.T) {
	long(t)
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip(err)
	}
	each(t, func(t *testing.T, p profile) {
		if p.name == "landlock" {
			return // stated in docs/sandbox.md
		}
		home, project := home(t)
		for dir, want := range map[string]bool{".docker/run": false, ".colima": false, "src/project": true} {
			path := filepath.Join(home, dir, "d.sock")
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if len(path) > 100 {
				t.Skip("the path of the temporary folder is too long for a socket")
			}
			socket, err := net.Listen("unix", path)
			if err != nil {
				t.Fatal(err)
			}
			defer socket.Close()
			script := fmt.Sprintf("%s -e \"require('net').connect('%s').on('connect',()=>process.exit(0)).on('error',()=>process.exit(1))\"", filepath.Base(node), path)
			if ok, out := sh(t, box(t, p.name, project), home, script); ok != want {
				t.Errorf("%s is reached: %v %s", path, ok, out)
			}
		}
	})
}
