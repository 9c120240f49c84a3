package rules

import (
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // for the zones of the tests

	"pgregory.net/rapid"

	"ralph/runner/agent"
	"ralph/runner/agent/ending"
	"ralph/runner/agent/statusblock"
	"ralph/runner/git"
	"ralph/runner/rules/pace"
	"ralph/runner/turn"
	"ralph/state"
)

func idle(n int) turn.Result {
	return turn.Result{Origin: state.Origin{Iteration: n}, Call: turn.Call{Made: true, Outcome: agent.Outcome{Class: ending.CompletedTurn}}}
}

func busy(n int) turn.Result {
	it := idle(n)
	it.Work.Change = git.Change{HeadMoved: true}
	return it
}

func fresh() Memory { return Memory{Breaker: state.Breaker{State: state.BreakerClosed}} }

func fold(m Memory, o Policy, its ...turn.Result) Memory {
	for _, it := range its {
		m = m.After(it, len(it.Work.Damaged) > 0, o, noon)
	}
	return m
}

func wantBreaker(t *testing.T, m Memory, want string) {
	t.Helper()
	if m.Breaker.State != want {
		t.Errorf("breaker is %s (%s), want %s", m.Breaker.State, m.Breaker.Reason, want)
	}
}

func TestBreaker_idleIterations_warnsAtTwoAndOpensAtTheThreshold(t *testing.T) {
	o := defaults()
	wantBreaker(t, fold(fresh(), o, idle(1)), state.BreakerClosed)
	wantBreaker(t, fold(fresh(), o, idle(1), idle(2)), state.BreakerHalfOpen)
	m := fold(fresh(), o, idle(1), idle(2), idle(3))
	wantBreaker(t, m, state.BreakerOpen)
	if m.Breaker.TotalOpens != 1 || !m.Breaker.OpenedAt.Equal(noon) {
		t.Errorf("breaker %+v", m.Breaker)
	}
}

// Side by side, turns end after the one that opened it.
func TestBreaker_turnsAfterItOpened_countNothing(t *testing.T) {
	m := fold(fresh(), defaults(), idle(1), idle(2), idle(3))
	was := m.Breaker
	for _, it := range []turn.Result{idle(4), busy(5), idle(6)} {
		if m = fold(m, defaults(), it); m.Breaker.Reason != was.Reason || m.Breaker.NoProgress != was.NoProgress || m.Breaker.TotalOpens != 1 || m.Breaker.State != state.BreakerOpen {
			t.Errorf("after iteration %d: %+v", it.Origin.Iteration, m.Breaker)
		}
	}
}

func TestBreaker_progress_closesAHalfOpenOne(t *testing.T) {
	m := fold(fresh(), defaults(), idle(1), idle(2), busy(3))
	wantBreaker(t, m, state.BreakerClosed)
	if m.Breaker.NoProgress != 0 || m.Breaker.LastProgressLoop != 3 {
		t.Errorf("breaker %+v", m.Breaker)
	}
}

func TestBreaker_tickedTaskAlone_isProgress(t *testing.T) {
	it := idle(1)
	it.Work.Before, it.Proof.After = turn.Plan{Known: true, Total: 3, Remaining: 2}, turn.Plan{Known: true, Total: 3, Remaining: 1}
	if m := fold(fresh(), defaults(), it); m.Breaker.NoProgress != 0 {
		t.Errorf("breaker %+v", m.Breaker)
	}
}

func TestBreaker_sameError_countsOnlyTheSame(t *testing.T) {
	o := defaults()
	crash := func(n int, text string) turn.Result {
		it := busy(n)
		it.Call.Outcome = agent.Outcome{Class: ending.Crash, Evidence: text}
		return it
	}
	m := fold(fresh(), o, crash(1, "boom at 12:01:02"), crash(2, "boom at 12:05:09"), crash(3, "boom at 13:00:00"), crash(4, "boom at 14:00:00"))
	if m.Breaker.SameError != 4 {
		t.Errorf("same error counted %d, want 4: times differ only", m.Breaker.SameError)
	}
	wantBreaker(t, m, state.BreakerClosed)
	wantBreaker(t, fold(m, o, crash(5, "boom at 15:00:00")), state.BreakerOpen)
	other := fold(m, o, crash(5, "something else entirely"))
	wantBreaker(t, other, state.BreakerClosed)
	if other.Breaker.SameError != 1 {
		t.Errorf("another error counts as %d", other.Breaker.SameError)
	}
	if m := fold(m, o, busy(5)); m.Breaker.SameError != 0 {
		t.Errorf("a good iteration leaves %d", m.Breaker.SameError)
	}
}

func TestBreaker_toolThatFailsTheSameWay_countsWhileNoTaskIsClosed(t *testing.T) {
	failing := func(n int, texts ...string) turn.Result {
		it := busy(n)
		it.Call.Failing = texts
		return it
	}
	const vet, lint = "bash: undefined: x", "bash: lint: cannot find y"
	m := fold(fresh(), defaults(), failing(1, vet), failing(2, lint, vet), failing(3, vet), failing(4, vet, lint))
	wantBreaker(t, m, state.BreakerClosed)
	if m.Breaker.SameError != 4 || m.Breaker.LastError != vet || m.Breaker.Errors[lint] != 1 {
		t.Errorf("breaker %+v", m.Breaker)
	}
	if hints := m.Repeats(failing(4, vet, lint)); len(hints) != 1 || !strings.Contains(hints[0], "4 iterations in a row: "+vet) {
		t.Errorf("the agent is told %q", hints)
	}
	open := fold(m, defaults(), failing(5, vet))
	wantBreaker(t, open, state.BreakerOpen)
	if want := "the same error in 5 consecutive iterations: " + vet; open.Breaker.Reason != want {
		t.Errorf("reason %q, want %q", open.Breaker.Reason, want)
	}
	closing := failing(5, vet)
	closing.Work.Before, closing.Proof.After = turn.Plan{Total: 3, Remaining: 2}, turn.Plan{Total: 3, Remaining: 1}
	if m := fold(m, defaults(), closing); m.Breaker.SameError != 0 || len(m.Repeats(closing)) != 0 {
		t.Errorf("a closed task leaves %+v", m.Breaker)
	}
	if m := fold(m, defaults(), failing(5, lint)); m.Breaker.SameError != 2 || m.Breaker.LastError != lint {
		t.Errorf("after another failure %+v", m.Breaker)
	}
	ended := failing(5, vet)
	ended.Call.Outcome.Class = ending.TimeoutWithWork // its last tool call failed because ralph ended it
	if m := fold(m, defaults(), ended); m.Breaker.SameError != 0 {
		t.Errorf("a productive timeout leaves %+v", m.Breaker)
	}
	m.Breaker.SameError, m.Breaker.LastError = 0, "" // a task was put aside
	if m := fold(m, defaults(), failing(5, vet)); m.Breaker.SameError != 1 {
		t.Errorf("the next task begins with %d", m.Breaker.SameError)
	}
}

func TestBreaker_timeoutsWithWork_areNoError(t *testing.T) {
	it := busy(1)
	it.Call.Outcome.Class = ending.TimeoutWithWork
	m := fold(fresh(), defaults(), it, it, it, it, it, it)
	wantBreaker(t, m, state.BreakerClosed)
	it.Work.Change = git.Change{}
	wantBreaker(t, fold(fresh(), defaults(), it, it, it), state.BreakerOpen)
}

func TestBreaker_denials_openAtTheThreshold(t *testing.T) {
	denied := busy(1)
	denied.Call.Denied = []state.Tool{{Name: "Bash"}}
	m := fold(fresh(), defaults(), denied)
	wantBreaker(t, m, state.BreakerClosed)
	wantBreaker(t, fold(m, defaults(), busy(2), denied), state.BreakerClosed)
	wantBreaker(t, fold(m, defaults(), denied), state.BreakerOpen)
	advised := busy(1)
	advised.Call.Advised = denied.Call.Denied
	wantBreaker(t, fold(fresh(), defaults(), advised, advised, advised), state.BreakerClosed)
}

func TestBreaker_outputDecline_needsTheWholePercentage(t *testing.T) {
	o := defaults()
	o.NoProgressThreshold = 10
	sized := func(sizes ...int) Memory {
		m := fresh()
		for i, n := range sizes {
			it := idle(i + 1)
			it.Call.Final = strings.Repeat("x", n)
			m = fold(m, o, it)
		}
		return m
	}
	wantBreaker(t, sized(1000, 600, 300), state.BreakerOpen)
	wantBreaker(t, sized(1000, 600, 301), state.BreakerHalfOpen)
	wantBreaker(t, sized(1000, 200, 200), state.BreakerHalfOpen)
}

func TestCoolDown_openBreaker_getsAChanceThatOneIdleIterationDoesNotEnd(t *testing.T) {
	o := defaults()
	open := fold(fresh(), o, idle(1), idle(2), idle(3)).Breaker
	if b := CoolDown(open, o, noon.Add(o.Cooldown-1)); b.State != state.BreakerOpen {
		t.Errorf("half open before the cool-down is over")
	}
	b := CoolDown(open, o, noon.Add(o.Cooldown))
	if b.State != state.BreakerHalfOpen {
		t.Fatalf("still %s after the cool-down", b.State)
	}
	wantBreaker(t, fold(Memory{Breaker: b}, o, idle(4)), state.BreakerHalfOpen)
	wantBreaker(t, fold(Memory{Breaker: b}, o, idle(4), idle(5)), state.BreakerOpen)
	wantBreaker(t, fold(Memory{Breaker: b}, o, busy(4)), state.BreakerClosed)
}

func TestMemory_infrastructureFailures_costNoIterationAndNoBreakerCount(t *testing.T) {
	for _, c := range []ending.Class{ending.UsageLimit, ending.SpendLimit, ending.Overloaded, ending.ServerError, ending.Network, ending.RateLimited, ending.StaleSession, ending.Auth} {
		it := idle(1)
		it.Call.Outcome.Class = c
		m := fold(fresh(), defaults(), it)
		if m.Iterations != 0 || m.Breaker.NoProgress != 0 || m.Breaker.SameError != 0 {
			t.Errorf("%s cost %+v", c, m)
		}
	}
}

func TestMemory_callEndedByAPerson_costsNothing(t *testing.T) {
	it := idle(1)
	it.Call.Outcome.Class, it.Cut, it.Call.Usage.CostUSD = ending.KilledBySignal, state.RequestAbort, 0.5
	if m := fold(fresh(), defaults(), it, it, it); m.Iterations != 0 || m.Breaker.NoProgress != 0 || m.Usage.CostUSD != 1.5 {
		t.Errorf("aborted calls cost %+v", m)
	}
	it.Cut = state.RequestSkip
	if m := fold(fresh(), defaults(), it); m.Iterations != 1 || m.Breaker.NoProgress != 0 || m.Breaker.SameError != 0 {
		t.Errorf("a skipped call cost %+v", m)
	}
}

func TestMemory_transientForEver_isBounded(t *testing.T) {
	it := idle(1)
	it.Call.Outcome = agent.Outcome{Class: ending.Network, Evidence: "refused"}
	m, calls := fresh(), 0
	for m.Breaker.State != state.BreakerOpen && calls < 1000 {
		m = fold(m, defaults(), it)
		calls++
	}
	if want := 3 * (MaxRetries + 1); calls != want {
		t.Errorf("%d calls before the breaker opened, want %d", calls, want)
	}
}

func TestTestOnly_needsTheBlockAndNoFinishedTask(t *testing.T) {
	it := busy(1)
	it.Call.Signalled, it.Call.Signal = true, statusblock.Signal{WorkType: "TESTING"}
	it.Work.Before, it.Proof.After = turn.Plan{Total: 3, Remaining: 2}, turn.Plan{Total: 3, Remaining: 2}
	if m := fold(fresh(), defaults(), it, it, it); m.TestOnly != 3 {
		t.Errorf("test-only = %d, want 3", m.TestOnly)
	}
	silent := it
	silent.Call.Signalled = false
	for files, want := range map[string]bool{"a_test.go tests/test_b.py": true, "a_test.go a.go": false, "": false, "src/lib.rs": false} {
		silent.Work.Change = git.Change{Files: strings.Fields(files), Count: len(strings.Fields(files))}
		if got := silent.TestOnly(); got != want {
			t.Errorf("changed %q: test-only %t, want %t", files, got, want)
		}
	}
	silent.Work.Change = git.Change{Files: []string{"a_test.go"}, Count: 1}
	silent.Call.Outcome.Class = ending.Crash
	if silent.TestOnly() {
		t.Error("a call that crashed is test-only")
	}
	it.Proof.After.Remaining = 1
	if it.TestOnly() {
		t.Error("an iteration that finished a task is test-only")
	}
}

func TestConclude_once_tellsHowTheIterationEnded(t *testing.T) {
	o := defaults()
	o.MaxIterations = 1
	crashed := busy(1)
	crashed.Task.ID = "T1"
	crashed.Call.Outcome = agent.Outcome{Class: ending.Crash, Reason: "exit code 3"}
	noTask := crashed
	noTask.Task.ID = ""
	reports := busy(1)
	reports.Task.ID = "T1"
	reports.Call.Signalled, reports.Call.Signal = true, statusblock.Signal{Status: statusblock.Error, Recommendation: "no disk"}
	for want, it := range map[string]turn.Result{
		"made 1 iteration, as many as are allowed: exit code 3":                                                   noTask,
		"made 1 iteration, as many as are allowed; its task is not done yet: exit code 3":                         crashed,
		"made 1 iteration, as many as are allowed; its task is not done yet: the agent reports an error: no disk": reports,
	} {
		d, ok := ceilingAfter(Conclusion{Facts: Facts{Policy: o, Memory: Memory{Iterations: 1}}, Result: it})
		if !ok || d.Reason != want {
			t.Errorf("%q, want %q", d.Reason, want)
		}
	}
}

// A breaker against a plain model: state and counter by the words of the contract.
func TestBreaker_anySequence_followsTheModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := defaults()
		o.NoProgressThreshold = rapid.IntRange(2, 6).Draw(t, "threshold")
		o.OutputDeclineThreshold = 100
		m, idleInARow, now := fresh(), 0, noon
		for i, progress := range rapid.SliceOfN(rapid.Bool(), 1, 30).Draw(t, "progress") {
			it := idle(i + 1)
			it.Call.Final = strings.Repeat("x", 100)
			if progress {
				it = busy(i + 1)
				idleInARow = 0
			} else {
				idleInARow++
			}
			m = m.After(it, false, o, now)
			want := state.BreakerClosed
			switch {
			case idleInARow >= o.NoProgressThreshold:
				want = state.BreakerOpen
			case idleInARow >= 2:
				want = state.BreakerHalfOpen
			}
			if m.Breaker.State != want {
				t.Fatalf("after %d idle iterations (threshold %d): %s, want %s", idleInARow, o.NoProgressThreshold, m.Breaker.State, want)
			}
			if want == state.BreakerOpen {
				return
			}
		}
	})
}

func TestThisHour_countersOfAnotherHour(t *testing.T) {
	hour := pace.HourOf(noon)
	tests := []struct {
		name string
		in   state.Calls
		want int
	}{
		{"none yet", state.Calls{}, 0},
		{"this hour", state.Calls{Hour: hour, Calls: 7}, 7},
		{"an earlier hour", state.Calls{Hour: hour.Add(-time.Hour), Calls: 7}, 0},
		{"the clock was set back", state.Calls{Hour: hour.Add(time.Hour), Calls: 7}, 7},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := pace.ThisHour(tt.in, noon); got.Calls != tt.want || !got.Hour.Equal(hour) {
				t.Errorf("hours.ThisHour() = %+v, want %d calls at %s", got, tt.want, hour)
			}
		})
	}
}

func TestNextHour_clocksSetBack_skipsTheRepeatedHour(t *testing.T) {
	rome, err := time.LoadLocation("Europe/Rome")
	if err != nil {
		t.Skip("no time zone data")
	}
	first := time.Date(2026, 10, 25, 1, 0, 0, 0, rome).Add(time.Hour) // the hour that comes twice
	if got := pace.NextHour(first); got.Hour() != 3 || got.Sub(first) != 2*time.Hour {
		t.Errorf("hours.NextHour(%s) = %s", first, got)
	}
}

func TestAfter_damageInALimitedCall_counts(t *testing.T) {
	it := idle(1)
	it.Call.Outcome.Class = ending.UsageLimit
	if m := (Memory{}).After(it, true, defaults(), noon); m.Damages != 1 || m.Iterations != 0 {
		t.Errorf("%+v", m)
	}
}

func TestMemory_lastWordAgainstADonePlan_isContradiction(t *testing.T) {
	done := turn.Plan{Known: true, Done: 2, Total: 2}
	blocked := busy(1)
	blocked.Proof.After, blocked.Call.Signalled, blocked.Call.Signal = done, true, statusblock.Signal{Status: statusblock.Blocked, Recommendation: "no key"}
	failing := busy(1)
	failing.Proof.After, failing.Call.Signalled, failing.Call.Signal = done, true, statusblock.Signal{Status: statusblock.Complete, Exit: true, Tests: "FAILING"}
	crashed := busy(1)
	crashed.Task.ID = "T1"
	crashed.Proof.After, crashed.Call.Outcome.Class = done, ending.Crash
	for name, r := range map[string]turn.Result{"blocked": blocked, "failing": failing, "crashed": crashed} {
		m := fold(fresh(), defaults(), r)
		if m.Contradiction == "" || m.Verified {
			t.Errorf("%s: %+v", name, m)
		}
		if m = fold(m, defaults(), r); m.Contradiction == "" || !m.Verified {
			t.Errorf("%s, again: %+v", name, m)
		}
	}
	good := busy(2)
	good.Proof.After = done
	if m := fold(fresh(), defaults(), blocked, good); m.Contradiction != "" {
		t.Errorf("cleared up: %+v", m)
	}
	open := blocked
	open.Proof.After.Remaining = 1
	if m := fold(fresh(), defaults(), open); m.Contradiction != "" {
		t.Errorf("with an open task: %+v", m)
	}
	limited := good
	limited.Call.Outcome.Class = ending.UsageLimit
	if m := fold(fresh(), defaults(), limited); m.Contradiction != "" {
		t.Errorf("a limit: %+v", m)
	}
}
