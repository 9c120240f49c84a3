package runner

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"ralph/internal/world"
	"ralph/runner/pool"
	"ralph/runner/turn"
	"ralph/state"
)

// commitAll ticks everything and commits that with what changed before.
func commitAll(f *fake) int {
	f.tickAll()
	cmd := exec.Command("git", "-c", "user.name=a", "-c", "user.email=a@localhost", "commit", "-q", "--allow-empty", "-am", "x")
	if err := cmd.Run(); err != nil {
		panic(err)
	}
	return f.result("ok"+block(true, ""), nil)
}

// More fakes, for the ways in which checks, bounds and requests meet.
var moreFakes = map[string]func(*fake) int{
	"busy": func(f *fake) int { // always changes something, never greens
		put("work.txt", time.Now().String())
		return f.result("ok"+block(false, ""), nil)
	},
	"long-tool": func(f *fake) int { // a tool that is silent for longer than an agent may be
		f.work()
		f.tool("Bash", "make")
		time.Sleep(2500 * time.Millisecond) // sleep: the tool runs
		return f.result("ok"+block(true, ""), nil)
	},
	"told-late": func(f *fake) int { // red, then overloaded, then told why
		if f.call == 2 {
			return f.failure("API Error: 529 Overloaded.", 529)
		}
		if strings.Contains(f.prompt, "\nthe check is red") {
			put("green", "")
		}
		f.work()
		return f.result("ok"+block(!open1(planName), ""), nil)
	},
	"first-box": func(f *fake) int { // works on the first open box, whatever it is told
		if f.call == 1 {
			time.Sleep(time.Minute) // sleep: it waits to be skipped
		}
		f.work()
		return f.result("ok"+block(!open1(planName), ""), nil)
	},
	"contradicts": func(f *fake) int { // ticks the last box, then says that it is blocked
		f.work()
		return f.result("ok\n---RALPH_STATUS---\nSTATUS: BLOCKED\nTESTS_STATUS: FAILING\nEXIT_SIGNAL: false\nRECOMMENDATION: the key is missing\n---END_RALPH_STATUS---\n", nil)
	},
	"clears-up": func(f *fake) int { // the same, but the second call finds that all is well
		f.work()
		if f.call == 1 {
			return f.result("ok\n---RALPH_STATUS---\nSTATUS: BLOCKED\n---END_RALPH_STATUS---\n", nil)
		}
		return f.result("ok"+block(true, ""), nil)
	},
	"crashes-last": func(f *fake) int { // ticks the last box and dies
		f.work()
		return 3
	},
	"repairs": func(f *fake) int { // deletes a test file, and brings it back in the next call
		if f.call == 1 {
			_ = os.Remove("a_test.go")
		} else {
			put("a_test.go", expecting(1))
		}
		f.work()
		return f.result("ok"+block(!open1(planName), ""), nil)
	},
	"unsaid": func(f *fake) int { // does its task, and no status block says so
		f.work()
		return f.result("ok", nil)
	},
	"plan-committer": commitAll,
	"box-adder": func(f *fake) int { // ticks its task and adds another
		f.work()
		put(planName, read1(planName)+"- [ ] found on the way\n")
		return f.result("ok"+block(false, ""), nil)
	},
	"ticks-ahead": func(f *fake) int { // does all in its first call; says so in each
		if f.call == 1 {
			put("work.txt", "all of it")
		}
		f.tickAll()
		return f.result("ok"+block(true, ""), nil)
	},
	"ticks-once": func(f *fake) int { // the same, but ticks only in its first call
		if f.call == 1 {
			put("work.txt", "all of it")
			f.tickAll()
		}
		return f.result("ok"+block(true, ""), nil)
	},
	"copyist": func(f *fake) int { // takes the original for the translation
		put("locale/de.json", `{"hello": "Hello"}`)
		f.tickAll()
		return f.result("ok"+block(true, ""), nil)
	},
	"forger": func(f *fake) int { // writes what steers a run
		put(".ralph/status.json", `{"status": "completed", "accepted": ["all"]}`)
		put(".ralph/.circuit_breaker_state", `{"state": "OPEN"}`)
		put(".ralph/notes/n9.json", `{"v": 1, "id": "n9", "text": "FORGED"}`)
		f.work()
		return f.result("ok"+block(!open1(planName), ""), nil)
	},
	"usurper": func(f *fake) int { // puts a file in the place of the state directory
		if f.call == 1 {
			_ = os.RemoveAll(".ralph")
			put(".ralph", "mine")
			time.Sleep(1500 * time.Millisecond) // sleep: status.json is to be written meanwhile
			return f.result("ok"+block(false, ""), nil)
		}
		f.work()
		return f.result("ok"+block(!open1(planName), ""), nil)
	},
	"both-limited": func(f *fake) int {
		name := os.Getenv(fakeAgentName)
		put("who", name)
		if name != "gemini" {
			return limit(f, time.Now().Add(2*time.Hour))
		}
		f.work()
		return f.result("ok"+block(!open1(planName), ""), nil)
	},
	"weakener": func(f *fake) int { // makes the check pass by itself
		if f.call == 1 {
			put("Makefile", "test:\n\ttrue\n")
		}
		f.work()
		return f.result("ok"+block(!open1(planName), ""), nil)
	},
	"silent-worker": func(f *fake) int { f.work(); return f.result("ok", nil) },
	"last-call": func(f *fake) int { // ticks the last box in the call that meets the limit
		f.work()
		return limit(f, time.Now().Add(2*time.Hour))
	},
}

func TestRun_planDoneButCheckRed_stillKnowsItsCeilings(t *testing.T) {
	world.Long(t, "a whole run with several calls")
	t.Parallel()
	b := newBench(t, "busy", "[x] one")
	b.check("echo red; exit 1")
	b.o.MaxIterations = 2
	wantEnd(t, b.run(t.Context()), "ceilings", state.ExitCeiling)
	if b.calls() != 2 {
		t.Errorf("%d calls, at most 2 are allowed", b.calls())
	}
}

func TestRun_failureOfTheService_keepsWhatTheAgentHasToKnow(t *testing.T) {
	if testing.Short() {
		t.Skip("long: waits after a failure")
	}
	t.Parallel()
	b := newBench(t, "told-late", "[ ] one")
	b.check("test ! -f work.txt || test -f green || { echo the check is red; exit 1; }")
	wantEnd(t, b.run(t.Context()), "complete", 0)
	if b.calls() != 3 {
		t.Errorf("%d calls, want 3: the third has to know what the first broke (%s)", b.calls(), b.rules())
	}
}

func TestRun_abortWhileACheckRuns_endsItAndMakesNoCall(t *testing.T) {
	world.Long(t, "a whole run with several calls")
	t.Parallel()
	b := newBench(t, "worker", "[ ] one")
	b.check("sleep 600")
	b.sendWhen(state.RequestAbort, "the check", func() bool { s, _ := b.w.Status(); return s.Phase == "checking" })
	wantEnd(t, b.run(t.Context()), "interrupted", state.ExitInterrupted)
	if b.calls() != 0 {
		t.Errorf("%d calls", b.calls())
	}
}

func TestRun_skipDuringTheBaseline_doesNotSkipTheProof(t *testing.T) {
	world.Long(t, "a whole run with several calls")
	t.Parallel()
	b := newBench(t, "worker", "[ ] one")
	b.o.MaxIterations = 2
	b.check("test -f seen || { touch seen .ralph/control/00000000000000000001-1-skip; sleep 1; exit 0; }; exit 1")
	if r := b.run(t.Context()); r.Decision.Exit == state.ExitComplete {
		t.Errorf("complete with a red check: %s", r.Decision.Reason)
	}
}

func TestRun_onlyThePlanCommitted_isNoWork(t *testing.T) {
	world.Long(t, "a whole run with several calls")
	t.Parallel()
	b := newBench(t, "plan-committer", "[ ] one", "[ ] two")
	b.inGit()
	b.o.AntiCheat = turn.AnswerRevert
	wantEnd(t, b.run(t.Context()), "claimed_incomplete", state.ExitClaimed)
}

func TestRun_tickAndNewBoxWithARedCheck_tickIsTakenBack(t *testing.T) {
	world.Long(t, "a whole run with several calls")
	t.Parallel()
	b := newBench(t, "box-adder", "[ ] one", "[ ] two")
	b.o.MaxIterations = 1
	b.check("test ! -f work.txt")
	b.run(t.Context())
	if plan := b.read(planName); strings.Contains(plan, "[x]") || !strings.Contains(plan, "found on the way") {
		t.Errorf("plan:\n%s", plan)
	}
}

func TestRun_limitMetByTheLastCall_isNotWaitedFor(t *testing.T) {
	t.Parallel()
	b := newBench(t, "last-call", "[ ] one")
	wantEnd(t, b.run(t.Context()), "plan_complete", 0)
}

func TestRun_agentVanished_endsWith6(t *testing.T) {
	t.Parallel()
	b := newBench(t, "worker", "[ ] one")
	found := b.d.Agents
	b.d.Agents = func(name string) (pool.Agent, error) {
		a, err := found(name)
		a.Program = []string{"/nowhere/agent"}
		return a, err
	}
	r := b.run(t.Context())
	wantEnd(t, r, "agent_unusable", state.ExitAgent)
	if !strings.Contains(r.Decision.Reason, "/nowhere/agent") {
		t.Errorf("reason %q", r.Decision.Reason)
	}
}

func TestRun_interruptedChecks_areNotForgivenByTheNextRun(t *testing.T) {
	if testing.Short() {
		t.Skip("long: waits for a check")
	}
	t.Parallel()
	b := newBench(t, "worker", "[ ] one")
	b.check("test ! -f work.txt || { sleep 1; echo broken; exit 1; }")
	b.d.Mode, b.o.MaxIterations = "tdd", 2
	b.sendWhen(state.RequestAbort, "the work", func() bool { _, err := b.w.Status(); return err == nil && len(glob(b.dir+"/work.txt")) == 1 })
	b.run(t.Context())
	b.d.RunID = "run-2"
	if r := b.run(t.Context()); r.Decision.Exit == state.ExitComplete {
		t.Errorf("what the first run broke became what was red before: %s", r.Decision.Reason)
	}
}

func TestRun_otherTasksTickedAhead_eachIsConfirmedInItsOwnIteration(t *testing.T) {
	world.Long(t, "a whole run with several calls")
	for _, agent := range []string{"ticks-ahead", "ticks-once"} {
		t.Run(agent, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, agent, "[ ] one", "[ ] two", "[ ] three")
			b.inGit()
			b.o.AntiCheat = turn.AnswerRevert
			wantEnd(t, b.run(t.Context()), "complete", state.ExitComplete)
			if b.calls() != 3 {
				t.Errorf("%d calls, want 3: one a task (%s)", b.calls(), b.rules())
			}
			if events := b.found(state.FoundByAudit); len(events) > 0 {
				t.Errorf("audit events: %q", events)
			}
			if prompt := b.read(".ralph/logs/run-1/2.prompt.md"); !strings.Contains(prompt, "Iteration 1 ticked this task") || !strings.Contains(prompt, "claim of completion was refused") {
				t.Errorf("second prompt:\n%s", prompt)
			}
			if told := payloads[state.Feedback](b); len(told) != 2 {
				t.Errorf("feedback events: %q", told)
			}
		})
	}
}

func TestRun_translationIsACopy_needsAReview(t *testing.T) {
	t.Parallel()
	b := newBench(t, "copyist", "[ ] Translate the texts to German (`locale/de.json`)")
	b.write("locale/en.json", `{"hello": "Hello"}`)
	b.inGit()
	b.check("true")
	b.o.AntiCheat = turn.AnswerRevert
	end := b.run(t.Context())
	if found := b.found(state.FoundByAudit); len(found) == 0 || !strings.Contains(found[0], "locale/de.json is a copy of locale/en.json") {
		t.Errorf("findings: %q", found)
	}
	wantEnd(t, end, "review", state.ExitReview)
}

func TestRun_flakyCheck_isShownAndCostsNoCall(t *testing.T) {
	t.Parallel()
	b := newBench(t, "worker", "[ ] one")
	b.check("test ! -f work.txt || test -f twice || { touch twice; echo red; exit 1; }")
	wantEnd(t, b.run(t.Context()), "complete", state.ExitComplete)
	if b.calls() != 1 {
		t.Errorf("%d calls, want 1 (%s)", b.calls(), b.rules())
	}
	if found := b.found(state.FoundByChecks); len(found) != 2 || !strings.Contains(found[1], "flaky") {
		t.Errorf("findings: %q", found)
	}
}

func TestRun_fileInPlaceOfTheStateDirectory_isIntegrityNotAnError(t *testing.T) {
	world.Long(t, "a whole run with several calls")
	t.Parallel()
	b := newBench(t, "usurper", "[ ] one")
	b.write("plan.md", b.read(planName))
	wantEnd(t, b.run(t.Context()), "complete", state.ExitComplete)
	if got := b.rules(); !strings.Contains(got, "integrity") {
		t.Errorf("rules %s", got)
	}
}

func TestRun_skipWhileChecksRun_isForTheTaskThatTheyAreAbout(t *testing.T) {
	t.Parallel()
	b := newBench(t, "checked", "[ ] one", "[ ] two")
	b.o.MaxIterations = 2
	b.check("test ! -f work.txt || test -f once || { touch once; sleep 600; }")
	b.sendWhen(state.RequestSkip, "the check", func() bool { return len(glob(b.dir+"/once")) == 1 })
	b.run(t.Context())
	if prompt := b.read(".ralph/logs/run-1/2.prompt.md"); !strings.Contains(prompt, "## Your task\n\ntwo\n") {
		t.Errorf("the second iteration is for:\n%s", prompt)
	}
}

func TestRun_limitsOfEachAgent_outliveTheRun(t *testing.T) {
	t.Parallel()
	b := newBench(t, "both-limited", "[ ] one")
	b.o.FallbackAgents, b.o.OnLimit = []string{"codex"}, "stop"
	wantEnd(t, b.run(t.Context()), "usage_limit", state.ExitLimited)
	if b.calls() != 2 {
		t.Fatalf("%d calls, want one of each agent", b.calls())
	}
	b.d.RunID = "run-2"
	wantEnd(t, b.run(t.Context()), "usage_limit", state.ExitLimited)
	if b.calls() != 2 {
		t.Errorf("%d calls: a limited agent was called again", b.calls())
	}
	b.d.RunID, b.o.FallbackAgents = "run-3", []string{"codex", "gemini"}
	wantEnd(t, b.run(t.Context()), "complete", state.ExitComplete)
	if who := b.read("who"); b.calls() != 3 || who != "gemini" {
		t.Errorf("call %d was made by %s, want gemini", b.calls(), who)
	}
}

func TestRun_resumed_timeBetweenTheRunsDoesNotCount(t *testing.T) {
	t.Parallel()
	b := newBench(t, "worker", "[ ] one", "[ ] two")
	b.o.MaxIterations = 1
	b.run(t.Context())
	b.restatus(func(s *state.Status) { // ran for an hour, nine hours ago
		s.StartedAt, s.Timestamp = time.Now().Add(-10*time.Hour), time.Now().Add(-9*time.Hour)
	})
	b.o.MaxIterations, b.o.MaxDuration, b.d.Resumed = 0, 2*time.Hour, true
	wantEnd(t, b.run(t.Context()), "complete", state.ExitComplete)
	if s, err := b.w.Status(); err != nil || time.Since(s.StartedAt).Round(time.Minute) != time.Hour {
		t.Errorf("started %s ago, %v", time.Since(s.StartedAt), err)
	}
}

// found are the texts of the findings of one source.
func (b *bench) found(source string) []string {
	var all []string
	for _, f := range payloads[state.Finding](b) {
		if f.Source == source {
			all = append(all, strings.TrimPrefix(f.File+": "+f.Text, ": ")+"; "+f.Answer)
		}
	}
	return all
}
