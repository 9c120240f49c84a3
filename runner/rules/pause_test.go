package rules

import (
	"strings"
	"testing"
	"time"

	"ralph/runner/agent"
	"ralph/runner/agent/ending"
	"ralph/runner/turn"
)

func crash(n int) turn.Result {
	it := idle(n)
	it.Call.Outcome.Class = ending.Crash
	return it
}

// pauses are the waits after each of the turns.
func pauses(p Policy, its ...turn.Result) []time.Duration {
	var all []time.Duration
	m := fresh()
	for _, it := range its {
		m = fold(m, p, it)
		f := Conclusion{Facts: Facts{Policy: p, Memory: m, Now: noon, Started: noon.Add(-time.Minute)}, Result: it}
		wait := time.Duration(0)
		if d := Conclude(f); !d.Until.IsZero() {
			wait = d.Until.Sub(noon)
		}
		all = append(all, wait)
	}
	return all
}

func TestConclude_failedCalls_waitLongerEachTimeUntilOneSucceeds(t *testing.T) {
	worked, bounded := crash(9), crash(9)
	worked.Work.Change.HeadMoved, bounded.Work.Change.HeadMoved = true, true
	bounded.Call.Outcome.Class = ending.MaxTurns
	for _, test := range []struct {
		name string
		set  func(*Policy)
		its  []turn.Result
		want []time.Duration // in seconds
	}{
		{"three crashes", func(*Policy) {}, []turn.Result{crash(1), crash(2), crash(3)}, []time.Duration{5, 10, 20}},
		{"an answer between them", func(*Policy) {}, []turn.Result{crash(1), idle(2), crash(3)}, []time.Duration{5, 0, 5}},
		{"which changed files", func(*Policy) {}, []turn.Result{crash(1), worked, worked}, []time.Duration{5, 10, 20}},
		{"with work done up to the agent's own bound", func(*Policy) {}, []turn.Result{crash(1), bounded, bounded}, []time.Duration{5, 5, 5}},
		{"off", func(p *Policy) { p.ErrorPause = 0 }, []turn.Result{crash(1), crash(2)}, []time.Duration{0, 0}},
		{"a longer delay", func(p *Policy) { p.Delay = 8 * time.Second }, []turn.Result{crash(1), crash(2)}, []time.Duration{8, 10}},
		{"the run ends before", func(p *Policy) { p.MaxDuration = 67 * time.Second }, []turn.Result{crash(1), crash(2)}, []time.Duration{5, 7}},
		{"for hours", func(*Policy) {}, []turn.Result{crash(1), crash(2), crash(3), crash(4), crash(5), crash(6), crash(7), crash(8)},
			[]time.Duration{5, 10, 20, 40, 80, 160, 320, 600}},
	} {
		p := defaults()
		p.ErrorPause, p.NoProgressThreshold, p.SameErrorThreshold = 5*time.Second, 100, 100
		test.set(&p)
		for i, got := range pauses(p, test.its...) {
			if got != test.want[i]*time.Second {
				t.Errorf("%s: wait %d is %s, want %ds", test.name, i+1, got, test.want[i])
			}
		}
	}
}

func TestConclude_failedCallOfADonePlan_isNotWaitedFor(t *testing.T) {
	p := defaults()
	p.ErrorPause = 5 * time.Second
	f := Conclusion{Facts: Facts{Policy: p, Memory: fold(fresh(), p, crash(1)), Now: noon}, Result: crash(1)}
	f.Plan.Total, f.Plan.Done = 1, 1
	if d := Conclude(f); !d.Until.IsZero() {
		t.Errorf("%+v", d)
	}
	f.Plan.Remaining = 1
	if d := Conclude(f); !strings.Contains(d.Reason, "the next one in 5s") {
		t.Errorf("reason %q", d.Reason)
	}
}

func TestUsageLimit_withoutAResetTime_theNextTryIsCalledAGuess(t *testing.T) {
	for _, at := range []time.Time{{}, noon.Add(time.Hour)} {
		var r turn.Result
		r.Call.Made, r.Call.Outcome = true, agent.Outcome{Class: ending.UsageLimit, Reason: "the limit is reached", ResetsAt: at}
		d := Conclude(Conclusion{Facts: Facts{Now: noon, LimitedUntil: noon.Add(time.Hour)}, Result: r})
		if d.Rule != "usage_limit" || strings.Contains(d.Reason, "a guess") != at.IsZero() {
			t.Errorf("%v: %s: %s", at, d.Rule, d.Reason)
		}
	}
}
