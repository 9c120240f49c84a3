package sandbox

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"ralph/internal/world"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"ralph/ptyexec"
	"ralph/runner/agent"
)

func TestMain(m *testing.M) {
	ptyexec.Init()
	os.Exit(world.Main(m))
}

// home makes a home folder with a project, secrets and what two agents keep.
func home(t *testing.T) (home, project string) {
	t.Helper()
	home = t.TempDir()
	project = filepath.Join(home, "src", "project")
	files := map[string]string{
		".ssh/id_ed25519": "secret", ".aws/credentials": "secret", ".netrc": "secret", ".local/state/ralph/hub/token": "secret", ".local/state/ralph/fleet/server.json": "secret", ".bash_history": "secret", ".bashrc": "text",
		".config/gh/hosts.yml": "secret", ".config/other/settings": "text", ".ours/login": "login", ".theirs/login": "secret",
		"src/other/main.go": "text", "src/project/main.go": "text", "src/project/.ralph/status.json": "{}",
		"src/project/.ralph/plan.md": "- [ ] one\n", "src/project/.git/hooks/pre-commit": "#!/bin/sh\n", "src/project/.git/HEAD": "ref: refs/heads/main\n",
		"src/project/.claude/settings.json": "{}", "src/project/.mcp.json": "{}",
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

func box(t *testing.T, mode, project string, net ...string) Box {
	t.Helper()
	s, err := Settings{Sandbox: mode, SandboxNet: net}.At(project, names())
	if err != nil {
		t.Fatal(err)
	}
	b := s.Box(project, filepath.Join(project, ".ralph/plan.md"))
	b.Agent = agent.Variables{State: []string{".ours/", ".new/", ".program/", ".ours.json"}, Copied: []string{".ours.json", ".ours/state.json"},
		Fixed: []string{".ours/settings.json", ".ours/commands/", ".new/config.toml", ".program/"}}
	return b
}

func names() []string {
	return []string{".claude/settings.json", ".claude/settings.local.json", ".claude/commands/", ".claude/agents/", ".claude/hooks/", ".mcp.json",
		".gemini/settings.json"}
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
			if (Settings{Sandbox: p.name}).InContainer() {
				long(t)
			}
			if p.name == "docker" && !answers(t) {
				return
			}
			if err := p.works(Settings{}); err != nil {
				t.Skip(err)
			}
			f(t, p)
		})
	}
}

// answers is true where a Docker daemon does. Elsewhere podman, which shares all code, goes
// through the same rows, and TestEscape_docker has docker's command line.
func answers(t *testing.T) bool {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), tryTimeout)
	defer cancel()
	out, err := exec.CommandContext(ctx, "docker", "version", "--format", "{{.Server.Version}}").CombinedOutput()
	if err != nil && os.Getenv("RALPH_REQUIRE") != "all" {
		t.Skipf("no Docker daemon answers: %s", firstLine(string(out), err))
	}
	return err == nil
}

// long leaves a test to make check: a container takes a second, and bwrap some hundred milliseconds.
func long(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("long: sandboxes")
	}
}

// Podman has docker's command line: it answers to its name where no Docker service runs.
func TestEscape_docker(t *testing.T) {
	long(t)
	if err := (Settings{Sandbox: "docker"}).profile().works(Settings{}); err != nil {
		podman, lacking := exec.LookPath("podman")
		if lacking != nil {
			t.Skip(err)
		}
		dir := t.TempDir()
		if err := os.Symlink(podman, filepath.Join(dir, "docker")); err != nil {
			t.Fatal(err)
		}
		t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
		if err := (Settings{Sandbox: "docker"}).profile().works(Settings{}); err != nil {
			t.Skip(err)
		}
	}
	home, project := home(t)
	for script, want := range map[string]bool{
		"cat ~/.ssh/id_ed25519": false, "echo x > .ralph/status.json": false, "echo x > new.go && test -t 1": true,
	} {
		if ok, out := sh(t, box(t, "docker", project), home, script); ok != want || strings.Contains(out, "secret") {
			t.Errorf("%s: success %v\n%s", script, ok, out)
		}
	}
}

func TestEscape_filesOfTheUser(t *testing.T) {
	long(t)
	each(t, func(t *testing.T, p profile) {
		home, project := home(t)
		inContainer := Settings{Sandbox: p.name}.InContainer()
		for _, test := range []struct {
			script string
			want   bool
		}{
			{"cat ~/.ssh/id_ed25519", false},
			{"cat ~/.aws/credentials", false}, {"cat ~/.netrc", false},
			{"cat ~/.local/state/ralph/hub/token", false}, {"cat ~/.local/state/ralph/fleet/server.json", false},
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
			{"cat ~/.config/other/settings", false}, {"cat ~/src/other/main.go", false}, {"ls ~/.config", false},
			{"echo x > new.go && mkdir -p a/b && mv new.go a/b && rm -r a && cat main.go", true},
			{"echo x > .git/index.lock && rm .git/index.lock", true},
			{"echo '- [x] one' > .ralph/plan.md", true},
			{"echo '- [x] one' > plan.new && mv plan.new .ralph/plan.md", true},
			{"test -t 1 && echo x > /dev/null && head -c 1 /dev/urandom > /dev/null", true},
			{"kill -0 $PPID || true; sleep 60 & kill $!", true},
		} {
			ok, out := sh(t, box(t, p.name, project), home, test.script)
			if bad := strings.Contains(out, "secret"); bad || ok != test.want {
				// A secret that reads as empty is as good as one that cannot be read.
				if !bad && !test.want && strings.TrimSpace(out) == "" && !strings.Contains(test.script, "evil") && !strings.Contains(test.script, "touch") {
					continue
				}
				if ok && inContainer && !bad {
					continue // written inside, and lost: below is what counts
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
	long(t)
	each(t, func(t *testing.T, p profile) {
		if !p.locks {
			return // stated in docs/sandbox.md
		}
		for _, script := range []string{
			"echo x > .ralph/status.json", "mv .ralph/plan.md .ralph/status.json", "rm .ralph/status.json", "rm -r .ralph",
			"mv .ralph elsewhere && mkdir .ralph && echo x > .ralph/status.json", "mv .claude elsewhere && mkdir .claude && echo x > .claude/settings.json",
			"mv .git elsewhere", "echo x > .git/hooks/pre-commit", "echo x > .git/hooks/post-commit", "chmod +x .git/hooks/pre-commit",
			"umount .git/hooks; echo x > .git/hooks/pre-commit", "mount -o remount,rw,bind .git/hooks && echo x > .git/hooks/pre-commit",
			"umount ~/.ssh && cat ~/.ssh/id_ed25519", "mount -o remount,rw,bind /; echo x > /etc/ralph-escape",
			"unshare -m sh -c 'umount .git/hooks' && echo x > .git/hooks/pre-commit", "echo x > .mcp.json",
		} {
			home, project := home(t)
			if ok, out := sh(t, box(t, p.name, project), home, script); ok && !strings.Contains(script, "/etc/ralph-escape") || strings.Contains(out, "secret") {
				t.Errorf("%s succeeded: %s", script, out)
			}
			for name, want := range map[string]string{".ralph/status.json": "{}", ".git/hooks/pre-commit": "#!/bin/sh\n", ".claude/settings.json": "{}", ".mcp.json": "{}"} {
				if b, err := os.ReadFile(filepath.Join(project, name)); string(b) != want {
					t.Errorf("after %s, %s is %q, %v", script, name, b, err)
				}
			}
		}
		if _, err := os.Lstat("/etc/ralph-escape"); err == nil {
			t.Error("written outside")
			_ = os.Remove("/etc/ralph-escape")
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
			ok, out := sh(t, box(t, p.name, project), home, script)
			if ok || strings.Contains(out, "secret") {
				t.Errorf("%s: success %v\n%s", script, ok, out)
			}
		}
		var status unix.WaitStatus
		if ended, err := unix.Wait4(pid, &status, unix.WNOHANG, nil); ended != 0 || err != nil {
			t.Errorf("the process outside was ended: %v, %v", status, err)
		}
	})
}

func TestEscape_network(t *testing.T) {
	each(t, func(t *testing.T, p profile) {
		home, project := home(t)
		host := "127.0.0.1"
		if p.name == "docker" { // its network is another one
			bridge, err := net.InterfaceByName("docker0")
			if err != nil {
				t.Skip(err)
			}
			addrs, err := bridge.Addrs()
			if err != nil || len(addrs) == 0 {
				t.Skip("docker0 has no address:", err)
			}
			host = addrs[0].(*net.IPNet).IP.String()
		}
		listener, err := net.Listen("tcp4", net.JoinHostPort(host, "0"))
		if err != nil {
			t.Fatal(err)
		}
		defer listener.Close()
		connect := fmt.Sprintf("exec 3<>/dev/tcp/%s/%d", host, listener.Addr().(*net.TCPAddr).Port)
		if ok, out := sh(t, box(t, p.name, project), home, connect); !ok {
			t.Errorf("the whole network: %s", out)
		}
		if ok, out := sh(t, box(t, p.name, project, netNone), home, connect); ok {
			t.Errorf("no network, but it connects: %s", out)
		}
	})
}

// What listens on a unix socket outside, such as Docker, D-Bus and tmux, obeys whoever
// can connect. Landlock cannot prevent it: stated in docs/sandbox.md.
func TestEscape_socketsOutside(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip(err)
	}
	each(t, func(t *testing.T, p profile) {
		if p.name == "landlock" {
			return
		}
		home, project := home(t)
		for _, dir := range []string{"/run", os.TempDir()} {
			path := filepath.Join(dir, fmt.Sprintf("ralph-escape-%d.sock", os.Getpid()))
			socket, err := net.Listen("unix", path)
			if err != nil {
				t.Fatal(err)
			}
			defer socket.Close()
			script := fmt.Sprintf("%s -e \"require('net').connect('%s').on('connect',()=>process.exit(0)).on('error',()=>process.exit(1))\"", filepath.Base(node), path)
			if ok, out := sh(t, box(t, p.name, project), home, script); ok {
				t.Errorf("%s is reached: %s", path, out)
			}
		}
	})
}

func TestEscape_withoutNetwork_noPacketLeaves(t *testing.T) {
	each(t, func(t *testing.T, p profile) {
		home, project := home(t)
		udp, err := net.ListenPacket("udp4", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer udp.Close()
		port := udp.LocalAddr().(*net.UDPAddr).Port
		sh(t, box(t, p.name, project, netNone), home, fmt.Sprintf("echo secret > /dev/udp/127.0.0.1/%d; getent hosts localhost.example.com", port))
		if err := udp.SetReadDeadline(time.Now().Add(100 * time.Millisecond)); err != nil {
			t.Fatal(err)
		}
		n, _, err := udp.ReadFrom(make([]byte, 16))
		if control := p.name == "landlock"; (err == nil) != control { // it restricts TCP only
			t.Errorf("a packet of %d bytes arrived: %v", n, err)
		}
	})
}

func TestEscape_tracing(t *testing.T) {
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip(err)
	}
	each(t, func(t *testing.T, p profile) {
		home, project := home(t)
		victim := exec.Command("sleep", "600")
		if err := victim.Start(); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = victim.Process.Kill(); _ = victim.Wait() }()
		script := fmt.Sprintf("timeout 5 %s -o /dev/null -p %d", strace, victim.Process.Pid)
		if ok, out := sh(t, box(t, p.name, project), home, script+"; test $? = 124 -o $? = 0"); ok || strings.Contains(out, "attached") {
			t.Errorf("the process outside is traced: %s", out)
		}
	})
}

func TestEscape_processesAndMemoryOfAContainer(t *testing.T) {
	each(t, func(t *testing.T, p profile) {
		if !(Settings{Sandbox: p.name}).InContainer() {
			return // ptyexec/confine has the test of what stops the others
		}
		home, project := home(t)
		_, out := sh(t, box(t, p.name, project), home, "cd /sys/fs/cgroup; cat pids.max memory.max pids/pids.max memory/memory.limit_in_bytes 2>/dev/null")
		memory := fmt.Sprint(containerMemory() / 4096 * 4096)
		if got := strings.Fields(out); len(got) != 2 || got[0] != fmt.Sprint(maxProcesses) || got[1] != memory {
			t.Errorf("limits %q, want %d and %s", got, maxProcesses, memory)
		}
	})
}

func TestEscape_nothingIsLeft(t *testing.T) {
	each(t, func(t *testing.T, p profile) {
		home, project := home(t)
		mark := fmt.Sprintf("6%d", os.Getpid())
		sh(t, box(t, p.name, project), home, "setsid sleep "+mark+" & setsid sleep "+mark+" & true")
		if out, _ := exec.Command("pgrep", "-f", "^sleep "+mark).Output(); len(out) > 0 {
			t.Errorf("left: %s", out)
		}
	})
}
