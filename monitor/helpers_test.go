package monitor

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/gdamore/tcell/v2"

	"ralph/state"
)

var rewrite = flag.Bool("update", false, "rewrite the golden files")

// TestMain lets the test binary be the monitor in a real terminal, and the
// "ralph" that it calls.
func TestMain(m *testing.M) {
	time.Local = time.UTC
	if verbs := os.Getenv("MONITOR_TEST_VERBS"); verbs != "" && len(os.Args) == 3 && os.Args[1] == "verb" {
		file, _ := os.OpenFile(verbs, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		fmt.Fprintln(file, os.Args[2])
		_ = file.Close()
		fmt.Println(os.Args[2] + " will act \x1b[31msoon")
		os.Exit(0)
	}
	if dir := os.Getenv("MONITOR_TEST_DIR"); dir != "" {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
		defer stop()
		o := Options{Dir: dir, Version: "1.2.3"}
		if os.Getenv("MONITOR_TEST_VERBS") != "" {
			o.Ralph = []string{os.Args[0], "verb"}
		}
		if in := os.Getenv("MONITOR_TEST_PANIC"); in != "" {
			calls := 0
			o.Now = func() time.Time {
				if strings.Contains(string(debug.Stack()), in) {
					if calls++; calls > 1 {
						panic("provoked")
					}
				}
				return time.Now()
			}
		}
		if err := Run(ctx, o); err != nil {
			fmt.Println("error:", err)
			os.Exit(1)
		}
		fmt.Println("monitor ended")
		os.Exit(0)
	}
	// A monitor that ends would sleep for a second under the race detector.
	_ = os.Setenv("GORACE", os.Getenv("GORACE")+" atexit_sleep_ms=0")
	os.Exit(m.Run())
}

// bound is how long something may take on a busy machine.
const bound = time.Minute

// noon is the time of every model test.
var noon = time.Date(2026, 11, 20, 14, 30, 0, 0, time.UTC)

// runOf is a run in the middle of its seventh iteration.
func runOf(now time.Time) (Snapshot, []state.Event) {
	st := state.Status{
		Timestamp: now.Add(-time.Second), RunID: "20261120-131810", PID: 4242, StartedAt: now.Add(-72 * time.Minute),
		LoopCount: 6, MaxIterations: 50, CallsThisHour: 43, MaxCallsPerHour: 100, TokensThisHour: 1_240_000, MaxTokensPerHour: 10_000_000,
		Status: state.StatusRunning, LastAction: "agent", Agent: "claude", Model: "claude-opus-4-5",
		Task:  state.TaskStatus{ID: "#7", Title: "Add cursor pagination to the list endpoint", Done: 6, Total: 10},
		Phase: "agent", IterationStartedAt: now.Add(-252 * time.Second), LastTool: "Edit src/api/pagination.go",
		Usage:   state.Usage{InputTokens: 1_180_000, OutputTokens: 84_300, CacheReadTokens: 9_950_000, CostUSD: 3.41},
		Breaker: state.BreakerStatus{State: state.BreakerClosed},
	}
	s := Snapshot{
		At: now, Dir: "/home/dev/shop-api", Status: st, Alive: true,
		Owner:   state.Owner{PID: 4242, RunID: st.RunID, StartedAt: st.StartedAt},
		Breaker: state.Breaker{State: state.BreakerClosed, LastProgressLoop: 6, CurrentLoop: 7},
		Calls:   state.Calls{Hour: now.Truncate(time.Hour), Calls: 43, Tokens: 1_240_000},
	}
	s.settle()
	return s, eventsOf(st, now)
}

func eventsOf(st state.Status, now time.Time) []state.Event {
	var all []state.Event
	at := st.StartedAt
	iteration := 0
	add := func(e state.Event) {
		at = at.Add(7 * time.Second)
		e.Time, e.Run, e.Iteration = at, st.RunID, iteration
		all = append(all, e)
	}
	add(state.Event{Kind: state.KindRunStart, Text: "claude in /home/dev/shop-api"})
	ends := []state.End{
		{Outcome: "completed-turn", Rule: "continue", Action: "continue", Files: 5, Duration: 510 * time.Second},
		{Outcome: "completed-turn", Rule: "gate_failed", Action: "retry", Files: 2, Duration: 204 * time.Second},
		{Outcome: "completed-turn", Rule: "continue", Action: "continue", Files: 1, Duration: 131 * time.Second},
		{Outcome: "overloaded", Rule: "transient", Action: "retry", Duration: 12 * time.Second},
		{Outcome: "completed-turn", Rule: "continue", Action: "continue", Duration: 95 * time.Second},
		{Outcome: "timeout-with-work", Rule: "continue", Action: "continue", Files: 12, Duration: 900 * time.Second},
	}
	for i, end := range ends {
		iteration = i + 1
		add(state.Event{Kind: state.KindIterationStart, Text: fmt.Sprintf("task %d of the plan", i+1)})
		add(state.Event{Kind: state.KindUsage, Usage: &state.Usage{InputTokens: 100000, OutputTokens: 9000, CostUSD: 0.2 + float64(i*i%5)*0.17}})
		add(state.Event{Kind: state.KindDecision, End: &state.End{Action: end.Action, Rule: end.Rule, Reason: "progress was made"}})
		add(state.Event{Kind: state.KindIterationEnd, End: &end})
	}
	iteration = 7
	at = now.Add(-252 * time.Second)
	add(state.Event{Kind: state.KindIterationStart, Text: "#7 Add cursor pagination to the list endpoint"})
	add(state.Event{Kind: state.KindSession, Session: "0d9e2c1e", Model: "claude-opus-4-5"})
	add(state.Event{Kind: state.KindLimit, Limit: &state.Limit{Kind: "five_hour", Utilization: 0.72, ResetsAt: now.Add(132 * time.Minute)}})
	add(state.Event{Kind: state.KindText, Text: "I will look at how the list endpoint reads its parameters, then add a cursor.\nThe old offset stays for one release."})
	add(state.Event{Kind: state.KindTool, Tool: &state.Tool{ID: "1", Name: "Read", Arg: "src/api/list.go"}})
	add(state.Event{Kind: state.KindToolResult, Tool: &state.Tool{ID: "1", Name: "Read"}, Text: "package api\n\nimport (\n\t\"net/http\"\n)\n\nfunc list(w http.ResponseWriter, r *http.Request) {\n\tm[key] // [ERROR] [red]\n}\n// one\n// two"})
	add(state.Event{Kind: state.KindTool, Tool: &state.Tool{ID: "2", Name: "Task", Arg: "find all callers of list()"}})
	add(state.Event{Kind: state.KindTool, Tool: &state.Tool{ID: "3", Name: "Grep", Arg: "list\\(", Parent: "2"}})
	add(state.Event{Kind: state.KindToolResult, Tool: &state.Tool{ID: "3", Name: "Grep", Parent: "2"}, Text: "src/api/list.go\nsrc/cmd/export.go"})
	add(state.Event{Kind: state.KindTool, Tool: &state.Tool{ID: "4", Name: "Bash", Arg: "go test ./..."}})
	add(state.Event{Kind: state.KindToolResult, Error: true, Tool: &state.Tool{ID: "4", Name: "Bash"}, Text: "--- FAIL: TestList (0.00s)\n    list_test.go:31: want 20 items, got 0"})
	add(state.Event{Kind: state.KindDenied, Tool: &state.Tool{Name: "Bash", Arg: "git push"}, Text: "not in the allowed tools"})
	add(state.Event{Kind: state.KindText, Text: "漢字 and 🙂 stay in their cells. The test shows that the cursor is read before it is decoded; I move the decoding in front of the query."})
	add(state.Event{Kind: state.KindGate, Text: "test: passed"})
	add(state.Event{Kind: state.KindUsage, Usage: &state.Usage{InputTokens: 80000, OutputTokens: 7000, CostUSD: 0.61}})
	add(state.Event{Kind: state.KindTool, Tool: &state.Tool{ID: "5", Name: "Edit", Arg: "src/api/pagination.go"}})
	return all
}

// statesOf are the statuses that the screen must show.
func statesOf(now time.Time) map[string]func() (Snapshot, []state.Event) {
	change := func(f func(*Snapshot)) func() (Snapshot, []state.Event) {
		return func() (Snapshot, []state.Event) {
			s, events := runOf(now)
			f(&s)
			s.settle()
			return s, events
		}
	}
	over := func(status, reason, rule, why, next string, exit int) func() (Snapshot, []state.Event) {
		return func() (Snapshot, []state.Event) {
			s, events := runOf(now)
			s.Alive = false
			if exit == 0 {
				s.Status.Task.Done = 10
			}
			s.Status.Status, s.Status.ExitReason, s.Status.Rule, s.Status.Reason = status, reason, rule, why
			s.Status.ExitCode, s.Status.Next, s.Status.LoopCount, s.Status.Phase = exit, next, 7, "ended"
			end := &state.End{Outcome: "completed-turn", Rule: rule, Action: "stop", Reason: why, Files: 3, Exit: exit, Duration: 250 * time.Second}
			events = append(events,
				state.Event{Time: now.Add(-2 * time.Second), Run: s.Status.RunID, Iteration: 7, Kind: state.KindIterationEnd, End: end},
				state.Event{Time: now.Add(-time.Second), Run: s.Status.RunID, Kind: state.KindRunEnd, End: end})
			s.settle()
			return s, events
		}
	}
	halted := over(state.StatusHalted, "same_error", "same_error", "the same error in 5 iterations: undefined: cursorFrom",
		"look at .ralph/live.log and the plan, then: ralph reset --circuit && ralph resume", 3)
	return map[string]func() (Snapshot, []state.Event){
		"running":  change(func(*Snapshot) {}),
		"checking": func() (Snapshot, []state.Event) { return checking(now) },
		"waiting": change(func(s *Snapshot) {
			s.Status.Status, s.Status.Rule = state.StatusWaiting, "usage_limit"
			s.Status.Limit = &state.Limit{Kind: "five_hour", Rejected: true, Utilization: 1, ResetsAt: now.Add(time.Hour)}
			s.Status.WakeAt = now.Add(time.Hour + 72*time.Second)
			s.Status.Reason = "You've hit your session limit"
		}),
		"paused": change(func(s *Snapshot) {
			s.Status.Status, s.Status.Rule, s.Status.LastAction, s.Status.LoopCount = state.StatusPaused, "continue", "paused by ralph pause", 7
		}),
		"completed": over(state.StatusCompleted, "plan_complete", "complete", "all 10 tasks are done and the checks pass", "", 0),
		"halted": func() (Snapshot, []state.Event) {
			s, events := halted()
			s.Breaker = state.Breaker{State: state.BreakerOpen, SameError: 5, TotalOpens: 1, LastChange: now.Add(-time.Minute), Reason: "the same error in 5 iterations: undefined: cursorFrom"}
			return s, events
		},
		"stopped": over(state.StatusStopped, "max_iterations", "ceilings", "7 of 7 iterations are used", "raise --max-iterations and run ralph again", 4),
		"failed":  over(state.StatusFailed, "agent_unusable", "agent_unusable", "claude is not logged in", "log in with: claude /login; then: ralph resume", 6),
		"dead": change(func(s *Snapshot) {
			s.Alive = false
			s.Status.Timestamp = now.Add(-340 * time.Second)
		}),
		"none": func() (Snapshot, []state.Event) {
			s := Snapshot{At: now, Dir: "/home/dev/shop-api", Breaker: state.Breaker{State: state.BreakerClosed}}
			s.settle()
			return s, nil
		},
	}
}

// simulate returns a screen that draws what it is given.
func simulate(t testing.TB, w, h int) tcell.SimulationScreen {
	t.Helper()
	screen := tcell.NewSimulationScreen("UTF-8")
	if err := screen.Init(); err != nil {
		t.Fatal(err)
	}
	screen.SetSize(w, h)
	t.Cleanup(screen.Fini)
	return screen
}

// still is a ui without a feed or an event loop, which shows one moment.
func still(s Snapshot, events []state.Event, now time.Time) *ui {
	u := newUI(Options{Dir: s.Dir, Now: func() time.Time { return now }}, &feed{reader: state.Open("/nowhere"), kick: make(chan struct{}, 1)})
	u.apply(update{snap: s, events: events})
	return u
}

func (u *ui) drawOn(screen tcell.SimulationScreen) {
	w, h := screen.Size()
	screen.Clear()
	u.SetRect(0, 0, w, h)
	u.Draw(screen)
	screen.Show()
}

// text is what a person reads of the screen.
func text(screen tcell.SimulationScreen) string {
	cells, w, h := screen.GetContents()
	var b strings.Builder
	for y := range h {
		row := ""
		for x := 0; x < w; x++ {
			c := cells[y*w+x]
			row += string(c.Runes)
			if len(c.Runes) > 0 && cellWidth(c.Runes[0]) == 2 {
				x++
			}
		}
		b.WriteString(strings.TrimRight(row, " ") + "\n")
	}
	return b.String()
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *rewrite {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != got {
		t.Errorf("%s differs; got\n%s\nwant\n%s", path, got, want)
	}
}

// project writes state files that a feed reads.
type project struct {
	t   testing.TB
	dir string
	w   *state.Writer
}

func newProject(t testing.TB, s Snapshot, events []state.Event) *project {
	t.Helper()
	p := &project{t: t, dir: t.TempDir()}
	if s.Alive {
		w, _, err := state.Acquire(p.stateDir(), s.Owner)
		if err != nil {
			t.Fatal(err)
		}
		p.w = w
		t.Cleanup(p.release)
	} else if err := os.MkdirAll(p.stateDir(), 0o755); err != nil {
		t.Fatal(err)
	}
	p.json("status.json", s.Status)
	p.json(".circuit_breaker_state", s.Breaker)
	p.add(events...)
	return p
}

func (p *project) release() {
	if p.w != nil {
		_ = p.w.Release()
		p.w = nil
	}
}

func (p *project) stateDir() string { return filepath.Join(p.dir, state.DirName) }

func (p *project) json(name string, v any) {
	p.t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		p.t.Fatal(err)
	}
	path := filepath.Join(p.stateDir(), name)
	if err := os.WriteFile(path+".tmp", data, 0o600); err != nil {
		p.t.Fatal(err)
	}
	if err := os.Rename(path+".tmp", path); err != nil {
		p.t.Fatal(err)
	}
}

func (p *project) add(events ...state.Event) {
	p.t.Helper()
	file, err := os.OpenFile(filepath.Join(p.stateDir(), "events.jsonl"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		p.t.Fatal(err)
	}
	defer file.Close()
	for _, e := range events {
		data, err := json.Marshal(e)
		if err != nil {
			p.t.Fatal(err)
		}
		if _, err := file.Write(append(data, '\n')); err != nil {
			p.t.Fatal(err)
		}
	}
}

func until(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(bound); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if ok() {
			return
		}
	}
	t.Fatalf("no %s within %v", what, bound)
}
