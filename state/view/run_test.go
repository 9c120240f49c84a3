package view_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ralph/internal/sample"
	"ralph/state"
	"ralph/state/view"
)

func TestMain(m *testing.M) {
	time.Local = time.UTC
	os.Exit(m.Run())
}

var noon = sample.Noon

// fold adds events to a run. Their iteration goes on until the next one.
func fold(r *view.Run, iteration int, task string, all ...state.Payload) {
	for i, p := range all {
		from := state.Origin{Run: "r", Iteration: iteration, Task: task}
		r.Add(state.NewEvent(from, noon.Add(time.Duration(i)*time.Second), p))
	}
}

func end(rule string) state.Decision { return state.Decision{Action: "continue", Rule: rule} }

func TestRun_oneIteration_isFoldedOverAllItsTries(t *testing.T) {
	var r view.Run
	fold(&r, 0, "", state.RunStart{Agent: "claude", Done: 1, Total: 3})
	fold(&r, 1, "T1",
		state.Check{Name: "lint", Run: state.CheckBaseline}, // before the iteration
		state.IterationStart{Title: "Add login", Done: 1, Total: 3},
		state.Usage{InputTokens: 10, CostUSD: 0.1}, state.Usage{InputTokens: 20, CostUSD: 0.2},
		state.Check{Name: "build"},
		state.Finding{Source: state.FoundByAudit, Text: "first try", Answer: "taken back"},
		state.IterationEnd{Decision: end("transient"), Outcome: "overloaded", Failed: true, Seconds: 2, Usage: state.Usage{InputTokens: 20, CostUSD: 0.2}},
		state.IterationStart{Title: "Add login", Done: 1, Total: 3},
		state.Tool{ID: "1", Name: "Bash"}, state.Usage{InputTokens: 5, CostUSD: 0.05},
		state.Finding{Source: state.FoundByAudit, File: "a_test.go", Text: "second try"}, state.Finding{Source: state.FoundByChecks, Text: "flaky"},
		state.Check{Name: "test", Passed: true},
		state.IterationEnd{Decision: end("continue"), Outcome: "completed-turn", TaskDone: true, Files: 2, Seconds: 3, Done: 2, Total: 3, Usage: state.Usage{InputTokens: 5, CostUSD: 0.05}})
	if len(r.Iterations) != 1 || r.Done != 2 || r.Total != 3 || r.Agent != "claude" {
		t.Fatalf("%+v", r)
	}
	got := r.Iterations[0]
	want := view.Iteration{
		Run: "r", Number: 1, StartedAt: noon.Add(time.Second), Ended: noon.Add(13 * time.Second), TaskID: "T1", Task: "Add login", TaskDone: true,
		Call: view.Call{Outcome: "completed-turn", Files: 2, Tools: 1, Tries: 2, Seconds: 5,
			Usage: state.Usage{InputTokens: 25, CostUSD: 0.25}, CostUSD: 0.25},
		Verdict: view.Verdict{Action: "continue", Rule: "continue"}, Checks: map[string]bool{"test": true},
		Findings: []string{"first try; taken back", "a_test.go: second try"}, Found: 3,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if r.Usage != want.Usage || r.Tool != nil {
		t.Errorf("the run has spent %+v, tool %+v", r.Usage, r.Tool)
	}
}

func TestRun_checks_areRedSinceTheyFirstFailed(t *testing.T) {
	var r view.Run
	fold(&r, 1, "", state.Check{Name: "test", Passed: true, Seconds: 1}, state.Check{Name: "lint", Seconds: 2}, state.Check{Name: "lint", Seconds: 1}, state.Check{Name: "test"}, state.Check{Name: "test", Passed: true})
	want := []state.CheckStatus{
		{Name: "test", Result: "passed", StartedAt: noon.Add(4 * time.Second)},
		{Name: "lint", Result: "failed", StartedAt: noon.Add(time.Second), Seconds: 1, RedSince: noon.Add(time.Second)},
	}
	if diff := cmp.Diff(want, r.Checks); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	m := view.Model{Run: r}
	if diff := cmp.Diff(want, m.Checks()); diff != "" {
		t.Errorf("without status.json: %s", diff)
	}
}

func TestRun_checkWithNothingToCheck_isNotRed(t *testing.T) {
	var r view.Run
	fold(&r, 1, "", state.IterationStart{}, state.Check{Name: "test"}, state.Check{Name: "test", Skipped: "there is no test"})
	if c := r.Checks[0]; c.Result != "skipped" || !c.RedSince.IsZero() {
		t.Errorf("%+v", c)
	}
}

func TestRun_newRun_forgetsTheOldOneAndKeepsTheLimits(t *testing.T) {
	_, events := sample.Run(noon)
	var r view.Run
	for _, e := range events {
		r.Add(e)
	}
	if len(r.Iterations) != 7 || len(r.Limits) != 1 || len(r.SubAgents) != 1 || !r.Tool.Busy || r.Tool.Name != "Edit" {
		t.Fatalf("the run folds to %d iterations, %d limits, %+v, %+v", len(r.Iterations), len(r.Limits), r.SubAgents, r.Tool)
	}
	sixth := r.Iterations[5]
	if sixth.Number != 6 || sixth.Running() || sixth.Files != 12 || sixth.Outcome != "timeout-with-work" || sixth.Usage.InputTokens != 100000 {
		t.Errorf("the sixth is %+v", sixth)
	}
	from := state.Origin{Run: r.ID, Iteration: 7}
	r.Add(state.NewEvent(from, noon, state.ToolResult{Tool: state.Tool{ID: "2"}}))
	if len(r.SubAgents) != 0 || !r.Tool.Busy {
		t.Errorf("a sub-agent whose call has its answer is still at work: %+v", r.SubAgents)
	}
	r.Add(state.NewEvent(from, noon, state.ToolResult{Tool: state.Tool{ID: "5"}}))
	if r.Tool.Busy {
		t.Error("a tool that has answered is busy")
	}
	r.Add(state.NewEvent(state.Origin{Run: "next"}, noon, state.RunStart{}))
	if len(r.Iterations) != 0 || r.ID != "next" || len(r.Limits) != 1 || r.Tool != nil || r.Usage != (state.Usage{}) {
		t.Errorf("after the start of a run: %+v", r)
	}
}

func TestRun_resumedAfterAKill_keepsItsIterations(t *testing.T) {
	var r view.Run
	fold(&r, 0, "", state.RunStart{Agent: "claude", Total: 2})
	fold(&r, 1, "T1", state.IterationStart{Title: "one", Total: 2},
		state.IterationEnd{Decision: end("continue"), Outcome: "completed-turn", Usage: state.Usage{CostUSD: 1}})
	fold(&r, 2, "T2", state.IterationStart{Title: "two", Done: 1, Total: 2}, state.Usage{CostUSD: 0.5}, state.Tool{ID: "1", Name: "Bash"})
	fold(&r, 0, "", state.RunStart{Agent: "codex", Resumed: true, Done: 1, Total: 2})
	if len(r.Iterations) != 2 || r.Iterations[0].Task != "one" || !r.Iterations[1].CutOff || r.Tool != nil || r.Agent != "codex" {
		t.Fatalf("%+v", r)
	}
	fold(&r, 2, "T2", state.IterationStart{Title: "two", Done: 1, Total: 2}, state.Usage{CostUSD: 0.25})
	if got := r.Iterations[1]; len(r.Iterations) != 2 || got.CutOff || got.Tries != 2 || r.Usage.CostUSD != 1.75 || !r.StartedAt.Equal(noon) {
		t.Errorf("%+v", r)
	}
	fold(&r, 0, "", state.RunEnd{}, state.RunStart{Agent: "codex", Resumed: true, Done: 2, Total: 3})
	if r.End != nil || len(r.Iterations) != 2 {
		t.Errorf("resumed after its end: %+v", r)
	}
}

func TestRun_iterationWithoutAnEnd_isCutOffWhenItCannotRun(t *testing.T) {
	start := state.IterationStart{Title: "x"}
	for _, c := range []struct {
		name   string
		alive  bool
		fold   func(r *view.Run)
		cutOff []bool
	}{
		{"it runs", true, func(r *view.Run) { fold(r, 1, "", start) }, []bool{false}},
		{"kill -9", false, func(r *view.Run) { fold(r, 1, "", start) }, []bool{true}},
		{"it has ended", false, func(r *view.Run) { fold(r, 1, "", start, state.IterationEnd{}) }, []bool{false}},
		{"the next one began", true, func(r *view.Run) { fold(r, 1, "", start); fold(r, 2, "", start) }, []bool{true, false}},
		{"it is tried again", true, func(r *view.Run) { fold(r, 1, "", start, state.IterationEnd{}, start) }, []bool{false}},
		{"the run has ended", true, func(r *view.Run) { fold(r, 1, "", start, state.RunEnd{}) }, []bool{true}},
	} {
		m := view.Model{}
		c.fold(&m.Run)
		m.Apply(view.Update{Snapshot: view.Snapshot{Alive: c.alive, Owner: state.Owner{RunID: "r"}}})
		var got []bool
		for _, it := range m.Run.Iterations {
			got = append(got, it.CutOff)
		}
		if diff := cmp.Diff(c.cutOff, got); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
	m := view.Model{} // the next run is alive already, and its events are not there yet
	fold(&m.Run, 1, "", start)
	m.Apply(view.Update{Snapshot: view.Snapshot{Alive: true, Owner: state.Owner{RunID: "next"}}})
	if !m.Run.Iterations[0].CutOff {
		t.Error("an iteration of the run before is running")
	}
}

func TestRun_reopenedTasks_areNotDone(t *testing.T) {
	var r view.Run
	work := func(n int, task string) {
		fold(&r, n, task, state.IterationStart{Title: "title of " + task}, state.IterationEnd{Seconds: 2, TaskDone: true})
	}
	work(1, "T1")
	work(2, "T2")
	work(3, "T3")
	fold(&r, 3, "T3", state.TaskChange{ID: "T3", State: "open", Why: "a tick without work"})
	fold(&r, 0, "", state.TaskChange{ID: "T1", State: "open", Why: "a check fails"})
	for i, done := range []bool{false, true, false} {
		if r.Iterations[i].TaskDone != done {
			t.Errorf("iteration %d: done is %t", i+1, !done)
		}
	}
}

func TestRun_longRun_staysWithinItsBounds(t *testing.T) {
	var r view.Run
	const n = 25_000
	long := strings.Repeat("x", 3_000)
	for i := range n {
		fold(&r, i+1, fmt.Sprintf("T%d", i), state.IterationStart{Title: "one of many"},
			state.Tool{ID: fmt.Sprint(i), Name: "Bash"}, // never answered
			state.Finding{Source: state.FoundByAudit, Text: long}, state.Check{Name: fmt.Sprint("check", i%300)},
			state.Limit{Name: fmt.Sprint(i)}, state.Usage{InputTokens: 1},
			state.IterationEnd{Decision: state.Decision{Rule: "continue", Reason: long}, Usage: state.Usage{InputTokens: 1}})
	}
	if got := len(r.Iterations); got > 10_000 || got < 9_000 || r.Iterations[got-1].Number != n {
		t.Errorf("%d iterations are kept, the last is %d", got, r.Iterations[got-1].Number)
	}
	if len(r.Notes) != 100 || len(r.Checks) > 200 || len(r.Limits) > 16 || r.Usage.InputTokens != n {
		t.Errorf("%d notes, %d checks, %d limits, usage %+v", len(r.Notes), len(r.Checks), len(r.Limits), r.Usage)
	}
	for range 2000 {
		fold(&r, n, "", state.Finding{Source: state.FoundByAudit, Text: "one more"})
	}
	if got := len(r.Iterations[len(r.Iterations)-1].Findings); got > 100 {
		t.Errorf("%d findings of one iteration", got)
	}
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	if m.HeapInuse > 48<<20 {
		t.Errorf("%d MiB in use", m.HeapInuse>>20)
	}
	runtime.KeepAlive(&r)
}

// recorded is a project with the events of a recorded run.
func recorded(t *testing.T) *sample.Project {
	t.Helper()
	data, err := os.ReadFile("../testdata/events.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	p := sample.New(t, view.Snapshot{}, nil)
	if err := os.WriteFile(p.Reader().EventsPath(), data, 0o600); err != nil {
		t.Fatal(err)
	}
	return p
}

func TestReadRun_recordedRun_isTheModel(t *testing.T) {
	const id = "20261122-022953-440c"
	r, err := view.ReadRun(recorded(t).Reader(), id, false)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, it := range r.Iterations {
		got = append(got, fmt.Sprintf("%d %s %s %v %d %d %.3f", it.Number, it.Outcome, it.Rule, it.Checks, it.Files, len(it.Findings), it.CostUSD))
	}
	want := []string{
		"1 completed-turn continue map[test:true] 2 0 0.064",
		"2 completed-turn gate_failed map[test:false] 2 0 0.030",
		"3 completed-turn continue map[test:true] 1 0 0.036",
		"4 completed-turn claimed_incomplete map[test:true] 1 0 0.017",
		"5 completed-turn claimed_incomplete map[test:true] 2 1 0.078",
		"6 completed-turn complete map[test:true] 0 0 0.017",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !strings.HasPrefix(r.Iterations[1].Task, "`todo list --open`") {
		t.Errorf("%+v", r.Iterations)
	}
	if r.End == nil || r.End.Rule != "complete" || r.Agent != "claude" || len(r.Notes) != 5 || len(r.Feedback) != 1 || r.Checks[0].Result != "passed" {
		t.Errorf("%+v", r)
	}
}

func TestReadRun_rotatedFiles_areReadOldestFirst(t *testing.T) {
	p := sample.New(t, view.Snapshot{}, nil)
	at := func(run string, n int, payload state.Payload) state.Event {
		return state.NewEvent(state.Origin{Run: run, Iteration: n}, noon, payload)
	}
	write := func(name string, events ...state.Event) {
		var lines []byte
		for _, e := range events {
			lines = append(lines, sample.Encode(t, e)...)
		}
		if err := os.WriteFile(filepath.Join(p.StateDir(), name), lines, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("events-2026-11-20T10-00-00.000.jsonl", at("old", 9, state.IterationStart{}), at("r", 1, state.IterationStart{Title: "a"}))
	write("events-2026-11-20T11-00-00.000.jsonl", at("r", 1, state.IterationEnd{Files: 1}), at("r", 2, state.IterationStart{}))
	write("events.jsonl", at("r", 2, state.IterationEnd{Files: 2}), at("r", 3, state.IterationStart{}))
	for alive, cutOff := range map[bool]bool{true: false, false: true} {
		r, err := view.ReadRun(p.Reader(), "r", alive)
		if err != nil || len(r.Iterations) != 3 || r.Iterations[0].Files != 1 || r.Iterations[1].Files != 2 || r.Iterations[2].CutOff != cutOff {
			t.Errorf("alive %t: %+v, %v", alive, r, err)
		}
	}
	if r, err := view.ReadRun(p.Reader(), "unknown", false); err != nil || len(r.Iterations) != 0 {
		t.Errorf("%+v, %v", r, err)
	}
	past, err := view.ReadRotated(p.Reader())
	if err != nil || past.ID != "r" || len(past.Iterations) != 2 {
		t.Errorf("%+v, %v", past, err)
	}
	write("events-2026-11-20T11-00-00.000.jsonl", at("r", 0, state.RunStart{}), at("r", 2, state.IterationStart{}))
	if past, err = view.ReadRotated(p.Reader()); err != nil || len(past.Iterations) != 1 {
		t.Errorf("the files of another run are read: %+v, %v", past, err)
	}
	write("events.jsonl", at("next", 0, state.RunStart{}))
	if past, err = view.ReadRotated(p.Reader()); err != nil || past != nil {
		t.Errorf("a new run has a past: %+v, %v", past, err)
	}
}

func TestRecall_findingsOfThisRun_areTheLatestThree(t *testing.T) {
	s, events := sample.Checking(noon)
	p := sample.New(t, s, nil)
	finding := func(run, source string, n int) state.Event {
		return state.NewEvent(state.Origin{Run: run}, noon, state.Finding{Source: source, Text: fmt.Sprintf("number %d", n)})
	}
	p.Add(events[0], finding(s.Status.RunID, "audit", 1), finding(s.Status.RunID, "checks", 2))
	p.Add(events[1:]...) // two findings, and what the agent was told
	p.Add(finding("before", "audit", 1))
	bulk := state.Text{Text: strings.Repeat(`"kind":"finding" `, 100<<10)}
	p.Add(state.NewEvent(state.Origin{Run: s.Status.RunID}, noon, bulk))
	texts := func(m view.Model) (all []string) {
		for _, n := range m.Run.Notes {
			all = append(all, n.Text)
		}
		return all
	}
	m := view.Model{Snapshot: s}
	m.Recall(p.Reader())
	want := []string{"checks: number 2", "audit: src/api/list_test.go: 2 tests fewer than before; the tick was taken back",
		"checks: lint: flaky: passed in the second of two runs"}
	if diff := cmp.Diff(want, texts(m)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := m.Iteration(); got != 7 {
		t.Errorf("iteration %d, want the one that runs", got)
	}
	m.Status.Status, m.Status.Rule, m.Status.LoopCount = state.StatusStopped, "interrupted", 6 // Ctrl-C: its iteration does not count
	if got := m.Iteration(); got != 7 {
		t.Errorf("iteration %d, want the one that was cut off", got)
	}
	old := view.Model{Snapshot: view.Snapshot{Status: state.Status{RunID: "20261122-022953-440c"}}}
	old.Recall(recorded(t).Reader())
	if got := texts(old); len(got) != 2 || got[0] != "checks: test: fails (exit code 1)" {
		t.Errorf("of a recorded run: %q", got)
	}
	if err := os.Remove(p.Reader().EventsPath()); err != nil {
		t.Fatal(err)
	}
	m.Recall(p.Reader())
	if len(m.Run.Notes) > 0 {
		t.Errorf("without events: %+v", m.Run.Notes)
	}
}

func TestIteration_countsTheOneThatRuns(t *testing.T) {
	begun := noon.Add(-time.Second)
	for _, c := range []struct {
		name string
		st   state.Status
		want int
	}{
		{"nothing has begun", state.Status{Status: state.StatusRunning}, 0},
		{"the first runs", state.Status{Status: state.StatusRunning, IterationStartedAt: begun}, 1},
		{"the seventh runs", state.Status{Status: state.StatusRunning, IterationStartedAt: begun, LoopCount: 6}, 7},
		{"a rule has answered the sixth", state.Status{Status: state.StatusRunning, IterationStartedAt: begun, LoopCount: 6, Rule: "continue"}, 6},
		{"the run has ended", state.Status{Status: state.StatusCompleted, IterationStartedAt: begun, LoopCount: 6, Rule: "complete"}, 6},
	} {
		m := view.Model{Snapshot: view.Snapshot{Status: c.st}}
		if got := m.Iteration(); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}
