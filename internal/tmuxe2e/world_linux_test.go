package tmuxe2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

var programs string // folder of ralph and the fake agents

func TestMain(m *testing.M) {
	if name := filepath.Base(os.Args[0]); name == "claude" || name == "codex" {
		fakeAgent()
		return
	}
	dir, err := os.MkdirTemp("", "ralph-tmux-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	programs = dir
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// build makes the programs under test, once.
var build = sync.OnceValue(func() error {
	if out, err := exec.Command("go", "build", "-o", programs+"/", "ralph/cmd/ralph", "ralph/cmd/ralph-status").CombinedOutput(); err != nil {
		return fmt.Errorf("build ralph: %w\n%s", err, out)
	}
	self, err := os.Executable()
	for _, name := range []string{"claude", "codex"} {
		if err == nil {
			err = os.Symlink(self, filepath.Join(programs, name))
		}
	}
	return err
})

// world is a home, a tmux of its own and the programs under test, closed off
// from the user's.
type world struct {
	t    *testing.T
	home string
	env  []string
	mark string // in the environment of every process that is started here
}

// patience is generous: other work may keep the machine busy.
const patience = 30 * time.Second

// newWorld has a tmux.conf with these lines for ralph's server. When the test
// ends, nothing that it started may be alive.
func newWorld(t *testing.T, conf string) *world {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		if os.Getenv("RALPH_REQUIRE") == "all" {
			t.Fatal(err)
		}
		t.Skip("tmux is not installed")
	}
	if err := build(); err != nil {
		t.Fatal(err)
	}
	home, err := os.MkdirTemp("", "tm") // a socket path is at most 107 bytes
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, home: home, mark: "RALPH_TMUX_TEST=" + filepath.Base(home)}
	w.env = []string{"HOME=" + home, "TMPDIR=" + home, "TMUX_TMPDIR=" + home, "PATH=" + programs + ":" + os.Getenv("PATH"), "SHELL=/bin/sh",
		"LANG=C.UTF-8", "TERM=xterm-256color", "GIT_CONFIG_NOSYSTEM=1", "PAGER=cat", w.mark}
	w.write(".tmux.conf", conf)
	w.write("outer.conf", "set -g status off\nset -g remain-on-exit on\nset -g remain-on-exit-format ''\n")
	t.Cleanup(w.close)
	return w
}

func (w *world) close() {
	if w.t.Failed() {
		w.t.Log(w.try("list-panes", "-a", "-F", "#{session_name} #{pane_id} dead #{pane_dead} status #{pane_dead_status} #{pane_start_command}"))
		for _, pane := range strings.Split(w.try("-L", "outer", "list-panes", "-a", "-F", "#{pane_id}"), "\n") {
			if !strings.HasPrefix(pane, "%") {
				continue
			}
			w.t.Logf("terminal %s shows at last:\n%s", pane, strings.TrimRight(w.try("-L", "outer", "capture-pane", "-p", "-S", "-50", "-t", pane), "\n"))
		}
	}
	w.try("kill-server")
	w.try("-L", "outer", "kill-server")
	var left []int
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if left = w.processes(); len(left) == 0 {
			break
		}
	}
	for _, pid := range left {
		line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		w.t.Errorf("process %d is left: %q", pid, line)
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	os.RemoveAll(w.home)
}

// processes are those that were started from here and live.
func (w *world) processes() (pids []int) {
	all, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, path := range all {
		env, err := os.ReadFile(path)
		if err == nil && strings.Contains("\x00"+string(env), "\x00"+w.mark+"\x00") {
			pid, _ := strconv.Atoi(strings.Split(path, "/")[2])
			pids = append(pids, pid)
		}
	}
	return pids
}

func (w *world) write(name, text string) {
	w.t.Helper()
	path := filepath.Join(w.home, name)
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		err = os.WriteFile(path, []byte(text), 0o644)
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// run starts a program to its end and returns what it printed and its exit code.
func (w *world) run(dir string, argv ...string) (string, int) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.WaitDelay = time.Second
	if !strings.Contains(argv[0], "/") {
		if path, err := exec.LookPath(filepath.Join(programs, argv[0])); err == nil {
			cmd.Path, cmd.Err = path, nil
		}
	}
	cmd.Dir, cmd.Env = dir, w.env
	out, err := cmd.CombinedOutput()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return string(out), exit.ExitCode()
	} else if err != nil {
		return err.Error(), -1
	}
	return string(out), 0
}

// try calls tmux, ralph's server where no -L is given.
func (w *world) try(args ...string) string {
	out, _ := w.run(w.home, append([]string{"tmux"}, args...)...)
	return out
}

func (w *world) tmux(args ...string) string {
	w.t.Helper()
	out, code := w.run(w.home, append([]string{"tmux"}, args...)...)
	if code != 0 {
		w.t.Fatalf("tmux %q: %d: %s", args, code, out)
	}
	return strings.TrimSuffix(out, "\n")
}

// reap has a tmux server look at its children: libutempter, which Debian's
// tmux uses, may have taken away the signal that tells it of an end.
func (w *world) reap(server ...string) {
	if pid, err := strconv.Atoi(strings.TrimSpace(w.try(append(server, "display-message", "-p", "#{pid}")...))); err == nil {
		_ = syscall.Kill(pid, syscall.SIGCHLD)
	}
}

// sessions of ralph's server, by name; none without a server.
func (w *world) sessions() []string {
	out, code := w.run(w.home, "tmux", "list-sessions", "-F", "#{session_name}")
	if code != 0 {
		return nil
	}
	return strings.Fields(out)
}

// until polls; said tells in a failure what there was instead.
func (w *world) until(what string, ok func() bool, said ...func() string) {
	w.t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if ok() {
			return
		}
	}
	text := ""
	for _, f := range said {
		text += "\n" + f()
	}
	w.t.Fatalf("no %s within %s%s", what, patience, text)
}

// project is a folder with a plan of two tasks for the fake agent.
type project struct {
	*world
	dir string
}

func (w *world) project(name, mode string) *project {
	w.t.Helper()
	p := &project{w, filepath.Join(w.home, name)}
	p.write(filepath.Join(name, ".ralph", "PROMPT.md"), "Do the next task.\n")
	p.write(filepath.Join(name, ".ralph", "fix_plan.md"), "- [ ] first task\n- [ ] second task\n")
	p.mode(mode)
	return p
}

func (p *project) mode(mode string) {
	p.t.Helper()
	path := filepath.Join(p.dir, agentMode)
	err := os.WriteFile(path+".new", []byte(mode), 0o600)
	if err == nil {
		err = os.Rename(path+".new", path)
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

// status is the part of status.json that tests look at.
type status struct {
	PID      int
	RunID    string `json:"run_id"`
	Status   string
	Reason   string
	Why      string `json:"exit_reason"`
	ExitCode int    `json:"exit_code"`
	Loops    int    `json:"loop_count"`
	Task     struct{ Title string }
}

func (p *project) status() (s status) {
	data, err := os.ReadFile(filepath.Join(p.dir, ".ralph", "status.json"))
	if err == nil {
		_ = json.Unmarshal(data, &s)
	}
	return s
}

// is waits for a value of status.json's status.
func (p *project) is(want string) status {
	p.t.Helper()
	p.until("status "+want, func() bool { return p.status().Status == want }, func() string { return fmt.Sprintf("%+v", p.status()) })
	return p.status()
}

// working waits for an agent that works.
func (p *project) working() seen {
	p.t.Helper()
	var s seen
	p.until("working agent", func() bool { return len(p.agents()) > 0 })
	data, err := os.ReadFile(filepath.Join(p.dir, agentSeen))
	if err == nil {
		err = json.Unmarshal(data, &s)
	}
	if err != nil {
		p.t.Fatal(err)
	}
	return s
}

// agents are the processes of all agents' calls that live.
func (p *project) agents() (alive []int) {
	data, _ := os.ReadFile(filepath.Join(p.dir, agentPids))
	for word := range strings.FieldsSeq(string(data)) {
		if pid, err := strconv.Atoi(word); err == nil && syscall.Kill(pid, 0) == nil {
			alive = append(alive, pid)
		}
	}
	return alive
}

// ralph runs a verb in the project.
func (p *project) ralph(args ...string) (string, int) {
	return p.run(p.dir, append([]string{"ralph"}, args...)...)
}

// panes are ids of the runner's and of the monitor's pane in ralph's server.
func (p *project) panes() (runner, monitor string) {
	p.t.Helper()
	p.until("two panes", func() bool {
		lines := strings.Split(p.try("list-panes", "-a", "-F", "#{pane_id} #{pane_current_path}"), "\n")
		var ids []string
		for _, line := range lines {
			if id, dir, _ := strings.Cut(line, " "); dir == p.dir {
				ids = append(ids, id)
			}
		}
		if len(ids) == 2 {
			runner, monitor = ids[0], ids[1]
		}
		return len(ids) == 2
	}, func() string { return p.try("list-panes", "-a", "-F", "#{pane_id} #{pane_current_path}") })
	return runner, monitor
}

// terminal is a pane of the outer tmux.
type terminal struct {
	*world
	id string
}

var narrow, usual, large = [2]int{40, 12}, [2]int{80, 24}, [2]int{200, 50}

// terminal starts a program in a terminal of this size, in the folder dir.
func (w *world) terminal(dir string, size [2]int, argv ...string) *terminal {
	w.t.Helper()
	args := []string{"tmux", "-L", "outer", "-f", filepath.Join(w.home, "outer.conf"), "new-session", "-d", "-P", "-F", "#{pane_id}",
		"-x", strconv.Itoa(size[0]), "-y", strconv.Itoa(size[1]), "env", "-u", "TMUX", "-u", "TMUX_PANE"}
	out, code := w.run(dir, append(args, argv...)...)
	if code != 0 {
		w.t.Fatalf("open terminal: %s", out)
	}
	return &terminal{w, strings.TrimSpace(out)}
}

// monitored is `ralph --monitor` with these arguments in a terminal.
func (p *project) monitored(size [2]int, args ...string) *terminal {
	p.t.Helper()
	return p.terminal(p.dir, size, append([]string{filepath.Join(programs, "ralph"), "--monitor"}, args...)...)
}

func (s *terminal) keys(keys ...string) {
	s.t.Helper()
	s.tmux(append([]string{"-L", "outer", "send-keys", "-t", s.id}, keys...)...)
}

func (s *terminal) screen() string { return s.try("-L", "outer", "capture-pane", "-p", "-t", s.id) }

// all is everything that was printed, wrapped lines joined.
func (s *terminal) all() string {
	return s.try("-L", "outer", "capture-pane", "-p", "-J", "-S", "-", "-t", s.id)
}

// shows waits for all texts to be on the screen at once.
func (s *terminal) shows(texts ...string) {
	s.t.Helper()
	s.until(fmt.Sprintf("%q on the screen", texts), func() bool {
		screen := s.screen()
		for _, text := range texts {
			if !strings.Contains(screen, text) {
				return false
			}
		}
		return true
	})
}

func (s *terminal) hides(text string) {
	s.t.Helper()
	s.until(fmt.Sprintf("end of %q", text), func() bool { return !strings.Contains(s.screen(), text) })
}

// exits waits for the end of the terminal's program.
func (s *terminal) exits(code int) {
	s.t.Helper()
	state := ""
	s.until("end of the program", func() bool {
		state = s.try("-L", "outer", "display-message", "-p", "-t", s.id, "#{pane_dead} #{pane_dead_status}#{pane_dead_signal}")
		s.reap("-L", "outer")
		return strings.HasPrefix(state, "1 ") && len(strings.TrimSpace(state)) > 1
	})
	if got := strings.TrimSpace(strings.TrimPrefix(state, "1")); got != strconv.Itoa(code) {
		s.t.Errorf("ended with %s, want %d:\n%s", got, code, strings.TrimSpace(s.all()))
	}
}

// said checks the text that stays in the terminal when the program has ended.
func (s *terminal) said(texts ...string) {
	s.t.Helper()
	all := s.all()
	for _, text := range texts {
		if !strings.Contains(all, text) {
			s.t.Errorf("the terminal does not say %q:\n%s", text, strings.TrimSpace(all))
		}
	}
}
