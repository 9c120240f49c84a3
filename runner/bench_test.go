package runner

import (
	"fmt"
	"os"
	"path/filepath"
	"ralph/runner/agent"
	"ralph/runner/gate"
	"ralph/runner/pool"
	"ralph/runner/rules"

	"ralph/state"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
)

func defaults() Options {
	return Options{
		Policy: rules.Policy{
			CallsPerHour: 100, OnLimit: "wait", CompletionClaims: 2,
			BreakerPolicy: rules.BreakerPolicy{NoProgressThreshold: 3, SameErrorThreshold: 5, DenialThreshold: 2,
				OutputDeclineThreshold: 70, Cooldown: 30 * time.Minute},
		},
		CallOptions: pool.CallOptions{Timeout: 15 * time.Minute}, Continuity: pool.Continuity{SessionExpiry: 24 * time.Hour},
	}
}

// bench is a project with a fake agent.
type bench struct {
	t    *testing.T
	dir  string
	o    Options
	d    Deps
	w    *state.Writer
	seen []state.Event
}

// newBench makes a project with the given boxes in its plan; none: no plan.
func newBench(t *testing.T, fakeAgent string, boxes ...string) *bench {
	t.Helper()
	b := &bench{t: t, dir: t.TempDir(), o: defaults()}
	dir := filepath.Join(b.dir, ".ralph")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	b.write(".ralph/PROMPT.md", "Do the next task.\n")
	if len(boxes) > 0 {
		b.write(planName, "# Plan\n\n- "+strings.Join(boxes, "\n- ")+"\n")
		b.d.Plan = filepath.Join(b.dir, planName)
	}
	spec, err := agent.Find("claude")
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	b.d.Dir, b.d.RunID, b.d.Log, b.o.Agent = b.dir, "run-1", hclog.NewNullLogger(), "claude"
	b.d.Agents = func(name string) (pool.Agent, error) {
		s := spec
		s.Name = name
		if strings.HasPrefix(name, "no-") {
			return pool.Agent{}, fmt.Errorf("unknown agent %q", name)
		}
		s.Env.Set = append(s.Env.Set, fakeAgentName+"="+name)
		return pool.Agent{Spec: s, Program: []string{self}}, nil
	}
	b.d.Env = []string{"GORACE=atexit_sleep_ms=0", "PATH=" + os.Getenv("PATH"), "HOME=" + b.dir, "XDG_CACHE_HOME=" + t.TempDir(), fakeName + "=" + fakeAgent, fakeCount + "=" + filepath.Join(t.TempDir(), "count")}
	b.d.Prompt = filepath.Join(b.dir, ".ralph/PROMPT.md")
	b.d.Show = func(e state.Event) { b.seen = append(b.seen, e) }
	b.lock()
	return b
}

func (b *bench) lock() {
	w, _, err := state.Acquire(filepath.Join(b.dir, ".ralph"), state.Owner{PID: os.Getpid(), RunID: b.d.RunID, StartedAt: time.Now()})
	if err != nil {
		b.t.Fatal(err)
	}
	b.w, b.d.State = w, w
	b.t.Cleanup(func() { _ = w.Release() })
}

func (b *bench) write(name, text string) {
	b.t.Helper()
	path := filepath.Join(b.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) read(name string) string {
	data, err := os.ReadFile(filepath.Join(b.dir, name))
	if err != nil {
		b.t.Error(err)
	}
	return string(data)
}

func (b *bench) calls() int {
	data, _ := os.ReadFile(b.counter())
	n, _ := strconv.Atoi(string(data))
	return n
}

// counter is the file in which the fake counts its calls, outside the project.
func (b *bench) counter() string {
	for _, v := range b.d.Env {
		if path, ok := strings.CutPrefix(v, fakeCount+"="); ok {
			return path
		}
	}
	return ""
}

// prompt is the last prompt of the fakes that keep it.
func (b *bench) prompt() string {
	data, err := os.ReadFile(b.counter() + ".prompt")
	if err != nil {
		b.t.Error(err)
	}
	return string(data)
}

func (b *bench) check(command string) {
	b.d.Checks = []gate.Check{{Name: "test", Command: command}}
}

// rules names the rules that matched, in order.
func (b *bench) rules() string {
	var all []string
	for _, e := range b.seen {
		switch d := e.Data.(type) {
		case state.Decision:
			all = append(all, d.Rule)
		case state.IterationEnd:
			all = append(all, d.Rule)
		}
	}
	return strings.Join(all, " ")
}

// payloads are the payloads of one kind, in order.
func payloads[P state.Payload](b *bench) []P {
	var all []P
	for _, e := range b.seen {
		if p, ok := e.Data.(P); ok {
			all = append(all, p)
		}
	}
	return all
}
