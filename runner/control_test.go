package runner

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"ralph/internal/world"
	"ralph/runner/pool"
	"ralph/runner/rules"
	"ralph/runner/rules/pace"
	"ralph/state"
)

func TestRun_limit_costsNoIterationAndShowsUntilWhen(t *testing.T) {
	b := newBench(t, "limited-long", "[ ] one")
	ctx, cancel := context.WithCancelCause(t.Context())
	b.d.Tick = func(left time.Duration, d rules.Decision) {
		s, err := b.w.Status()
		if err != nil || s.Status != state.StatusWaiting || s.WakeAt.Before(time.Now().Add(4*time.Hour)) || s.Limit == nil || s.LoopCount != 0 {
			t.Errorf("status.json while waiting: %+v, %v", s, err)
		}
		cancel(&rules.Interrupt{Exit: state.ExitInterrupted, ExitReason: "interrupted", Why: "SIGINT"})
	}
	wantEnd(t, b.run(ctx), "interrupted", state.ExitInterrupted)
	if s, _ := b.w.Status(); s.LimitedUntil["claude"].Before(time.Now().Add(4 * time.Hour)) {
		t.Errorf("the limit is lost: %+v", s)
	}

	// The next run still waits, without a call; ralph resume ends the wait.
	b.d.RunID = "run-2"
	resumed := false
	b.d.Tick = func(time.Duration, rules.Decision) {
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
		stop(&rules.Interrupt{Exit: state.ExitInterrupted, ExitReason: "interrupted", Why: "enough"})
	}()
	b.run(ctx)
	if !resumed || b.calls() != 2 {
		t.Errorf("resumed %v, %d calls", resumed, b.calls())
	}
}

func TestRun_hourUsedUp_waitsWithoutACall(t *testing.T) {
	b := newBench(t, "worker", "[ ] one")
	b.o.CallsPerHour = 3
	if err := b.w.SaveCalls(state.Calls{Hour: pace.HourOf(time.Now()), Calls: 3}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	b.d.Tick = func(_ time.Duration, d rules.Decision) {
		if d.Rule != "hourly" {
			t.Errorf("waits for %s", d.Rule)
		}
		cancel(&rules.Interrupt{Exit: state.ExitInterrupted, Why: "SIGINT"})
	}
	wantEnd(t, b.run(ctx), "interrupted", state.ExitInterrupted)
	if b.calls() != 0 {
		t.Errorf("%d calls", b.calls())
	}
}

func TestRun_interruptedCall_leavesNothingAndKeepsTheWork(t *testing.T) {
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
					cancel(&rules.Interrupt{Exit: state.ExitTerminated, ExitReason: "interrupted", Why: "SIGTERM"})
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
				wantEnd(t, r, "interrupted", state.ExitTerminated)
			case "abort":
				wantEnd(t, r, "interrupted", state.ExitInterrupted)
			case "skip":
				wantEnd(t, r, "ceilings", state.ExitCeiling)
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
			for _, end := range payloads[state.IterationEnd](b) {
				files = end.Files
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

func files(dir string) []string { return glob(filepath.Join(dir, "[0-9]*")) }

func glob(pattern string) []string {
	found, _ := filepath.Glob(pattern)
	return found
}

func TestRun_stopRequest_endsAfterTheIteration(t *testing.T) {
	b := newBench(t, "worker", "[ ] one", "[ ] two", "[ ] three")
	b.d.Show = func(e state.Event) {
		if e.Kind == state.KindIterationStart && e.Iteration == 1 {
			b.ask(state.RequestStop)
		}
	}
	wantEnd(t, b.run(t.Context()), "interrupted", state.ExitInterrupted)
	if b.calls() != 1 {
		t.Errorf("%d calls", b.calls())
	}
}

func TestRun_pauseAndResume(t *testing.T) {
	b := newBench(t, "worker", "[ ] one", "[ ] two")
	paused := false
	b.d.Show = func(e state.Event) {
		if e.Kind != state.KindIterationStart || e.Iteration != 1 {
			return
		}
		for _, q := range []state.Request{state.RequestPause, state.RequestResume, state.RequestPause} {
			b.ask(q)
			want := map[bool]state.Request{true: q}[q == state.RequestPause]
			poll(t, "the pending request in the status", func() bool { s, _ := b.w.Status(); return s.Pending == want })
		}
	}
	b.d.Tick = func(time.Duration, rules.Decision) {
		if s, _ := b.w.Status(); s.Status == state.StatusPaused && s.Pending == "" {
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

func TestRun_skipWhileNoCallRuns_takesTheTaskAfterTheNext(t *testing.T) {
	world.Long(t, "a whole run with several calls")
	t.Parallel()
	b := newBench(t, "worker", "[ ] one", "[ ] two", "[ ] three")
	b.o.MaxIterations = 2
	var titles []string
	b.d.Show = func(e state.Event) {
		if start, ok := e.Data.(state.IterationStart); ok {
			titles = append(titles, start.Title)
			if len(titles) == 1 {
				b.ask(state.RequestPause)
			}
		}
	}
	show := b.d.Show
	b.d.Show = func(e state.Event) { show(e); b.seen = append(b.seen, e) }
	asked := false
	b.d.Tick = func(time.Duration, rules.Decision) {
		if !asked {
			asked = true
			if s, err := b.w.Status(); err != nil || s.Task.Title != "two" {
				t.Errorf("while it is paused, %q comes next, %v", s.Task.Title, err)
			}
			b.ask(state.RequestSkip)
			b.ask(state.RequestResume)
		}
	}
	b.run(t.Context())
	if got := strings.Join(titles, " "); got != "one three" {
		t.Errorf("worked on %s, want one three", got)
	}
	if said := b.said(); !strings.Contains(said, "Title:two State:skipped Why:ralph skip") {
		t.Errorf("said %s", said)
	}
}

// sendWhen sends a request as soon as something is so.
func (b *bench) sendWhen(q state.Request, what string, is func() bool) {
	go func() {
		poll(b.t, what, is)
		if err := state.Send(b.w.Dir(), q); err != nil {
			b.t.Error(err)
		}
	}()
}

// restatus changes what the last run has left.
func (b *bench) restatus(change func(*state.Status)) {
	b.t.Helper()
	s, err := b.w.Status()
	if err != nil {
		b.t.Fatal(err)
	}
	change(&s)
	if err := b.w.SaveStatus(s); err != nil {
		b.t.Fatal(err)
	}
}

// ask sends a request and waits until the runner has taken it.
func (b *bench) ask(q state.Request) {
	if err := state.Send(b.w.Dir(), q); err != nil {
		b.t.Error(err)
	}
	poll(b.t, "the request to be taken", func() bool { return len(files(b.w.Dir()+"/control")) == 0 })
}

// said is what the run reported besides the agent's words.
func (b *bench) said() string {
	var all []string
	for _, e := range b.seen {
		switch d := e.Data.(type) {
		case state.Decision:
			all = append(all, d.Reason)
		case state.Finding:
			all = append(all, d.Text+"; "+d.Answer)
		case state.TaskChange, state.AgentChange, state.Commit, state.Baseline:
			all = append(all, fmt.Sprintf("%+v", d))
		}
	}
	return strings.Join(all, "\n")
}

func TestRun_limitedAgent_isReplacedAndComesBack(t *testing.T) {
	if testing.Short() {
		t.Skip("long: waits for a limit")
	}
	t.Parallel()
	b := newBench(t, "shared", "[ ] one", "[ ] two")
	b.o.FallbackAgents, b.o.Model = []string{"codex"}, "opus"
	b.o.Delay = pool.LimitMargin + 3*time.Second // claude is free again then
	wantEnd(t, b.run(t.Context()), "complete", 0)
	for call, want := range []string{"claude", "codex", "claude"} {
		if got := b.read("who-" + strconv.Itoa(call+1)); !strings.HasPrefix(got, want+" ") {
			t.Errorf("call %d was made by %s, want %s", call+1, got, want)
		}
	}
	if who := b.read("who-2"); strings.Contains(who, "opus") {
		t.Errorf("the fallback was asked for a model of another vendor: %s", who)
	}
	switches := payloads[state.AgentChange](b)
	if len(switches) != 2 || switches[0].Name != "codex" || switches[0].Instead != "claude" || switches[0].Until.IsZero() || switches[1].Name != "claude" {
		t.Errorf("reported %+v", switches)
	}
	if got := b.rules(); !strings.Contains(got, "usage_limit") {
		t.Errorf("rules %s", got)
	}
}

func TestRun_agentOfTaskAndPlan_beatTheOption(t *testing.T) {
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

func TestRun_taskNamesAnUnknownAgent_stopsWithTheName(t *testing.T) {
	t.Parallel()
	b := newBench(t, "worker", "[ ] one <!-- ralph: agent=no-such -->")
	r := b.run(t.Context())
	wantEnd(t, r, "plan_unusable", state.ExitUsage)
	if !strings.Contains(r.Decision.Reason, "no-such") || b.calls() != 0 {
		t.Errorf("%s, %d calls", r.Decision.Reason, b.calls())
	}
}

func TestRun_agentChosenMeanwhile_worksFromTheNextTurn(t *testing.T) {
	t.Parallel()
	b := newBench(t, "shared", "[ ] one", "[ ] two")
	b.o.Model = "opus"
	show := b.d.Show
	b.d.Show = func(e state.Event) {
		show(e)
		if d, ok := e.Data.(state.IterationStart); ok && d.Title == "one" {
			if err := state.Use(b.w.Dir(), state.AgentUse{Run: b.d.RunID, Agent: "codex", Model: "mini"}); err != nil {
				t.Error(err)
			}
		}
	}
	wantEnd(t, b.run(t.Context()), "complete", 0)
	if who := b.read("who-1"); !strings.HasPrefix(who, "claude ") || !strings.Contains(who, "opus") {
		t.Errorf("first turn: %s", who)
	}
	if who := b.read("who-2"); !strings.HasPrefix(who, "codex ") || !strings.Contains(who, "mini") {
		t.Errorf("second turn: %s", who)
	}
	if s, err := b.w.Status(); err != nil || s.Agent != "codex" || s.AgentFrom != "agent use" {
		t.Errorf("status %s, named by %q, %v", s.Agent, s.AgentFrom, err)
	}
}

// A stop takes nothing from a run whose last task is done and proven.
func TestRun_stopDuringTheLastTask_endsAsWithoutIt(t *testing.T) {
	for name, c := range map[string]struct {
		agent, check, rule string
		exit               int
	}{
		"done":                     {"worker", "true", "complete", state.ExitComplete},
		"done without checks":      {"worker", "", "complete", state.ExitComplete},
		"done, and nobody says so": {"unsaid", "", "plan_complete", state.ExitComplete},
		"to review":                {"repairs", "true", "review", state.ExitReview},
		"a check fails":            {"worker", "false", "interrupted", state.ExitInterrupted},
		"the agent contradicts":    {"contradicts", "", "interrupted", state.ExitInterrupted},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, c.agent, "[ ] one")
			b.write("a_test.go", "package a\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) {}\n")
			b.inGit()
			b.o.AntiCheat = "warn"
			if c.check != "" {
				b.check(c.check)
			}
			show := b.d.Show
			b.d.Show = func(e state.Event) {
				show(e)
				if e.Kind == state.KindIterationStart && e.Iteration == 1 {
					b.ask(state.RequestStop)
				}
			}
			wantEnd(t, b.run(t.Context()), c.rule, c.exit)
			if b.calls() != 1 {
				t.Errorf("%d calls", b.calls())
			}
		})
	}
}

func TestRun_secondsOfAnIteration_includeItsChecks(t *testing.T) {
	t.Parallel()
	b := newBench(t, "worker", "[ ] one")
	b.check("sleep 1.5")
	wantEnd(t, b.run(t.Context()), "complete", 0)
	for _, end := range payloads[state.IterationEnd](b) {
		if end.Seconds < 1.5 {
			t.Errorf("%.1f seconds", end.Seconds)
		}
	}
}
