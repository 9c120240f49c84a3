//go:build e2e && linux

package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"ralph/internal/mockllm"
	"ralph/internal/world"
)

func TestMain(m *testing.M) { os.Exit(world.Main(m)) }

// project has a plan, an agent CLI and a mock API.
type project struct {
	*world.World
	mock *mockllm.Server
}

const scenario = "it"

// newProject makes a project whose plan has so many tasks, "task 1" and so on.
func newProject(t *testing.T, a agentCLI, tasks int, sc mockllm.Scenario) *project {
	t.Helper()
	bin := a.install(t)
	mock, err := mockllm.New(map[string]mockllm.Scenario{scenario: sc})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { mock.Close() })
	w := &project{world.New(t, ""), mock}
	t.Cleanup(w.tell)
	env, files := a.set(mock.URL(scenario))
	for name, v := range files {
		w.Write("../"+name, text(v))
	}
	w.Env = append(w.Env, env...)
	w.Set("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	w.Set("ALLOWED_TOOLS", "Bash,Write,Read,Edit")
	plan := "# Plan\n\n"
	for i := range tasks {
		plan += fmt.Sprintf("- [ ] task %d\n", i+1)
	}
	w.Begin(plan)
	return w
}

// tell shows what happened in a test that has failed.
func (w *project) tell() {
	if !w.Failed() {
		return
	}
	for _, r := range w.mock.Turns(scenario) {
		w.Logf("request at %s: run %d, step %d, answer %s", r.Time.Format("15:04:05.000"), r.Run, r.Step, r.Answer)
	}
	w.Logf("log:\n%s", w.Read(".ralph/logs/ralph.log"))
}

// ralph starts the program under test in the project.
func (w *project) ralph(args ...string) *world.Process {
	w.Helper()
	p := w.Start("ralph", args...)
	w.Cleanup(func() {
		if w.Failed() {
			w.Logf("ralph %q printed:\n%s", args, p.Said())
		}
	})
	return p
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

func (w *project) status() (s status) {
	w.Helper()
	if err := json.Unmarshal([]byte(w.Read(".ralph/status.json")), &s); err != nil {
		w.Fatalf("read status.json: %v", err)
	}
	return s
}

// event is what the tests look at in events.jsonl.
type event struct {
	Kind string `json:"kind"`
	Data struct {
		ID       string    `json:"id"`
		Text     string    `json:"text"`
		Rejected bool      `json:"rejected"`
		ResetsAt time.Time `json:"resets_at"`
		Outcome  string    `json:"outcome"`
		Action   string    `json:"action"`
		Rule     string    `json:"rule"`
		Exit     int       `json:"exit"`
	} `json:"data"`
}

func (w *project) events() []event {
	w.Helper()
	var events []event
	for line := range strings.Lines(w.Read(".ralph/events.jsonl")) {
		var e event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			w.Fatalf("read events.jsonl: %v: %s", err, line)
		}
		events = append(events, e)
	}
	return events
}

// sessions returns the agent's sessions, in order.
func (w *project) sessions() []string {
	w.Helper()
	var ids []string
	for _, e := range w.events() {
		if e.Kind == "session" && e.Data.ID != "" && !slices.Contains(ids, e.Data.ID) {
			ids = append(ids, e.Data.ID)
		}
	}
	return ids
}
