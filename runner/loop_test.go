package runner

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"ralph/state"
)

func (b *bench) run(ctx context.Context) Result {
	b.t.Helper()
	r, err := New(b.o, b.d).Run(ctx)
	if err != nil {
		b.t.Fatal(err)
	}
	return r
}

func wantEnd(t *testing.T, r Result, rule string, exit int) {
	t.Helper()
	if r.Decision.Rule != rule || r.Decision.Exit != exit {
		t.Errorf("ended by %s with %d (%s), want %s with %d", r.Decision.Rule, r.Decision.Exit, r.Decision.Reason, rule, exit)
	}
}

func TestLoop_wholeRuns(t *testing.T) {
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
		{"empties the plan", "eraser", nil, planOutside, "plan_unusable", 2, 1, "failed", "plan_unusable"},
		{"removes the plan", "remover", nil, planOutside, "plan_unusable", 2, 1, "failed", "plan_unusable"},
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

func TestLoop_limit_costsNoIterationAndShowsUntilWhen(t *testing.T) {
	b := newBench(t, "limited-long", "[ ] one")
	ctx, cancel := context.WithCancelCause(t.Context())
	b.d.Tick = func(left time.Duration, d Decision) {
		s, err := b.w.Status()
		if err != nil || s.Status != state.StatusWaiting || s.WakeAt.Before(time.Now().Add(4*time.Hour)) || s.Limit == nil || s.LoopCount != 0 {
			t.Errorf("status.json while waiting: %+v, %v", s, err)
		}
		cancel(&Interrupt{Exit: ExitInterrupted, ExitReason: "interrupted", Why: "SIGINT"})
	}
	wantEnd(t, b.run(ctx), "interrupted", ExitInterrupted)
	if s, _ := b.w.Status(); s.WakeAt.Before(time.Now().Add(4 * time.Hour)) {
		t.Errorf("wake_at is lost: %+v", s)
	}

	// The next run still waits, without a call; ralph resume ends the wait.
	b.d.RunID = "run-2"
	resumed := false
	b.d.Tick = func(time.Duration, Decision) {
		if b.calls() == 2 {
			return // the second call is limited again; ended below
		}
		if b.calls() != 1 {
			t.Error("a call was made while the limit lasts")
		}
		resumed = true
		if err := state.Send(b.w.Dir(), state.RequestResume); err != nil {
			t.Error(err)
		}
	}
	ctx, stop := context.WithCancelCause(t.Context())
	go func() {
		poll(t, "a second call", func() bool { return b.calls() >= 2 })
		stop(&Interrupt{Exit: ExitInterrupted, ExitReason: "interrupted", Why: "enough"})
	}()
	b.run(ctx)
	if !resumed || b.calls() != 2 {
		t.Errorf("resumed %v, %d calls", resumed, b.calls())
	}
}

func TestLoop_hourUsedUp_waitsWithoutACall(t *testing.T) {
	b := newBench(t, "worker", "[ ] one")
	b.o.CallsPerHour = 3
	if err := b.w.SaveCalls(state.Calls{Hour: hourOf(time.Now()), Calls: 3}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	b.d.Tick = func(_ time.Duration, d Decision) {
		if d.Rule != "hourly" {
			t.Errorf("waits for %s", d.Rule)
		}
		cancel(&Interrupt{Exit: ExitInterrupted, Why: "SIGINT"})
	}
	wantEnd(t, b.run(ctx), "interrupted", ExitInterrupted)
	if b.calls() != 0 {
		t.Errorf("%d calls", b.calls())
	}
}

func TestLoop_interruptedCall_leavesNothingAndKeepsTheWork(t *testing.T) {
	for _, how := range []string{"context", "abort", "skip"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, "sleeper", "[ ] one", "[ ] two")
			b.o.MaxIterations = 1
			ctx, cancel := context.WithCancelCause(t.Context())
			go func() {
				waitFor(t, filepath.Join(b.dir, "grandchild"))
				switch how {
				case "context":
					cancel(&Interrupt{Exit: ExitTerminated, ExitReason: "interrupted", Why: "SIGTERM"})
				default:
					if err := state.Send(b.w.Dir(), state.Request(how)); err != nil {
						t.Error(err)
					}
				}
			}()
			start := time.Now()
			r := b.run(ctx)
			switch how {
			case "context":
				wantEnd(t, r, "interrupted", ExitTerminated)
			case "abort":
				wantEnd(t, r, "interrupted", ExitInterrupted)
			case "skip":
				wantEnd(t, r, "ceilings", ExitCeiling)
			}
			if took := time.Since(start); took > 30*time.Second {
				t.Errorf("took %s", took)
			}
			for _, name := range []string{"started", "grandchild"} {
				pid, err := strconv.Atoi(b.read(name))
				if err != nil {
					t.Fatal(err)
				}
				if err := syscall.Kill(pid, 0); err == nil {
					t.Errorf("%s (pid %d) is still there", name, pid)
				}
			}
			var files int
			for _, e := range b.seen {
				if e.Kind == state.KindIterationEnd {
					files = e.End.Files
				}
			}
			if files == 0 {
				t.Error("the work of the call was not seen")
			}
		})
	}
}

func waitFor(t *testing.T, path string) {
	poll(t, path, func() bool { data, err := os.ReadFile(path); return err == nil && len(data) > 0 })
}

// poll waits up to half a minute for something that another process does.
func poll(t *testing.T, what string, ok func() bool) {
	for range 3000 {
		if ok() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("never: %s", what)
}

func files(dir string) []string {
	found, _ := filepath.Glob(filepath.Join(dir, "[0-9]*"))
	return found
}

func TestLoop_stopRequest_endsAfterTheIteration(t *testing.T) {
	b := newBench(t, "worker", "[ ] one", "[ ] two", "[ ] three")
	b.d.Show = func(e state.Event) {
		if e.Kind == state.KindIterationStart && e.Iteration == 1 {
			b.ask(state.RequestStop)
		}
	}
	wantEnd(t, b.run(t.Context()), "interrupted", ExitInterrupted)
	if b.calls() != 1 {
		t.Errorf("%d calls", b.calls())
	}
}

func TestLoop_pauseAndResume(t *testing.T) {
	b := newBench(t, "worker", "[ ] one", "[ ] two")
	paused := false
	b.d.Show = func(e state.Event) {
		if e.Kind == state.KindIterationStart && e.Iteration == 1 {
			b.ask(state.RequestPause)
		}
	}
	b.d.Tick = func(time.Duration, Decision) {
		if s, _ := b.w.Status(); s.Status == state.StatusPaused {
			paused = true
		}
		if err := state.Send(b.w.Dir(), state.RequestResume); err != nil {
			t.Error(err)
		}
	}
	wantEnd(t, b.run(t.Context()), "complete", 0)
	if !paused {
		t.Error("it was never paused")
	}
}

func TestLoop_skipWhileNoCallRuns_takesTheTaskAfterTheNext(t *testing.T) {
	t.Parallel()
	b := newBench(t, "worker", "[ ] one", "[ ] two", "[ ] three")
	b.o.MaxIterations = 2
	var titles []string
	b.d.Show = func(e state.Event) {
		if e.Kind == state.KindIterationStart {
			titles = append(titles, e.Text)
			if len(titles) == 1 {
				b.ask(state.RequestPause)
			}
		}
	}
	asked := false
	b.d.Tick = func(time.Duration, Decision) {
		if !asked {
			asked = true
			b.ask(state.RequestSkip)
			b.ask(state.RequestResume)
		}
	}
	b.run(t.Context())
	if got := strings.Join(titles, " "); got != "one three" {
		t.Errorf("worked on %s, want one three", got)
	}
}

// ask sends a request and waits until the runner has taken it.
func (b *bench) ask(q state.Request) {
	if err := state.Send(b.w.Dir(), q); err != nil {
		b.t.Error(err)
	}
	poll(b.t, "the request to be taken", func() bool { return len(files(b.w.Dir()+"/control")) == 0 })
}

func TestLoop_prompt_remembersTheLastIterationAndTheRefusedClaim(t *testing.T) {
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

func TestLoop_promptAndKeys_areNeverInArgv(t *testing.T) {
	b := newBench(t, "argv", "[ ] one")
	b.write(".ralph/PROMPT.md", strings.Repeat("a long prompt ", 100_000))
	wantEnd(t, b.run(t.Context()), "complete", 0)
	if argv := b.read("argv"); strings.Contains(argv, "a long prompt") || !strings.Contains(argv, "stream-json") {
		t.Errorf("argv: %.300q", argv)
	}
}

func TestLoop_staleSession_isForgottenAndTriedOnceFresh(t *testing.T) {
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

func TestLoop_freshContext_resumesNothing(t *testing.T) {
	b := newBench(t, "argv", "[ ] one", "[ ] two")
	b.run(t.Context())
	if got := b.read("argv"); strings.Contains(got, "--resume") || strings.Contains(got, "--continue") {
		t.Errorf("argv %q", got)
	}
}

func TestLoop_events_areOneJSONLineEachAndEndWithTheReason(t *testing.T) {
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
		if last.Run != "run-1" || last.Time.IsZero() {
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
	if last.Kind != state.KindRunEnd || last.End == nil || last.End.Rule != "complete" {
		t.Errorf("last event %+v", last)
	}
}

func TestLoop_afterAKilledRun_goesOnWithCountsAndWithoutItsSignals(t *testing.T) {
	b := newBench(t, "worker", "[ ] one")
	now := time.Now()
	if err := b.w.SaveStatus(state.Status{RunID: "run-0", Status: state.StatusRunning, LoopCount: 4}); err != nil {
		t.Fatal(err)
	}
	if err := b.w.SaveSignals(state.Signals{CompletionIndicators: []int{3, 4}, DoneSignals: []int{3, 4}}); err != nil {
		t.Fatal(err)
	}
	if err := b.w.SaveCalls(state.Calls{Hour: hourOf(now), Calls: 4}); err != nil {
		t.Fatal(err)
	}
	if err := state.Send(b.w.Dir(), state.RequestAbort); err != nil {
		t.Fatal(err)
	}
	wantEnd(t, b.run(t.Context()), "complete", 0)
	if c, _ := b.w.Calls(); c.Calls != 5 {
		t.Errorf("counted %d calls, want 5", c.Calls)
	}
	if !strings.Contains(b.seen[0].Text, "run-0 before it was killed in iteration 5") {
		t.Errorf("first event: %s", b.seen[0].Text)
	}
}

func TestLoop_resumed_goesOnCounting(t *testing.T) {
	b := newBench(t, "worker", "[ ] one", "[ ] two", "[ ] three")
	b.o.MaxIterations = 1
	wantEnd(t, b.run(t.Context()), "ceilings", ExitCeiling)
	b.d.Resumed, b.o.MaxIterations = true, 2
	r := b.run(t.Context())
	wantEnd(t, r, "ceilings", ExitCeiling)
	if b.calls() != 2 || r.Iterations != 2 || r.Usage.CostUSD != 0.5 {
		t.Errorf("%d calls, %+v", b.calls(), r)
	}
}

func TestLoop_openBreaker_haltsBeforeACallAndCoolsDownByItself(t *testing.T) {
	b := newBench(t, "worker", "[ ] one")
	opened := state.Breaker{State: state.BreakerOpen, NoProgress: 3, OpenedAt: time.Now(), Reason: "no progress"}
	if err := b.w.SaveBreaker(opened); err != nil {
		t.Fatal(err)
	}
	wantEnd(t, b.run(t.Context()), "stagnation", ExitHalted)
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

func TestLoop_autoReset_closesAnOpenBreaker(t *testing.T) {
	b := newBench(t, "worker", "[ ] one")
	b.o.AutoReset = true
	if err := b.w.SaveBreaker(state.Breaker{State: state.BreakerOpen, NoProgress: 3, OpenedAt: time.Now()}); err != nil {
		t.Fatal(err)
	}
	wantEnd(t, b.run(t.Context()), "complete", 0)
}

func (b *bench) said() string {
	var all []string
	for _, e := range b.seen {
		if e.Kind == state.KindDecision {
			all = append(all, e.Text)
		}
	}
	return strings.Join(all, "\n")
}

func TestLoop_limitedAgent_isReplacedAndComesBack(t *testing.T) {
	t.Parallel()
	b := newBench(t, "shared", "[ ] one", "[ ] two")
	b.o.FallbackAgents, b.o.Model = []string{"codex"}, "opus"
	b.o.Delay = limitMargin + 3*time.Second // claude is free again then
	wantEnd(t, b.run(t.Context()), "complete", 0)
	for call, want := range []string{"claude", "codex", "claude"} {
		if got := b.read("who-" + strconv.Itoa(call+1)); !strings.HasPrefix(got, want+" ") {
			t.Errorf("call %d was made by %s, want %s", call+1, got, want)
		}
	}
	if who := b.read("who-2"); strings.Contains(who, "opus") {
		t.Errorf("the fallback was asked for a model of another vendor: %s", who)
	}
	if said := b.said(); !strings.Contains(said, "agent codex instead of claude, which is limited until") || !strings.Contains(said, "agent claude") {
		t.Errorf("switches were not said: %s", said)
	}
	if got := b.rules(); !strings.Contains(got, "usage_limit") {
		t.Errorf("rules %s", got)
	}
}

func TestLoop_agentOfTaskAndPlan_beatTheOption(t *testing.T) {
	t.Parallel()
	b := newBench(t, "shared", "[ ] one <!-- ralph: agent=gemini model=pro -->", "[ ] two")
	b.write(planName, "<!-- ralph: agent=codex -->\n"+b.read(planName))
	b.o.Model = "opus"
	wantEnd(t, b.run(t.Context()), "complete", 0)
	if who := b.read("who-1"); !strings.HasPrefix(who, "gemini ") || !strings.Contains(who, "pro") {
		t.Errorf("first task: %s", who)
	}
	if who := b.read("who-2"); !strings.HasPrefix(who, "codex ") || strings.Contains(who, "opus") {
		t.Errorf("second task: %s", who)
	}
}

func TestLoop_taskNamesAnUnknownAgent_stopsWithTheName(t *testing.T) {
	t.Parallel()
	b := newBench(t, "worker", "[ ] one <!-- ralph: agent=no-such -->")
	r := b.run(t.Context())
	wantEnd(t, r, "plan_unusable", ExitUsage)
	if !strings.Contains(r.Decision.Reason, "no-such") || b.calls() != 0 {
		t.Errorf("%s, %d calls", r.Decision.Reason, b.calls())
	}
}
