//go:build e2e && linux

package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"ralph/internal/mockllm"
)

var ralphDir string // where TestMain lets ralph be built

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "ralph-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	ralphDir = dir
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// buildRalph builds the program under test once.
var buildRalph = sync.OnceValues(func() (string, error) {
	bin := filepath.Join(ralphDir, "ralph")
	if out, err := exec.Command("go", "build", "-o", bin, "ralph/cmd/ralph").CombinedOutput(); err != nil {
		return "", fmt.Errorf("build ralph: %w\n%s", err, out)
	}
	return bin, nil
})

// world is a project with a plan, an agent CLI and a mock API, closed off from
// the user's own home and settings.
type world struct {
	t    *testing.T
	dir  string // the project
	home string // holds the project too
	mock *mockllm.Server
	env  []string
	mark string // in the environment of every process that this world starts
}

const scenario = "it"

// newWorld makes a project whose plan has so many tasks, "task 1" and so on.
// When the test ends nothing that it started may be alive.
func newWorld(t *testing.T, a agentCLI, tasks int, sc mockllm.Scenario) *world {
	t.Helper()
	bin := a.install(t)
	mock, err := mockllm.New(map[string]mockllm.Scenario{scenario: sc})
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	w := &world{t: t, dir: filepath.Join(home, "project"), home: home, mock: mock}
	w.mark = "RALPH_E2E_MARK=" + strconv.FormatInt(time.Now().UnixNano(), 36)
	env, files := a.set(mock.URL(scenario))
	for name, v := range files {
		w.write("../"+name, text(v))
	}
	w.env = append(env, "HOME="+home, "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"),
		"SHELL=/bin/sh", "LANG=C.UTF-8", "TERM=xterm-256color", "ALLOWED_TOOLS=Bash,Write,Read,Edit", w.mark)
	t.Cleanup(func() {
		w.noneLeft(5 * time.Second)
		mock.Close()
	})
	plan := "# Plan\n\n"
	for i := range tasks {
		plan += fmt.Sprintf("- [ ] task %d\n", i+1)
	}
	w.write(".ralph/PROMPT.md", "Do the next task of the plan.\n")
	w.write(".ralph/fix_plan.md", plan)
	w.write("../.gitconfig", "[user]\n\tname = E2E\n\temail = e2e@ralph.invalid\n")
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"commit", "-q", "-m", "begin"}} {
		w.git(args...)
	}
	return w
}

func (w *world) git(args ...string) string {
	w.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = w.dir, w.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		w.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return string(out)
}

func (w *world) write(name, text string) {
	w.t.Helper()
	path := filepath.Join(w.dir, name)
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		err = os.WriteFile(path, []byte(text), 0o644)
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// read returns a file of the project, "" where there is none.
func (w *world) read(name string) string {
	w.t.Helper()
	b, err := os.ReadFile(filepath.Join(w.dir, name))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		w.t.Fatal(err)
	}
	return string(b)
}

// process is a running program of the world.
type process struct {
	*exec.Cmd
	w      *world
	out    bytes.Buffer // stdout and stderr; read it after wait
	exited chan struct{}
}

// ralph starts the program under test in the project.
func (w *world) ralph(args ...string) *process {
	w.t.Helper()
	bin, err := buildRalph()
	if err != nil {
		w.t.Fatal(err)
	}
	return w.start(exec.Command(bin, args...))
}

func (w *world) start(cmd *exec.Cmd) *process {
	w.t.Helper()
	p := &process{Cmd: cmd, w: w, exited: make(chan struct{})}
	cmd.Dir, cmd.Env = w.dir, w.env
	if cmd.Stdout == nil {
		cmd.Stdout, cmd.Stderr = &p.out, &p.out
	}
	cmd.WaitDelay = 2 * time.Second // a left-over child may hold the pipe
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	go func() {
		cmd.Wait() // the exit code is read from ProcessState
		close(p.exited)
	}()
	w.t.Cleanup(func() {
		p.Process.Kill()
		<-p.exited
		if w.t.Failed() {
			w.t.Logf("%s printed:\n%s", filepath.Base(cmd.Path), p.out.String())
			for _, r := range w.mock.Turns(scenario) {
				w.t.Logf("request at %s: run %d, step %d, answer %s", r.Time.Format("15:04:05.000"), r.Run, r.Step, r.Answer)
			}
			w.t.Logf("log:\n%s", w.read(".ralph/logs/ralph.log"))
		}
	})
	return p
}

// wait returns the exit code, -1 after a signal.
func (p *process) wait(limit time.Duration) int {
	p.w.t.Helper()
	select {
	case <-p.exited:
	case <-time.After(limit):
		p.w.t.Fatalf("%s still runs after %v", filepath.Base(p.Path), limit)
	}
	return p.ProcessState.ExitCode()
}

// until polls for a condition that another process brings about.
func (w *world) until(what string, limit time.Duration, ok func() bool) {
	w.t.Helper()
	for deadline := time.Now().Add(limit); !ok(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			w.t.Fatalf("%s: not within %v", what, limit)
		}
	}
}

// living lists the processes of the world: those with its mark in their
// environment, and, as some CLIs clear that, those that work in its folder.
func (w *world) living() map[int]string {
	procs := map[int]string{}
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, d := range dirs {
		env, _ := os.ReadFile(filepath.Join(d, "environ"))
		cwd, _ := os.Readlink(filepath.Join(d, "cwd"))
		if !bytes.Contains(env, []byte(w.mark)) && !strings.HasPrefix(cwd, w.home+"/") {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(d))
		if err != nil {
			continue
		}
		cmdline, _ := os.ReadFile(filepath.Join(d, "cmdline"))
		procs[pid] = strings.ReplaceAll(string(cmdline), "\x00", " ")
	}
	return procs
}

// noneLeft fails the test for every process of the world that is still there
// after the limit, and ends it.
func (w *world) noneLeft(limit time.Duration) {
	w.t.Helper()
	left := w.living()
	for deadline := time.Now().Add(limit); len(left) > 0 && time.Now().Before(deadline); left = w.living() {
		time.Sleep(50 * time.Millisecond)
	}
	for pid, cmd := range left {
		w.t.Errorf("process %d is left: %s", pid, cmd)
		syscall.Kill(pid, syscall.SIGKILL)
	}
}

// status is what the tests look at in status.json.
type status struct {
	LoopCount  int    `json:"loop_count"`
	Status     string `json:"status"`
	ExitReason string `json:"exit_reason"`
	Rule       string `json:"rule"`
	Reason     string `json:"reason"`
	Outcome    string `json:"outcome"`
	Task       struct {
		Done  int `json:"done"`
		Total int `json:"total"`
	} `json:"task"`
	WakeAt time.Time `json:"wake_at"`
	Usage  struct {
		Input     int     `json:"input_tokens"`
		Output    int     `json:"output_tokens"`
		CacheRead int     `json:"cache_read_tokens"`
		Cost      float64 `json:"cost_usd"`
	} `json:"usage"`
}

func (w *world) status() (s status) {
	w.t.Helper()
	if err := json.Unmarshal([]byte(w.read(".ralph/status.json")), &s); err != nil {
		w.t.Fatalf("read status.json: %v", err)
	}
	return s
}

// event is what the tests look at in events.jsonl.
type event struct {
	Kind    string `json:"kind"`
	Text    string `json:"text"`
	Session string `json:"session"`
	Limit   *struct {
		Rejected bool      `json:"rejected"`
		ResetsAt time.Time `json:"resets_at"`
	} `json:"limit"`
	End struct {
		Outcome string `json:"outcome"`
		Action  string `json:"action"`
		Rule    string `json:"rule"`
		Exit    int    `json:"exit"`
	} `json:"end"`
}

func (w *world) events() []event {
	w.t.Helper()
	var events []event
	for line := range strings.Lines(w.read(".ralph/events.jsonl")) {
		var e event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			w.t.Fatalf("read events.jsonl: %v: %s", err, line)
		}
		events = append(events, e)
	}
	return events
}

// sessions returns the agent's sessions, in order.
func (w *world) sessions() []string {
	w.t.Helper()
	var ids []string
	for _, e := range w.events() {
		if e.Kind == "session" && e.Session != "" && !slices.Contains(ids, e.Session) {
			ids = append(ids, e.Session)
		}
	}
	return ids
}
