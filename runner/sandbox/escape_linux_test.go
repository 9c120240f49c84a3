package sandbox

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ralph/ptyexec"
)

func TestMain(m *testing.M) {
	ptyexec.Init()
	os.Exit(m.Run())
}

// home makes a home folder with a project, secrets and what two agents keep.
func home(t *testing.T) (home, project string) {
	t.Helper()
	home = t.TempDir()
	project = filepath.Join(home, "src", "project")
	files := map[string]string{
		".ssh/id_ed25519": "secret", ".aws/credentials": "secret", ".netrc": "secret", ".bash_history": "secret", ".bashrc": "text",
		".config/gh/hosts.yml": "secret", ".config/other/settings": "text", ".ours/login": "login", ".theirs/login": "secret",
		"src/other/main.go": "text", "src/project/main.go": "text", "src/project/.ralph/status.json": "{}",
		"src/project/.ralph/plan.md": "- [ ] one\n", "src/project/.git/hooks/pre-commit": "#!/bin/sh\n", "src/project/.git/HEAD": "ref: refs/heads/main\n",
	}
	for name, text := range files {
		path := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return home, project
}

func box(mode, home, project string, net ...string) Box {
	at := func(names ...string) (paths []string) {
		for _, name := range names {
			paths = append(paths, filepath.Join(project, name))
		}
		return paths
	}
	return Box{Settings{Sandbox: mode, SandboxNet: net}, Place{
		Dir: project, Locked: at(".ralph", ".git/hooks", ".not-there"), Open: at(".ralph/plan.md"),
		HomeWrite: []string{".ours/", ".new/"}, HomeHidden: []string{".ours/", ".theirs/"},
	}}
}

// sh runs a script in the box and returns whether it succeeded, and its output.
func sh(t *testing.T, b Box, home, script string) (bool, string) {
	t.Helper()
	env := append(os.Environ(), "HOME="+home, "TMPDIR="+filepath.Join(home, "src", "project"))
	c, err := b.Wrap(ptyexec.Command{Args: []string{"/bin/bash", "-c", script}, Dir: b.Dir, Env: env})
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	exit, err := ptyexec.Run(ctx, c, func(p []byte) bool { out.Write(p); return false })
	if err != nil {
		t.Fatal(err)
	}
	return exit.Code == 0, out.String()
}

// each runs a test for every sandbox; one that does not work here is skipped by name.
func each(t *testing.T, f func(t *testing.T, p profile)) {
	for _, p := range profiles() {
		t.Run(p.name, func(t *testing.T) {
			if err := p.works(); err != nil {
				t.Skip(err)
			}
			f(t, p)
		})
	}
}

func TestEscape_filesOfTheUser(t *testing.T) {
	each(t, func(t *testing.T, p profile) {
		home, project := home(t)
		for _, test := range []struct {
			script string
			want   bool
		}{
			{"cat ~/.ssh/id_ed25519", false},
			{"cat ~/.aws/credentials", false},
			{"cat ~/.netrc", false},
			{"cat ~/.bash_history", false},
			{"cat ~/.config/gh/hosts.yml", false},
			{"cat ~/.theirs/login", false},
			{"ln -s ~/.ssh link && cat link/id_ed25519", false},
			{"ln ~/.ssh/id_ed25519 hard && cat hard", false},
			{"cp -r ~/.ssh . && cat .ssh/id_ed25519", false},
			{"echo evil >> ~/.bashrc", false},
			{"echo evil > ~/.profile", false},
			{"echo evil > ~/src/other/main.go", false},
			{"mv ~/src/other ~/src/gone", false},
			{"echo evil > /etc/ralph-escape", false},
			{"touch /usr/local/bin/ralph-escape", false},
			{"echo evil > ~/.ours/login && cat ~/.ours/login", true},
			{"echo new > ~/.new/file", true},
			{"cat ~/.config/other/settings && cat ~/src/other/main.go", true},
			{"echo x > new.go && mkdir -p a/b && mv new.go a/b && rm -r a && cat main.go", true},
			{"echo x > .git/index.lock && rm .git/index.lock", true},
			{"echo '- [x] one' > .ralph/plan.md", true},
			{"echo '- [x] one' > plan.new && mv plan.new .ralph/plan.md", true},
			{"test -t 1 && echo x > /dev/null && head -c 1 /dev/urandom > /dev/null", true},
			{"kill -0 $PPID || true; sleep 60 & kill $!", true},
		} {
			ok, out := sh(t, box(p.name, home, project), home, test.script)
			if bad := strings.Contains(out, "secret"); bad || ok != test.want {
				// A secret that reads as empty is as good as one that cannot be read.
				if !bad && !test.want && strings.TrimSpace(out) == "" && !strings.Contains(test.script, "evil") && !strings.Contains(test.script, "touch") {
					continue
				}
				t.Errorf("%s: success %v, want %v\n%s", test.script, ok, test.want, out)
			}
		}
		for name, want := range map[string]string{".bashrc": "text", "src/other/main.go": "text", ".ssh/id_ed25519": "secret"} {
			if b, err := os.ReadFile(filepath.Join(home, name)); string(b) != want {
				t.Errorf("%s is %q, %v", name, b, err)
			}
		}
		for _, path := range []string{filepath.Join(home, ".profile"), "/etc/ralph-escape", "/usr/local/bin/ralph-escape"} {
			if _, err := os.Lstat(path); err == nil {
				t.Errorf("%s was made", path)
				_ = os.Remove(path)
			}
		}
	})
}

func TestEscape_locked(t *testing.T) {
	each(t, func(t *testing.T, p profile) {
		if !p.locks {
			return // stated in docs/sandbox.md
		}
		home, project := home(t)
		for _, script := range []string{
			"echo x > .ralph/status.json", "mv .ralph/plan.md .ralph/status.json", "rm .ralph/status.json", "rm -r .ralph", "mv .ralph elsewhere",
			"echo x > .git/hooks/pre-commit", "echo x > .git/hooks/post-commit", "chmod +x .git/hooks/pre-commit",
		} {
			if ok, out := sh(t, box(p.name, home, project), home, script); ok {
				t.Errorf("%s succeeded: %s", script, out)
			}
		}
	})
}

func TestEscape_processes(t *testing.T) {
	each(t, func(t *testing.T, p profile) {
		home, project := home(t)
		victim := exec.Command("sleep", "600")
		victim.Env = []string{"KEY=secret"}
		if err := victim.Start(); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = victim.Process.Kill(); _ = victim.Wait() }()
		pid := victim.Process.Pid
		for _, script := range []string{
			fmt.Sprintf("cat /proc/%d/environ | tr '\\0' '\\n'; false", pid),
			fmt.Sprintf("kill -0 %d", pid),
			fmt.Sprintf("kill -9 %d", pid),
			fmt.Sprintf("cat /proc/%d/mem; false", pid),
			fmt.Sprintf("echo x > /proc/%d/root%s/.bashrc", pid, home),
		} {
			ok, out := sh(t, box(p.name, home, project), home, script)
			if ok || strings.Contains(out, "secret") {
				t.Errorf("%s: success %v\n%s", script, ok, out)
			}
		}
		if err := victim.Process.Signal(os.Signal(nil)); err == nil && victim.ProcessState != nil {
			t.Error("the process outside was ended")
		}
	})
}

func TestEscape_network(t *testing.T) {
	each(t, func(t *testing.T, p profile) {
		home, project := home(t)
		listener, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer listener.Close()
		abstract := fmt.Sprintf("@ralph-escape-%d", os.Getpid())
		socket, err := net.Listen("unix", abstract)
		if err != nil {
			t.Fatal(err)
		}
		defer socket.Close()
		port := listener.Addr().(*net.TCPAddr).Port
		connect := fmt.Sprintf("exec 3<>/dev/tcp/127.0.0.1/%d", port)
		if ok, out := sh(t, box(p.name, home, project), home, connect); !ok {
			t.Errorf("the whole network: %s", out)
		}
		if ok, out := sh(t, box(p.name, home, project, NetNone), home, connect); ok {
			t.Errorf("no network, but it connects: %s", out)
		}
		reach := fmt.Sprintf("node -e \"require('net').connect({path:'\\0%s'}).on('connect',()=>process.exit(0)).on('error',()=>process.exit(1))\"", abstract[1:])
		if _, err := exec.LookPath("node"); err == nil {
			if ok, out := sh(t, box(p.name, home, project, NetNone), home, reach); ok {
				t.Errorf("an abstract socket outside is reached: %s", out)
			}
		}
	})
}

func TestEscape_nothingIsLeft(t *testing.T) {
	each(t, func(t *testing.T, p profile) {
		home, project := home(t)
		mark := fmt.Sprintf("6%d", os.Getpid())
		sh(t, box(p.name, home, project), home, "setsid sleep "+mark+" & setsid sleep "+mark+" & true")
		if out, _ := exec.Command("pgrep", "-f", "^sleep "+mark).Output(); len(out) > 0 {
			t.Errorf("left: %s", out)
		}
	})
}
