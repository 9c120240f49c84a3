package runner

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ralph/runner/agent"
	"ralph/runner/gate"
	"ralph/runner/pool"
	"ralph/runner/rules/pace"
	"ralph/state"
)

func (b *bench) run(ctx context.Context) Ending {
	b.t.Helper()
	r, err := New(b.o, b.d).Run(ctx)
	if err != nil {
		b.t.Fatal(err)
	}
	return r
}

func wantEnd(t *testing.T, r Ending, rule string, exit int) {
	t.Helper()
	if r.Decision.Rule != rule || r.Decision.Exit != exit {
		t.Errorf("ended by %s with %d (%s), want %s with %d", r.Decision.Rule, r.Decision.Exit, r.Decision.Reason, rule, exit)
	}
}

func TestRun_wholeRuns(t *testing.T) {
	three := []string{"[ ] one", "[ ] two", "[ ] three"}
	tests := []struct {
		name, agent string
		boxes       []string
		set         func(*bench)
		rule        string
		exit, calls int
		status      string
		reason      string // exit_reason
	}{
		{"works the plan off", "worker", three, nil, "complete", 0, 3, "completed", "plan_complete"},
		{"nothing left at the start", "worker", []string{"[x] one"}, nil, "plan_complete", 0, 0, "completed", "plan_complete"},
		{"idles", "idler", three, nil, "stagnation", 3, 3, "halted", "stagnation_detected"},
		{"insists", "claimer", three, nil, "claimed_incomplete", 8, 2, "stopped", "claimed_incomplete"},
		{"signals twice without a plan", "claimer", nil, nil, "complete", 0, 2, "completed", "project_complete"},
		{"says in words twice without a plan, and changes nothing", "chatterbox", nil, nil, "complete", 0, 2, "completed", "project_complete"},
		{"says in words for ever without a plan, and changes a file", "busy-chatterbox", nil, nil, "ceilings", 4, 10, "stopped", "max_iterations"},
		{"is denied twice", "refused", three, nil, "permission_denied", 3, 2, "halted", "permission_denied"},
		{"is not logged in", "loggedout", three, nil, "agent_unusable", 6, 1, "failed", "agent_unusable"},
		{"only tests", "tester", three, nil, "test_saturation", 3, 3, "halted", "test_saturation"},
		{"crashes the same way", "crasher", three, nil, "same_error", 3, 5, "halted", "same_error"},
		{"is bounded by iterations", "worker", three, func(b *bench) { b.o.MaxIterations = 2 }, "ceilings", 4, 2, "stopped", "max_iterations"},
		{"is bounded by cost", "worker", three, func(b *bench) { b.o.MaxCost = 0.5 }, "ceilings", 4, 2, "stopped", "max_cost"},
		{"waits for a limit", "limited", three, nil, "complete", 0, 4, "completed", "plan_complete"},
		{"stops at a limit when told to", "limited-long", three, func(b *bench) { b.o.OnLimit = "stop" }, "usage_limit", 7, 1, "stopped", "usage_limit"},
		{"deletes the state directory twice", "vandal", three, nil, "integrity", 3, 2, "halted", "integrity_failure"},
		{"quotes limits and signals of others", "quoter", three, func(b *bench) { b.o.MaxIterations = 2 }, "ceilings", 4, 2, "stopped", "max_iterations"},
		{"empties the plan", "eraser", nil, planOutside, "plan_unusable", 2, 3, "failed", "plan_unusable"},
		{"removes the plan", "remover", nil, planOutside, "plan_unusable", 2, 3, "failed", "plan_unusable"},
		{"repairs what a check found", "checked", []string{"[ ] one"}, func(b *bench) { b.check("test -f green || { echo the check is red; exit 1; }") }, "complete", 0, 2, "completed", "plan_complete"},
		{"meets an overloaded service", "flaky-service", []string{"[ ] one"}, nil, "complete", 0, 2, "completed", "plan_complete"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, tt.agent, tt.boxes...)
			if tt.set != nil {
				tt.set(b)
			}
			r := b.run(t.Context())
			wantEnd(t, r, tt.rule, tt.exit)
			if got := b.calls(); got != tt.calls {
				t.Errorf("%d calls, want %d (%s)", got, tt.calls, b.rules())
			}
			s, err := b.w.Status()
			if err != nil || s.Status != tt.status || s.ExitReason != tt.reason || s.Rule != tt.rule || s.ExitCode != tt.exit {
				t.Errorf("status.json: %s %s %s %d, %v", s.Status, s.ExitReason, s.Rule, s.ExitCode, err)
			}
			if c, err := b.w.Calls(); err != nil || c.Calls != tt.calls {
				t.Errorf("counted %d calls, %v; %d were made", c.Calls, err, tt.calls)
			}
		})
	}
}

func planOutside(b *bench) {
	b.write("plan.md", "- [ ] one\n- [ ] two\n")
	b.d.Plan = filepath.Join(b.dir, "plan.md")
}

func TestRun_prompt_remembersTheLastIterationAndTheRefusedClaim(t *testing.T) {
	b := newBench(t, "memory", "[ ] first thing", "[ ] second thing")
	wantEnd(t, b.run(t.Context()), "complete", 0)
	first, second := b.read("prompt-1"), b.read("prompt-2")
	for _, want := range []string{"Do the next task.", "first thing", "RALPH_STATUS"} {
		if !strings.Contains(first, want) {
			t.Errorf("the first prompt lacks %q", want)
		}
	}
	for _, want := range []string{"look at the parser", "2 of 2 tasks are open"} {
		if !strings.Contains(second, want) {
			t.Errorf("the second prompt lacks %q:\n%s", want, second)
		}
	}
	kept, err := os.ReadFile(b.w.PromptPath("run-1", 2))
	if err != nil || string(kept) != second {
		t.Errorf("the prompt kept on disk is not the one that was sent: %v", err)
	}
	raw, err := os.ReadFile(b.w.RawPath("run-1", 1))
	if err != nil || !strings.Contains(string(raw), "First half.") {
		t.Errorf("raw output: %v", err)
	}
}

func TestRun_promptAndKeys_areNeverInArgv(t *testing.T) {
	b := newBench(t, "argv", "[ ] one")
	b.write(".ralph/PROMPT.md", strings.Repeat("a long prompt ", 100_000))
	wantEnd(t, b.run(t.Context()), "complete", 0)
	if argv := b.read("argv"); strings.Contains(argv, "a long prompt") || !strings.Contains(argv, "stream-json") {
		t.Errorf("argv: %.300q", argv)
	}
}

func TestRun_staleSession_isForgottenAndTriedOnceFresh(t *testing.T) {
	b := newBench(t, "resumer", "[ ] one", "[ ] two")
	b.o.Continue = true
	wantEnd(t, b.run(t.Context()), "complete", 0)
	if got := b.read("argv-2"); !strings.Contains(got, "--resume session-1") {
		t.Errorf("second call: %s", got)
	}
	if got := b.read("argv-3"); strings.Contains(got, "--resume") {
		t.Errorf("third call: %s", got)
	}
	if s, _ := b.w.Session(); s.SessionID != "session-3" {
		t.Errorf("session %+v", s)
	}
}

// amp prints nothing but terminal codes about a thread that is gone, and exits with 1.
func TestRun_resumedCallThatSaysNothing_isTriedOnceFresh(t *testing.T) {
	t.Parallel()
	b := newBench(t, "worker", "[ ] one", "[ ] two")
	spec, err := agent.Find("amp")
	if err != nil {
		t.Fatal(err)
	}
	self, _ := os.Executable()
	b.write("amp.sh", `case " $* " in *" threads continue "*) echo "$*" >>resumed; printf '\033[=0u\033[<u\033[?25h'; exit 1;; esac; exec `+self+"\n")
	b.d.Agents = func(string) (pool.Agent, error) {
		return pool.Agent{Spec: spec, Program: []string{"/bin/sh", filepath.Join(b.dir, "amp.sh")}}, nil
	}
	b.o.Agent, b.o.Continue = "amp", true
	r := b.run(t.Context())
	wantEnd(t, r, "complete", 0)
	if got := b.read("resumed"); strings.Count(got, "\n") != 1 || !strings.Contains(got, "threads continue session-1 ") || r.Iterations != 2 {
		t.Errorf("%d iterations, resumed: %s", r.Iterations, got)
	}
	if s, _ := b.w.Session(); s.SessionID != "session-2" {
		t.Errorf("session %+v", s)
	}
}

func TestRun_freshContext_resumesNothing(t *testing.T) {
	b := newBench(t, "argv", "[ ] one", "[ ] two")
	b.run(t.Context())
	if got := b.read("argv"); strings.Contains(got, "--resume") || strings.Contains(got, "--continue") {
		t.Errorf("argv %q", got)
	}
}

func TestRun_events_areOneJSONLineEachAndEndWithTheReason(t *testing.T) {
	b := newBench(t, "worker", "[ ] one")
	b.run(t.Context())
	f, err := os.Open(b.w.EventsPath())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var kinds []string
	var last state.Event
	for s := bufio.NewScanner(f); s.Scan(); {
		last = state.Event{}
		if err := json.Unmarshal(s.Bytes(), &last); err != nil {
			t.Fatalf("%v in %s", err, s.Text())
		}
		if last.Run != "run-1" || last.Time.IsZero() || last.V != state.EventVersion || last.Seq != int64(len(kinds)+1) {
			t.Errorf("unstamped: %s", s.Text())
		}
		kinds = append(kinds, string(last.Kind))
	}
	want := "run_start iteration_start session usage result iteration_end run_end"
	got := strings.Join(kinds, " ")
	for _, k := range strings.Fields(want) {
		if !strings.Contains(got, k) {
			t.Errorf("events %s lack %s", got, k)
		}
	}
	if end, ok := last.Data.(state.RunEnd); !ok || end.Rule != "complete" {
		t.Errorf("last event %+v", last)
	}
}

func TestRun_afterAKilledRun_goesOnWithCountsAndWithoutItsSignals(t *testing.T) {
	b := newBench(t, "worker", "[ ] one")
	now := time.Now()
	if err := b.w.SaveStatus(state.Status{RunID: "run-0", Status: state.StatusRunning, LoopCount: 4, IterationStartedAt: now}); err != nil {
		t.Fatal(err)
	}
	if err := b.w.SaveSignals(state.Signals{CompletionIndicators: []int{3, 4}, DoneSignals: []int{3, 4}}); err != nil {
		t.Fatal(err)
	}
	if err := b.w.SaveCalls(state.Calls{Hour: pace.HourOf(now), Calls: 4}); err != nil {
		t.Fatal(err)
	}
	b.write(".ralph/control/00000000000000000001-1-abort", "")
	wantEnd(t, b.run(t.Context()), "complete", 0)
	if _, err := os.Stat(filepath.Join(b.w.Dir(), "control/00000000000000000001-1-abort")); err == nil {
		t.Error("a request of the dead run is left")
	}
	if c, _ := b.w.Calls(); c.Calls != 5 {
		t.Errorf("counted %d calls, want 5", c.Calls)
	}
	if start, ok := b.seen[0].Data.(state.RunStart); !ok || start.Killed != "run-0" || start.KilledIteration != 5 {
		t.Errorf("first event: %+v", b.seen[0])
	}
}

func TestRun_resumed_goesOnCounting(t *testing.T) {
	b := newBench(t, "worker", "[ ] one", "[ ] two", "[ ] three")
	b.o.MaxIterations = 1
	wantEnd(t, b.run(t.Context()), "ceilings", state.ExitCeiling)
	b.d.Resumed, b.o.MaxIterations = true, 2
	r := b.run(t.Context())
	wantEnd(t, r, "ceilings", state.ExitCeiling)
	if b.calls() != 2 || r.Iterations != 2 || r.Usage.CostUSD != 0.5 {
		t.Errorf("%d calls, %+v", b.calls(), r)
	}
}

func TestRun_openBreaker_haltsBeforeACallAndCoolsDownByItself(t *testing.T) {
	b := newBench(t, "worker", "[ ] one")
	opened := state.Breaker{State: state.BreakerOpen, NoProgress: 3, OpenedAt: time.Now(), Reason: "no progress"}
	if err := b.w.SaveBreaker(opened); err != nil {
		t.Fatal(err)
	}
	wantEnd(t, b.run(t.Context()), "stagnation", state.ExitHalted)
	if b.calls() != 0 {
		t.Errorf("%d calls", b.calls())
	}
	opened.OpenedAt = time.Now().Add(-b.o.Cooldown)
	if err := b.w.SaveBreaker(opened); err != nil {
		t.Fatal(err)
	}
	wantEnd(t, b.run(t.Context()), "complete", 0)
	if got, _ := b.w.Breaker(); got.State != state.BreakerClosed {
		t.Errorf("breaker %+v", got)
	}
}

// What earlier runs idled says nothing about a new one; only a resumed run goes on counting.
func TestRun_idleIterationsOfTheRunBefore_countOnlyForTheSameRun(t *testing.T) {
	for name, c := range map[string]struct {
		resumed bool
		left    string // the breaker's state
		calls   int
	}{"new": {false, state.BreakerHalfOpen, 3}, "new after one": {false, state.BreakerClosed, 3}, "resumed": {true, state.BreakerHalfOpen, 1}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, "idler", "[ ] one")
			if err := b.w.SaveBreaker(state.Breaker{State: c.left, NoProgress: 2, SameError: 4, LastError: "x", TotalOpens: 7}); err != nil {
				t.Fatal(err)
			}
			b.d.Resumed = c.resumed
			wantEnd(t, b.run(t.Context()), "stagnation", state.ExitHalted)
			if br, err := b.w.Breaker(); b.calls() != c.calls || br.TotalOpens != 8 || err != nil {
				t.Errorf("%d calls, want %d; %+v, %v", b.calls(), c.calls, br, err)
			}
		})
	}
}

func TestRun_autoReset_closesAnOpenBreaker(t *testing.T) {
	b := newBench(t, "worker", "[ ] one")
	b.o.AutoReset = true
	if err := b.w.SaveBreaker(state.Breaker{State: state.BreakerOpen, NoProgress: 3, OpenedAt: time.Now()}); err != nil {
		t.Fatal(err)
	}
	wantEnd(t, b.run(t.Context()), "complete", 0)
}

func TestRun_prompt_listsTheRequiredChecksAndTheMode(t *testing.T) {
	t.Parallel()
	const key = "ghp_0123456789abcdefghijklmnopqrstuvwxyzAB"
	b := newBench(t, "memory", "[ ] first thing", "[ ] second thing")
	b.d.Checks = []gate.Check{{Name: "unit", Command: "true " + key}, {Name: "style", Command: "true style", Optional: true}}
	b.d.Mode, b.o.MaxIterations, b.o.MaxPerTask = gate.ModeTDD, 1, 7
	b.run(t.Context())
	got := b.read("prompt-1")
	for _, want := range []string{"- unit: `true ", "(mode tdd)", "Status: open, attempt 1 of 7.", "Commit only when the checks above pass, or fail only as they did before the run."} {
		if !strings.Contains(got, want) {
			t.Errorf("the prompt lacks %q:\n%s", want, got)
		}
	}
	if strings.Contains(got, "style") || strings.Contains(got, key) {
		t.Errorf("the prompt has an optional check, or a key:\n%s", got)
	}
}

func TestRun_prompt_namesTheStateInTheWordOfThePlan(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ plan, first, want string }{
		"begun by ralph": {".ralph/tasks.json", `"pending"`, "Status: in_progress, attempt 1"},
		"begun before":   {".ralph/tasks.json", `"in_progress"`, "Status: in_progress, attempt 1"},
		"other spelling": {".ralph/tasks.json", `"In Progress"`, "Status: In Progress, attempt 1"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, "memory")
			b.write(c.plan, `{"tasks": [{"id": "1", "name": "first thing", "status": `+c.first+`}]}`)
			b.d.Plan, b.o.MaxIterations = filepath.Join(b.dir, c.plan), 1
			b.run(t.Context())
			if got := b.read("prompt-1"); !strings.Contains(got, c.want) {
				t.Errorf("the prompt lacks %q:\n%s", c.want, got)
			}
		})
	}
}
