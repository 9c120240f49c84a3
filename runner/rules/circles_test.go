package rules

import (
	"fmt"
	"strings"
	"testing"

	"ralph/runner/agent"
	"ralph/runner/agent/ending"
	"ralph/state"
)

func TestBreaker_filesGoBackAndForth_isNoProgress(t *testing.T) {
	m, o := fresh(), defaults()
	for n, want := range []struct {
		idle int
		told bool
	}{{0, false}, {0, false}, {1, true}, {2, true}, {3, true}} {
		it := busy(n + 1)
		it.Work.Delta, it.Work.Change.Files = []string{"there", "back"}[n%2], []string{"a.go"}
		if n == 4 { // ralph has taken it back
			it.Work.Change.Files = nil
		}
		m = fold(m, o, it)
		told := strings.Join(m.Repeats(it), "; ")
		if m.Breaker.NoProgress != want.idle || strings.Contains(told, "back and forth") != want.told {
			t.Errorf("iteration %d: %d without progress, told %q", n+1, m.Breaker.NoProgress, told)
		}
		if strings.HasSuffix(strings.TrimSpace(told), ":") {
			t.Errorf("iteration %d: no file follows in %q", n+1, told)
		}
	}
	wantBreaker(t, m, state.BreakerOpen)
}

func TestBreaker_aChangeAgain_isProgressIfATaskIsClosed(t *testing.T) {
	m := fresh()
	for n := range 20 {
		it := busy(n + 1)
		it.Work.Delta, it.Work.Before.Remaining = "there", 1
		if m = fold(m, defaults(), it); m.Breaker.NoProgress != 0 || len(m.Repeats(it)) > 0 {
			t.Fatalf("iteration %d: %+v", n+1, m.Breaker)
		}
	}
	for n := range 20 {
		it := busy(n + 21)
		it.Work.Delta = fmt.Sprint(n)
		m = fold(m, defaults(), it)
	}
	if len(m.Breaker.Changes) != changesKept {
		t.Errorf("%d changes are kept", len(m.Breaker.Changes))
	}
}

func TestConclude_agentInCircles_continues(t *testing.T) {
	s := usual()
	s.It.Call.Outcome = agent.Outcome{Class: ending.Repeating, Reason: "the agent made the same calls: Bash(ls)", Evidence: "Bash(ls)"}
	if d := s.decide(); d.Rule != "repeating" || d.Action != state.ActionContinue {
		t.Errorf("%+v", d)
	}
}

func outcome(f *scene, c ending.Class) {
	f.It.Call.Outcome = agent.Outcome{Class: c, Reason: "said so"}
}
