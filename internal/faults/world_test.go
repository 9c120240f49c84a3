//go:build linux

package faults

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"ralph/state"
)

var programs string // where TestMain lets the programs be built

func TestMain(m *testing.M) {
	if act := os.Getenv(actVar); act != "" {
		os.Exit(play(act))
	}
	dir, err := os.MkdirTemp("", "ralph-faults-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	programs = dir
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// build makes ralph and ralph-monitor, once. A test that runs in a namespace of
// its own is handed those of the test outside.
var build = sync.OnceValues(func() (string, error) {
	if dir := os.Getenv(programsVar); dir != "" {
		return dir, nil
	}
	out, err := exec.Command("go", "build", "-o", programs+"/", "ralph/cmd/ralph", "ralph/cmd/ralph-monitor").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build programs: %w\n%s", err, out)
	}
	return programs, nil
})

const programsVar = "RALPH_FAULTS_PROGRAMS"

// patience is how long a test waits for what must come; far above what it takes.
const patience = 30 * time.Second

// leftBound is the promise: nothing is left this long after the runner is dead.
const leftBound = 2 * time.Second

// world is a project with a plan and a fake agent that keeps its own books.
type world struct {
	t      *testing.T
	home   string // holds the project, and the agent's books, out of its reach
	dir    string // the project
	env    []string
	mark   string // in the environment of every process that this world starts
	ledger string
	tasks  int // boxes that were ever written
	gone   int // calls of which nothing was left
}

// newWorld makes a project whose plan has so many open boxes.
func newWorld(t *testing.T, act string, boxes int) *world {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return newWorldIn(t, home, act, boxes)
}

func newWorldIn(t *testing.T, home, act string, boxes int) *world {
	t.Helper()
	bin, err := build()
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, home: home, dir: filepath.Join(home, "project"), ledger: filepath.Join(home, "ledger")}
	w.mark = "RALPH_FAULTS_MARK=" + strconv.FormatInt(time.Now().UnixNano(), 36)
	w.env = []string{
		"HOME=" + home, "PATH=" + bin + ":" + os.Getenv("PATH"), "TERM=dumb", "LANG=C.UTF-8", "GORACE=atexit_sleep_ms=0",
		"GIT_CONFIG_NOSYSTEM=1", "CLAUDE_CODE_CMD=" + self, "MAX_CALLS_PER_HOUR=1000000",
		w.mark, actVar + "=" + act, ledgerVar + "=" + w.ledger,
	}
	t.Cleanup(func() { w.goneWithin(patience) })
	w.write("../.gitconfig", "[user]\n\tname = Faults\n\temail = faults@ralph.invalid\n")
	w.write(".ralph/PROMPT.md", "Do the next task of the plan.\n")
	w.refill(boxes)
	w.git("init", "-q")
	w.git("add", ".")
	w.git("commit", "-q", "-m", "begin")
	return w
}

// set replaces a variable of the environment.
func (w *world) set(name, value string) {
	for i, kv := range w.env {
		if strings.HasPrefix(kv, name+"=") {
			w.env[i] = name + "=" + value
			return
		}
	}
	w.env = append(w.env, name+"="+value)
}

// refill writes a plan of so many open boxes that no plan before had.
func (w *world) refill(boxes int) {
	w.t.Helper()
	plan := "# Plan\n\n"
	for range boxes {
		w.tasks++
		plan += fmt.Sprintf("- [ ] T%d do part %d\n", w.tasks, w.tasks)
	}
	w.write(planName, plan)
}

func (w *world) write(name, text string) {
	w.t.Helper()
	path := filepath.Join(w.dir, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
		w.t.Fatal(err)
	}
}

// read returns a file of the project, "" where there is none.
func (w *world) read(name string) string {
	w.t.Helper()
	data, err := os.ReadFile(filepath.Join(w.dir, name))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		w.t.Fatal(err)
	}
	return string(data)
}

func (w *world) git(args ...string) string {
	w.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = w.dir, w.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		w.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (w *world) state() *state.Reader { return state.Open(filepath.Join(w.dir, ".ralph")) }

// process is a program of the world.
type process struct {
	*exec.Cmd
	w      *world
	out    *os.File
	exited chan struct{}
}

// start starts a program in the project.
func (w *world) start(program string, args ...string) *process {
	w.t.Helper()
	p := w.prepare(program, args...)
	p.launch()
	return p
}

func (w *world) prepare(program string, args ...string) *process {
	w.t.Helper()
	bin, err := build()
	if err != nil {
		w.t.Fatal(err)
	}
	out, err := os.CreateTemp("", "ralph-faults-out-")
	if err != nil {
		w.t.Fatal(err)
	}
	_ = os.Remove(out.Name())
	p := &process{Cmd: exec.Command(filepath.Join(bin, program), args...), w: w, out: out, exited: make(chan struct{})}
	p.Dir, p.Env, p.Stdout, p.Stderr = w.dir, w.env, out, out
	return p
}

func (p *process) launch() {
	p.w.t.Helper()
	if err := p.Cmd.Start(); err != nil {
		p.w.t.Fatal(err)
	}
	go func() {
		_ = p.Cmd.Wait()
		close(p.exited)
	}()
	p.w.t.Cleanup(func() {
		_ = p.Process.Kill()
		<-p.exited
		p.out.Close()
	})
}

func (w *world) ralph(args ...string) *process { return w.start("ralph", args...) }

// said is everything that the program has printed so far.
func (p *process) said() string {
	var b bytes.Buffer
	if info, err := p.out.Stat(); err == nil {
		data := make([]byte, min(info.Size(), 64<<10))
		n, _ := p.out.ReadAt(data, max(0, info.Size()-64<<10))
		b.Write(data[:n])
	}
	return b.String()
}

// wait returns the exit code as a shell sees it.
func (p *process) wait(bound time.Duration) int {
	p.w.t.Helper()
	select {
	case <-p.exited:
	case <-time.After(bound):
		p.w.t.Fatalf("%v is still running after %s:\n%s", p.Args[1:], bound, p.said())
	}
	status := p.ProcessState.Sys().(syscall.WaitStatus)
	if status.Signaled() {
		return 128 + int(status.Signal())
	}
	return status.ExitStatus()
}

func (p *process) ends(want int) {
	p.w.t.Helper()
	if code := p.wait(patience); code != want {
		p.w.t.Errorf("ended with %d, want %d:\n%s", code, want, p.said())
	}
}

// until polls for something that must come.
func (w *world) until(what string, ok func() bool) {
	w.t.Helper()
	for end := time.Now().Add(patience); !ok(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			w.t.Fatalf("%s: not within %s", what, patience)
		}
	}
}
