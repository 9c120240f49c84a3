package sandbox

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"ralph/runner/sandbox/gitkeep"
)

// git runs git in a folder, outside of any sandbox.
func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=x", "-c", "user.email=x@example.com"}, args...)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// repository makes a real repository of a folder.
func repository(t *testing.T, dir string) {
	t.Helper()
	if err := os.RemoveAll(filepath.Join(dir, ".git")); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	git(t, dir, "init", "-q")
	git(t, dir, "commit", "-q", "--allow-empty", "-m", "first")
}

// put writes a file outside of any sandbox.
func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// A worktree shares the hooks of its repository, and a repository may have none yet.
func TestEscape_hooksOfTheRepository(t *testing.T) {
	long(t)
	each(t, func(t *testing.T, p profile) {
		if !p.locks {
			return // stated in docs/sandbox.md
		}
		home, project := home(t)
		main, tree := filepath.Join(home, "src", "repository"), filepath.Join(project, "sub")
		repository(t, main)
		git(t, main, "worktree", "add", "-q", tree)
		git(t, main, "worktree", "add", "-q", filepath.Join(home, "src", "third"))
		common := filepath.Join(main, ".git")
		put(t, filepath.Join(common, "modules", "lib", "a", "HEAD"), "ref: x\n")
		put(t, filepath.Join(common, "modules", "lib", "a", "config"), "[core]\n")
		if err := os.RemoveAll(filepath.Join(common, "hooks")); err != nil {
			t.Fatal(err)
		}
		own := common + "/worktrees/sub"
		b := box(t, p.name, tree)
		for script, want := range map[string]bool{
			"echo x > " + common + "/hooks/pre-commit": false, "echo x >> " + common + "/config": false,
			"echo x >> " + common + "/modules/lib/a/config": false, "echo x > " + common + "/modules/lib/a/hooks/pre-push": false,
			"mv " + common + "/modules " + common + "/old": false, "mv " + common + "/modules/lib/a " + common + "/b": false,
			"echo x > " + common + "/modules/lib/a/commondir": false, "echo x > " + common + "/commondir": false,
			"echo x > " + own + "/commondir": false, "echo x > " + own + "/gitdir": false, "echo x > " + own + "/config.worktree": false,
			"mv " + own + " " + own + "2": false, "echo x > " + common + "/worktrees/third/commondir": false,
			"echo gitdir: / > .git": false, "rm -f .git": false, "echo x > new && mv new .git": false,
			"echo x > " + common + "/modules/lib/a/index": true, "echo x > " + own + "/keep": true,
			"git -c user.name=x -c user.email=x commit -q --allow-empty -m two && git status": true,
		} {
			if ok, out := sh(t, b, home, script); ok != want {
				t.Errorf("%s: success %v\n%s", script, ok, out)
			}
		}
		if status := git(t, tree, "status", "--porcelain", ".git"); status != "" {
			t.Errorf("status: %s", status)
		}
		for _, name := range []string{common + "/commondir", common + "/config.worktree", own + "/config.worktree"} {
			if _, err := os.Lstat(name); err == nil {
				t.Errorf("%s is left", name)
			}
		}
	})
}

// What a call leaves as .git or commondir decides nothing about the next one.
func TestEscape_gitFilesOfTheAgent_openNothing(t *testing.T) {
	long(t)
	each(t, func(t *testing.T, p profile) {
		for name, attack := range map[string]string{
			"a .git file":   "echo gitdir: $HOME > .git",
			"in its place":  "rm -rf .git; mv .git old; echo gitdir: $HOME > .git",
			"of a worktree": `g=$(sed "s/gitdir: //" .git); mkdir -p "$g/ /tmp"; ln -s "$HOME" "$g/ /tmp/x"; echo " /tmp/x" > $g/commondir`,
		} {
			home, project := home(t)
			repository(t, project)
			switch name {
			case "a .git file":
				if err := os.RemoveAll(filepath.Join(project, ".git")); err != nil {
					t.Fatal(err)
				}
			case "of a worktree":
				git(t, project, "worktree", "add", "-q", filepath.Join(home, "src", "tree"))
				project = filepath.Join(home, "src", "tree")
			}
			b := box(t, p.name, project)
			sh(t, b, home, attack)
			if ok, out := sh(t, b, home, "echo evil >> ~/.bashrc; cat ~/.ssh/id_ed25519; echo works"); !ok || strings.Contains(out, "secret") || !strings.Contains(out, "works") {
				t.Errorf("%s: %v %s", name, ok, out)
			}
			if text, err := os.ReadFile(filepath.Join(home, ".bashrc")); string(text) != "text" {
				t.Errorf("%s: .bashrc is %q, %v", name, text, err)
			}
		}
	})
}

// A program outside, such as the user's shell, may ask git for the status at any time.
func TestEscape_commondir_startsNoProgramOutside(t *testing.T) {
	each(t, func(t *testing.T, p profile) {
		home, project := home(t)
		repository(t, project)
		attack := `cp -r .git x; printf '[core]\n\tfsmonitor = "touch ` + project + `/mark; false"\n' >> x/config; echo ../x > .git/commondir`
		sh(t, box(t, p.name, project), home, attack)
		_ = exec.Command("git", "-C", project, "status").Run()
		_, err := os.Lstat(filepath.Join(project, "mark"))
		if err == nil {
			t.Error("the program of the agent was started")
		}
		if _, err := os.Lstat(filepath.Join(project, ".git", "commondir")); err == nil {
			t.Error("commondir is left")
		}
	})
}

// While a call runs, git works outside of it and inside.
func TestEscape_gitMeanwhile(t *testing.T) {
	long(t)
	each(t, func(t *testing.T, p profile) {
		_, project := home(t)
		repository(t, project)
		git(t, project, "-c", "protocol.file.allow=always", "submodule", "add", "-q", project, "lib")
		git(t, project, "add", "-A")
		git(t, project, "commit", "-q", "-m", "files")
		b := box(t, p.name, project)
		b.Open = []string{filepath.Join(project, "main.go")}
		meanwhile(t, b, "git status --porcelain && git worktree list && git -C lib status --porcelain && git -c user.name=x -c user.email=x commit -q --allow-empty -m more", func() {
			if _, err := os.Lstat(filepath.Join(project, ".git", "commondir")); (err == nil) != p.locks {
				t.Errorf("covered: %v", err)
			}
			for _, args := range [][]string{{"status", "--porcelain"}, {"add", "-A", "--dry-run"}, {"-C", "lib", "status", "--porcelain"}} {
				if out := git(t, project, args...); out != "" {
					t.Errorf("git %v: %s", args, out)
				}
			}
			git(t, project, "worktree", "list")
			git(t, project, "commit", "-q", "--allow-empty", "-m", "outside")
		})
	})
}

// A person's git config during a call works, and the call sees it. From then on the call can write the file, too, so at
// the end only the user's name stays, and the rest is kept: stated in docs/sandbox.md.
func TestEscape_gitConfigMeanwhile(t *testing.T) {
	long(t)
	each(t, func(t *testing.T, p profile) {
		home, project := home(t)
		repository(t, project)
		git(t, project, "config", "mine.name", "first")
		b := box(t, p.name, project)
		if ok, out := sh(t, b, home, "git config mine.before x && test -n \"$(git config mine.before)\""); ok == p.locks {
			t.Errorf("the call writes it: %v %s", ok, out)
		}
		var back gitkeep.Replaced
		b.PutBack = func(r gitkeep.Replaced) { back = r }
		meanwhile(t, b, `test "$(git config mine.name)" = changed && git config mine.after x`, func() {
			git(t, project, "config", "mine.name", "changed")
		})
		if all := git(t, project, "config", "--local", "--list"); !strings.Contains(all, "mine.name=first") || strings.Contains(all, "mine.after") {
			t.Errorf("the settings are not as before: %s", all)
		}
		if kept := planted(t, back); !slices.Equal(back.Files, []string{".git/config"}) || !strings.Contains(kept, "name = changed") {
			t.Errorf("the change of the person is lost: %v; %q", back, kept)
		}
		back = gitkeep.Replaced{}
		meanwhile(t, b, `test "$(git config --local user.name)" = changed`, func() {
			git(t, project, "config", "user.name", "changed")
		})
		if name := strings.TrimSpace(git(t, project, "config", "--local", "user.name")); name != "changed" || len(back.Files) > 0 {
			t.Errorf("the user's name is %q; %v", name, back)
		}
		git(t, project, "config", "mine.name", "again")
		if ok, out := sh(t, b, home, "git config mine.later x"); ok == p.locks {
			t.Errorf("the next call writes it: %v %s", ok, out)
		}
		if all := git(t, project, "config", "--local", "--list"); !strings.Contains(all, "mine.name=again") || strings.Contains(all, "mine.later") {
			t.Errorf("the settings are not as a person left them: %s", all)
		}
	})
}

// planted returns all that was kept.
func planted(t *testing.T, r gitkeep.Replaced) (all string) {
	paths, _ := filepath.Glob(filepath.Join(r.Kept, "planted.*"))
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all += string(text)
	}
	return all
}

// meanwhile runs a script in the box, and f before that, while the box is there.
func meanwhile(t *testing.T, b Box, script string, f func()) {
	t.Helper()
	home := filepath.Dir(filepath.Dir(b.Dir))
	dir := filepath.Join(b.Dir, ".git", "test-pipes")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	pipe := func(name string) *os.File {
		path := filepath.Join(dir, name)
		if err := unix.Mkfifo(path, 0o600); err != nil {
			t.Fatal(err)
		}
		file, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		return file
	}
	begun, proceed := pipe("begun"), pipe("proceed")
	defer begun.Close()
	defer proceed.Close()
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = begun.SetReadDeadline(time.Now().Add(time.Minute))
		if _, err := begun.Read(make([]byte, 1)); err != nil {
			t.Errorf("the script does not begin: %v", err)
			return
		}
		f()
		_, _ = proceed.WriteString("go\n")
	}()
	ok, out := sh(t, b, home, "exec 2>&1; echo > "+dir+"/begun; read < "+dir+"/proceed; "+script)
	<-done
	if !ok {
		t.Errorf("%s: %s", script, out)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
}

func TestTargets_hooks_areLockedWhereverTheRepositoryIs(t *testing.T) {
	common := filepath.Join(t.TempDir(), "worktrees", ".git")
	for _, dir := range []string{"modules/worktrees/lib", "worktrees/tree"} {
		put(t, filepath.Join(common, dir, "HEAD"), "ref: x\n")
	}
	all, err := Project{Repository: gitkeep.Repository{Git: []string{common, common}}}.gitTargets()
	if err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]bool{"": true, "modules/worktrees/lib": true, "worktrees/tree": false} {
		hooks := filepath.Join(common, dir, "hooks") + "/"
		if got := slices.ContainsFunc(all, func(g target) bool { return g.path == hooks }); got != want {
			t.Errorf("%s is locked: %v", hooks, got)
		}
	}
}
