package rules

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ralph/runner/agent"
	"ralph/runner/agent/ending"
	"ralph/runner/git"
	"ralph/runner/rules/pace"
	"ralph/runner/turn"
	"ralph/state"
)

// zones are those whose clocks do something unusual near the start below.
var zones = []string{"UTC", "Europe/Rome", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "America/St_Johns"}

// starts are minutes before a change of the clocks in one of the zones, or
// before a new year.
var starts = []int64{
	time.Date(2026, 10, 24, 23, 50, 0, 0, time.UTC).Unix(), time.Date(2026, 3, 28, 23, 50, 0, 0, time.UTC).Unix(),
	time.Date(2006, 4, 2, 3, 10, 0, 0, time.UTC).Unix(), time.Date(2006, 10, 29, 1, 40, 0, 0, time.UTC).Unix(), // a minute past midnight
	time.Date(2026, 4, 4, 13, 0, 0, 0, time.UTC).Unix(), time.Date(2026, 10, 3, 14, 50, 0, 0, time.UTC).Unix(), time.Date(2026, 11, 1, 4, 30, 0, 0, time.UTC).Unix(), time.Date(2026, 12, 31, 22, 58, 0, 0, time.UTC).Unix(),
}

// budgetModel is the budget in plain words: calls and tokens by the label of the
// clock hour in which they were counted; what a later hour has counted stays
// when the clock goes back.
type budgetModel struct {
	label  string
	calls  int
	tokens int64
}

func (m *budgetModel) at(now time.Time) {
	if label := now.Format("2006010215"); label > m.label {
		*m = budgetModel{label: label}
	} else {
		m.label = label
	}
}

// A run's counters against the model: the clock goes on, jumps by an hour to
// both sides, over midnight and over both changes of the clocks; calls begin in
// one hour and end in another; the runner is killed and reads its files again.
func TestBudget_anyClock_followsTheModel(t *testing.T) {
	local := time.Local
	t.Cleanup(func() { time.Local = local })
	rounds := 0
	rapid.Check(t, func(rt *rapid.T) {
		rounds++
		zone, err := time.LoadLocation(rapid.SampledFrom(zones).Draw(rt, "zone"))
		if err != nil {
			t.Skip("no time zone data")
		}
		time.Local = zone
		now := time.Unix(rapid.SampledFrom(starts).Draw(rt, "start"), 0)
		w, _, err := state.Acquire(filepath.Join(t.TempDir(), fmt.Sprint(rounds)), state.Owner{PID: 1})
		if err != nil {
			rt.Fatal(err)
		}
		defer w.Release()
		var c state.Calls
		var m budgetModel
		m.label = now.Format("2006010215")
		check := func(*rapid.T) {
			c = pace.ThisHour(c, now)
			m.at(now)
			if c.Calls != m.calls || c.Tokens != m.tokens || c.Hour.Format("2006010215") != m.label {
				rt.Fatalf("at %s: %d calls and %d tokens of hour %s, the model says %+v", now, c.Calls, c.Tokens, c.Hour, m)
			}
			want := now.Truncate(time.Minute)
			for want.Format("2006010215") == m.label {
				want = want.Add(time.Minute)
			}
			if next := pace.NextHour(c.Hour); !next.Equal(want) {
				rt.Fatalf("at %s the next hour is %s, want %s", now, next, want)
			}
		}
		rt.Repeat(map[string]func(*rapid.T){
			"": check,
			"time": func(rt *rapid.T) {
				now = now.Add(time.Duration(rapid.IntRange(1, 40).Draw(rt, "minutes")) * time.Minute)
			},
			"clock jump": func(rt *rapid.T) {
				now = now.Add(rapid.SampledFrom([]time.Duration{-time.Hour, time.Hour}).Draw(rt, "by"))
			},
			"call": func(rt *rapid.T) {
				check(rt)
				c.Calls++
				m.calls++
			},
			"end of a call": func(rt *rapid.T) {
				check(rt)
				n := int64(rapid.IntRange(0, 100_000).Draw(rt, "tokens"))
				c.Tokens += n
				m.tokens += n
			},
			"kill": func(rt *rapid.T) {
				check(rt)
				if err := w.SaveCalls(c); err != nil {
					rt.Fatal(err)
				}
				if c, err = w.Calls(); err != nil {
					rt.Fatal(err)
				}
			},
		})
	})
}

// Around every change of the clocks in twenty years: an hour begins within
// itself, also as the next start reads it, and the next one is never over.
func TestHourOf_anyChangeOfTheClocks_isOfItsHour(t *testing.T) {
	if testing.Short() {
		t.Skip("long: each change of the clocks in twenty years")
	}
	local := time.Local
	t.Cleanup(func() { time.Local = local })
	w, _, err := state.Acquire(filepath.Join(t.TempDir(), ".ralph"), state.Owner{PID: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Release()
	for _, name := range append([]string{"Asia/Gaza", "Antarctica/Troll", "Europe/Dublin", "Africa/Casablanca", "Pacific/Apia", "America/Caracas", "Asia/Pyongyang"}, zones...) {
		zone, err := time.LoadLocation(name)
		if err != nil {
			t.Skip("no time zone data")
		}
		time.Local = zone
		end := time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)
		for _, change := time.Date(2006, 1, 1, 0, 0, 0, 0, zone).ZoneBounds(); !change.IsZero() && change.Before(end); _, change = change.ZoneBounds() {
			for now := change.Add(-2 * time.Hour); now.Before(change.Add(3 * time.Hour)); now = now.Add(7 * time.Minute) {
				hour := pace.HourOf(now)
				if err := w.SaveCalls(state.Calls{Hour: hour, Calls: 5}); err != nil {
					t.Fatal(err)
				}
				kept, err := w.Calls()
				label := now.Local().Format("2006010215")
				if err != nil || hour.Format("2006010215") != label || !pace.NextHour(hour).After(now) || pace.ThisHour(kept, now).Calls != 5 || pace.ThisHour(kept, pace.NextHour(hour)).Calls == 5 && pace.NextHour(hour).Format("2006010215") > label {
					t.Fatalf("%s: %s is in the hour of %s, kept as %s, and the next one is %s: %v", name, now.Local(), hour, kept.Hour, pace.NextHour(hour), err)
				}
			}
		}
	}
}

// breakerModel is the breaker in plain words: what happened how often in a row.
type breakerModel struct {
	idle, same, denied int
	last, state        string
}

func (b *breakerModel) count(it turn.Result, o Policy) {
	b.idle++
	if it.Work.Change.HeadMoved {
		b.idle = 0
	}
	b.denied++
	if len(it.Call.Denied) == 0 {
		b.denied = 0
	}
	text := it.Call.Outcome.Evidence
	if b.same++; text == "" || text != b.last {
		b.same = min(len(text), 1)
	}
	b.last = text
	switch {
	case b.idle >= o.NoProgressThreshold || b.same >= o.SameErrorThreshold || b.denied >= o.DenialThreshold:
		b.state = state.BreakerOpen
	case b.idle == 0:
		b.state = state.BreakerClosed
	case b.idle >= 2:
		b.state = state.BreakerHalfOpen
	}
}

// drawIteration is one of every mixture of progress, denial and error.
func drawIteration(rt *rapid.T, n int) turn.Result {
	it := idle(n)
	it.Call.Final = strings.Repeat("x", 100)
	it.Work.Change = git.Change{HeadMoved: rapid.Bool().Draw(rt, "progress")}
	if rapid.Bool().Draw(rt, "denied") {
		it.Call.Denied = []state.Tool{{Name: "Bash"}}
	}
	if text := rapid.SampledFrom([]string{"", "boom", "bang"}).Draw(rt, "error"); text != "" {
		it.Call.Outcome = agent.Outcome{Class: ending.Crash, Evidence: text}
	}
	return it
}

// The breaker against the model: iterations, and waits around the cool-down.
func TestBreaker_anyIterationsAndWaits_followTheModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		o := defaults()
		o.NoProgressThreshold = rapid.IntRange(1, 6).Draw(rt, "no progress")
		o.SameErrorThreshold = rapid.IntRange(1, 6).Draw(rt, "same error")
		o.DenialThreshold = rapid.IntRange(1, 4).Draw(rt, "denials")
		o.OutputDeclineThreshold = 100 // the sizes are all the same
		m, now, n := fresh(), noon, 0
		want := breakerModel{state: state.BreakerClosed}
		rt.Repeat(map[string]func(*rapid.T){
			"": func(rt *rapid.T) {
				b := m.Breaker
				if b.State != want.state || b.NoProgress != want.idle || b.SameError != want.same || b.PermissionDenials != want.denied {
					rt.Fatalf("breaker %+v; the model says %+v", b, want)
				}
				if (b.State == state.BreakerOpen) != !b.OpenedAt.IsZero() {
					rt.Fatalf("%s, opened at %s", b.State, b.OpenedAt)
				}
			},
			"iteration": func(rt *rapid.T) {
				if want.state == state.BreakerOpen {
					rt.Skip("an open breaker lets none through")
				}
				n++
				it := drawIteration(rt, n)
				m = m.After(it, false, o, now)
				want.count(it, o)
			},
			"wait": func(rt *rapid.T) {
				now = now.Add(time.Duration(rapid.IntRange(1, 45).Draw(rt, "minutes")) * time.Minute)
				if b := m.Breaker; b.State == state.BreakerOpen && now.Sub(b.OpenedAt) >= o.Cooldown {
					want = breakerModel{state: state.BreakerHalfOpen, idle: max(o.NoProgressThreshold-2, 0)}
				}
				m.Breaker = CoolDown(m.Breaker, o, now)
			},
		})
	})
}
