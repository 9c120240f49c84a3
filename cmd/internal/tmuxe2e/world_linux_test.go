package tmuxe2e

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"ralph/internal/world"
)

func TestMain(m *testing.M) {
	if name := filepath.Base(os.Args[0]); name == "claude" || name == "codex" {
		fakeAgent()
		return
	}
	os.Exit(world.Main(m))
}

// home has a tmux of its own, and the fake agents in its folder bin, which
// comes first in PATH. It holds projects; a world's one project is not used.
type home struct{ *world.World }

// newHome has a tmux.conf with these lines for ralph's server. When the test
// ends, nothing that it started may be alive.
func newHome(t *testing.T, conf string) *home {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		if os.Getenv("RALPH_REQUIRE") == "all" {
			t.Fatal(err)
		}
		t.Skip("tmux is not installed")
	}
	dir, err := os.MkdirTemp("", "tm") // a socket path is at most 107 bytes
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	w := &home{world.New(t, dir)}
	w.Dir = w.Home
	for _, name := range []string{"TMPDIR", "TMUX_TMPDIR"} {
		w.Set(name, w.Home)
	}
	w.Set("PAGER", "cat")
	w.Set("PATH", w.Path("bin")+":"+world.Programs(t)+":"+os.Getenv("PATH"))
	w.Write(".tmux.conf", conf)
	w.Write(".config/ralph/config.yaml", "agent: {name: claude}\n") // with two agents installed, ralph would ask
	w.Write("outer.conf", "set -g status off\nset -g remain-on-exit on\nset -g remain-on-exit-format ''\n")
	self, err := os.Executable()
	w.Do(err)
	w.Do(os.Mkdir(w.Path("bin"), 0o755))
	for _, name := range []string{"claude", "codex"} {
		w.Do(os.Symlink(self, w.Path("bin/"+name)))
	}
	t.Cleanup(w.close)
	return w
}

func (w *home) close() {
	if w.Failed() {
		w.Log(w.try("list-panes", "-a", "-F", "#{session_name} #{pane_id} dead #{pane_dead} status #{pane_dead_status} #{pane_start_command}"))
		for _, pane := range strings.Split(w.try("-L", "outer", "list-panes", "-a", "-F", "#{pane_id}"), "\n") {
			if !strings.HasPrefix(pane, "%") {
				continue
			}
			w.Logf("terminal %s shows at last:\n%s", pane, strings.TrimRight(w.try("-L", "outer", "capture-pane", "-p", "-S", "-50", "-t", pane), "\n"))
		}
	}
	w.try("kill-server")
	w.try("-L", "outer", "kill-server")
}

// try calls tmux, ralph's server where no -L is given.
func (w *home) try(args ...string) string {
	out, _ := w.Run(append([]string{"tmux"}, args...)...)
	return out
}

func (w *home) tmux(args ...string) string {
	w.Helper()
	out, code := w.Run(append([]string{"tmux"}, args...)...)
	if code != 0 {
		w.Fatalf("tmux %q: %d: %s", args, code, out)
	}
	return strings.TrimSuffix(out, "\n")
}

// reap has a tmux server look at its children: libutempter, which Debian's
// tmux uses, may have taken away the signal that tells it of an end.
func (w *home) reap(server ...string) {
	if pid, err := strconv.Atoi(strings.TrimSpace(w.try(append(server, "display-message", "-p", "#{pid}")...))); err == nil {
		_ = syscall.Kill(pid, syscall.SIGCHLD)
	}
}

// sessions of ralph's server, by name; none without a server.
func (w *home) sessions() []string {
	out, code := w.Run("tmux", "list-sessions", "-F", "#{session_name}")
	if code != 0 {
		return nil
	}
	return strings.Fields(out)
}

// project is a folder with a plan of two tasks for the fake agent.
type project struct {
	*home
	dir string
}

func (w *home) project(name, mode string) *project {
	w.Helper()
	p := &project{w, filepath.Join(w.Home, name)}
	p.Write(filepath.Join(name, ".ralph", "PROMPT.md"), "Do the next task.\n")
	p.Write(filepath.Join(name, ".ralph", "fix_plan.md"), "- [ ] first task\n- [ ] second task\n")
	p.mode(mode)
	return p
}

func (p *project) mode(mode string) {
	p.Helper()
	path := filepath.Join(p.dir, agentMode)
	p.Do(os.WriteFile(path+".new", []byte(mode), 0o600))
	p.Do(os.Rename(path+".new", path))
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
	_ = json.Unmarshal([]byte(p.In(p.dir).Read(".ralph/status.json")), &s)
	return s
}

// is waits for a value of status.json's status.
func (p *project) is(want string) status {
	p.Helper()
	p.Until("status "+want, func() bool { return p.status().Status == want }, func() string { return fmt.Sprintf("%+v", p.status()) })
	return p.status()
}

// working waits for an agent that works.
func (p *project) working() seen {
	p.Helper()
	var s seen
	p.Until("working agent", func() bool { return len(p.agents()) > 0 })
	p.Do(json.Unmarshal([]byte(p.In(p.dir).Read(agentSeen)), &s))
	return s
}

// goesOn checks that the run is not disturbed.
func (p *project) goesOn() {
	p.Helper()
	if got := p.status(); got.Status != "running" || len(p.agents()) == 0 {
		p.Errorf("the run is %+v", got)
	}
}

// agents returns the processes of all agents' calls that live.
func (p *project) agents() (alive []int) {
	for word := range strings.FieldsSeq(p.In(p.dir).Read(agentPids)) {
		if pid, err := strconv.Atoi(word); err == nil && syscall.Kill(pid, 0) == nil {
			alive = append(alive, pid)
		}
	}
	return alive
}

// ralph runs a verb in the project.
func (p *project) ralph(args ...string) (string, int) {
	return p.In(p.dir).Run(append([]string{"ralph"}, args...)...)
}

// panes returns ids of the runner's and of the monitor's pane in ralph's server.
func (p *project) panes() (runner, monitor string) {
	p.Helper()
	p.Until("two panes", func() bool {
		lines := strings.Split(p.try("list-panes", "-a", "-F", "#{pane_id} #{pane_current_path}"), "\n")
		var ids []string // of a narrow window the monitor's first, which is above the runner's
		for _, line := range lines {
			if id, dir, _ := strings.Cut(line, " "); dir == p.dir {
				ids = append(ids, id)
			}
		}
		if len(ids) == 2 {
			runner, monitor = ids[0], ids[1]
			if p.tmux("display-message", "-p", "-t", runner, "#{pane_at_right}") == "1" {
				runner, monitor = monitor, runner
			}
		}
		return len(ids) == 2
	}, func() string { return p.try("list-panes", "-a", "-F", "#{pane_id} #{pane_current_path}") })
	return runner, monitor
}

// terminal is a pane of the outer tmux.
type terminal struct {
	*home
	id string
}

var narrow, usual, large = [2]int{40, 12}, [2]int{80, 24}, [2]int{200, 50}

// terminal starts a program in a terminal of this size, in the folder dir.
func (w *home) terminal(dir string, size [2]int, argv ...string) *terminal {
	w.Helper()
	args := []string{"tmux", "-L", "outer", "-f", filepath.Join(w.Home, "outer.conf"), "new-session", "-d", "-P", "-F", "#{pane_id}",
		"-x", strconv.Itoa(size[0]), "-y", strconv.Itoa(size[1]), "env", "-u", "TMUX", "-u", "TMUX_PANE"}
	out, code := w.In(dir).Run(append(args, argv...)...)
	if code != 0 {
		w.Fatalf("open terminal: %s", out)
	}
	return &terminal{w, strings.TrimSpace(out)}
}

// monitored returns `ralph --monitor` with these arguments in a terminal.
func (p *project) monitored(size [2]int, args ...string) *terminal {
	p.Helper()
	return p.terminal(p.dir, size, append([]string{"ralph", "--monitor"}, args...)...)
}

// running returns a project whose agent works, beside its monitor.
func running(t *testing.T, name string) (*project, *terminal) {
	t.Helper()
	p := newHome(t, "").project(name, modeWork)
	s := p.monitored(usual)
	p.working()
	s.shows("RUNNING")
	return p, s
}

// quits waits for the text, leaves the monitor, and checks the exit code.
func (s *terminal) quits(text string, code int) {
	s.Helper()
	s.shows(text)
	s.keys("q")
	s.exits(code)
}

func (s *terminal) keys(keys ...string) {
	s.Helper()
	s.tmux(append([]string{"-L", "outer", "send-keys", "-t", s.id}, keys...)...)
}

func (s *terminal) screen() string { return s.try("-L", "outer", "capture-pane", "-p", "-t", s.id) }

// all is everything that was printed, wrapped lines joined.
func (s *terminal) all() string {
	return s.try("-L", "outer", "capture-pane", "-p", "-J", "-S", "-", "-t", s.id)
}

// shows waits for all texts to be on the screen at once.
func (s *terminal) shows(texts ...string) {
	s.Helper()
	s.Until(fmt.Sprintf("%q on the screen", texts), func() bool {
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
	s.Helper()
	s.Until(fmt.Sprintf("end of %q", text), func() bool { return !strings.Contains(s.screen(), text) })
}

// exits waits for the end of the terminal's program.
func (s *terminal) exits(code int) {
	s.Helper()
	state := ""
	s.Until("end of the program", func() bool {
		state = s.try("-L", "outer", "display-message", "-p", "-t", s.id, "#{pane_dead} #{pane_dead_status}#{pane_dead_signal}")
		s.reap("-L", "outer")
		return strings.HasPrefix(state, "1 ") && len(strings.TrimSpace(state)) > 1
	})
	if got := strings.TrimSpace(strings.TrimPrefix(state, "1")); got != strconv.Itoa(code) {
		s.Errorf("ended with %s, want %d:\n%s", got, code, strings.TrimSpace(s.all()))
	}
}

// said waits for texts that stay in the terminal when the program has ended: tmux may know of the
// end before it has read the last lines.
func (s *terminal) said(texts ...string) {
	s.Helper()
	for _, text := range texts {
		s.Until(fmt.Sprintf("%q in the terminal", text), func() bool { return strings.Contains(s.all(), text) }, s.all)
	}
}
