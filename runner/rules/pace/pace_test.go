package pace_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ralph/runner/rules/pace"
	"ralph/state"
)

var monday = time.Date(2026, 11, 16, 0, 0, 0, 0, time.UTC)

func TestParse_entries_onlyWhatIsAllowed(t *testing.T) {
	for text, ok := range map[string]bool{
		"keep 30% of five_hour at 08:00": true, "spread seven_day": true, "spread seven_day_opus": true,
		"keep 30% of five_hour at 8:00;spread seven_day": true, "": true,
		"keep 0% of five_hour at 08:00": false, "keep 100% of five_hour at 08:00": false, "keep 30 of five_hour at 08:00": false,
		"keep 30% of five_hour at 25:00": false, "keep 30% of hour at 08:00": false, "keep 30% of five_hour": false,
		"spread": false, "spread seven_day_": false, "spread seven_days": false, "spread five_hour_opus": false, "else sonnet": false,
		"slow": false, "spread seven_day;else a": false,
	} {
		if p, err := pace.Parse(strings.FieldsFunc(text, func(r rune) bool { return r == ';' })); (err == nil) != ok {
			t.Errorf("%q: %+v, %v", text, p, err)
		}
	}
}

func book(t interface{ Fatal(...any) }, entries ...string) *pace.Book {
	p, err := pace.Parse(entries)
	if err != nil {
		t.Fatal(err)
	}
	return &pace.Book{Rules: p}
}

// reported is a book after one call that reported this use.
func reported(t *testing.T, entry string, used float64, reset time.Time) *pace.Book {
	b := book(t, entry)
	window := strings.Fields(strings.TrimPrefix(entry, "keep 30% of "))
	name := window[0]
	if name == "spread" {
		name = window[1]
	}
	b.Begin("1", "claude", "")
	b.Note("1", state.Limit{Name: name, Utilization: used, ResetsAt: reset})
	b.End("1")
	return b
}

func TestHold_oneReport_waitsForTheLine(t *testing.T) {
	at := func(h float64) time.Time { return monday.Add(time.Duration(h * float64(time.Hour))) }
	const keep, spread = "keep 30% of five_hour at 08:00", "spread seven_day"
	for name, tc := range map[string]struct {
		entry      string
		used       float64
		reset, now float64 // hours after Monday, midnight
		until      float64 // 0: not held
	}{
		"below the line":             {keep, .5, 9, 5, 0},
		"a call might cross it":      {keep, .66, 9, 5, 8},
		"resets before the time":     {keep, .99, 7, 5, 0},
		"window over, next one free": {keep, .99, 4, 5, 0},
		"no end told":                {keep, .66, math.Inf(-1), 5, 8},
		"after the time":             {keep, .99, 9, 8.5, 0},
		"half of the week":           {spread, .40, 168, 84, 0},
		"ahead of the week":          {spread, .50, 168, 84, .55 * 168},
		"week over":                  {spread, .99, 168, 169, 0},
	} {
		reset := time.Time{}
		if !math.IsInf(tc.reset, 0) {
			reset = at(tc.reset)
		}
		h := reported(t, tc.entry, tc.used, reset).Hold("claude", "", at(tc.now))
		if want := at(tc.until); h.Held() != (tc.until > 0) || h.Held() && h.Until.Sub(want).Abs() > time.Second {
			t.Errorf("%s: %+v", name, h)
		}
	}
}

func TestHold_otherAgentOrModel_isFree(t *testing.T) {
	b := reported(t, "spread seven_day_opus", .9, monday.Add(100*time.Hour))
	for who, held := range map[[2]string]bool{
		{"claude", ""}: true, {"claude", "claude-Opus-4"}: true, {"claude", "sonnet"}: false, {"codex", ""}: false,
	} {
		if h := b.Hold(who[0], who[1], monday); h.Held() != held {
			t.Errorf("%v: %+v", who, h)
		}
	}
	b.Waived = monday.Add(time.Hour)
	if b.Hold("claude", "", monday).Held() || !b.Hold("claude", "", b.Waived).Held() {
		t.Error("a person's wish does not count until its end")
	}
}

func TestHold_callsUnderWay_areReserved(t *testing.T) {
	b := reported(t, "keep 30% of five_hour at 08:00", .62, monday.Add(9*time.Hour))
	now := monday.Add(5 * time.Hour)
	if h := b.Hold("claude", "", now); h.Held() {
		t.Fatal(h)
	}
	b.Begin("2", "claude", "")
	if h := b.Hold("claude", "", now); !h.Held() {
		t.Error("two calls fit where one does")
	}
}

// week is a simulated week of an agent that always has work.
type week struct {
	entry, window string
	length        time.Duration
	costs         []float64 // of one call after the other, as a share of the window
	took          time.Duration

	now, reset time.Time
	used       float64 // exactly
	idle       time.Duration
	calls      int
	worst      float64 // over the line at the end of a call
}

func (w *week) report() state.Limit {
	return state.Limit{Name: w.window, Utilization: math.Round(w.used*100) / 100, ResetsAt: w.reset.Truncate(time.Second)}
}

// call lets the n-th call pass. The window begins with its first call.
func (w *week) call(b *pace.Book, r pace.Rule) {
	cost := w.costs[w.calls%len(w.costs)]
	first := !w.reset.After(w.now)
	if first {
		w.reset, w.used = w.now.Add(w.length), 0
	}
	key := fmt.Sprint(w.calls)
	b.Begin(key, "claude", "")
	w.used += cost
	b.Note(key, w.report())
	b.End(key)
	line := r.Line(w.reset, w.now) // at its beginning: all of its use may come at once
	if over := w.used - line; over > w.worst && !(first && r.Keep == 0) {
		w.worst = over
	}
	w.now = w.now.Add(w.took)
	w.calls++
}

// run is the week; knows: what each call will use is known before, and not more is kept free.
func (w week) run(t *rapid.T, knows bool) week {
	b := book(t, w.entry)
	r := b.Rules[0]
	w.now = monday
	for end := monday.Add(7 * 24 * time.Hour); w.now.Before(end); {
		cost := w.costs[w.calls%len(w.costs)]
		if w.reset.After(w.now) && w.used+cost > 1 { // the wall: no idle time of the line
			w.now = w.reset
			continue
		}
		wait := time.Duration(0)
		if knows {
			if w.reset.After(w.now) && w.used+cost > r.Line(w.reset, w.now) {
				wait = w.required(r, cost)
			}
		} else if h := b.Hold("claude", "", w.now); h.Held() {
			wait = min(h.Until.Sub(w.now), end.Sub(w.now))
		}
		if wait > 0 {
			w.idle, w.now = w.idle+wait, w.now.Add(wait)
			continue
		}
		w.call(b, r)
	}
	return w
}

// Each call uses up to three times what another one does.
func drawWeek(t *rapid.T, w week, least, most float64) week {
	w.took = time.Duration(rapid.IntRange(2, 40).Draw(t, "minutes")) * time.Minute
	top := rapid.Float64Range(least, most).Draw(t, "most of a call")
	w.costs = rapid.SliceOfN(rapid.Float64Range(top/3, top), 60, 120).Draw(t, "costs")
	return w
}

// required is how long the line keeps a call back that uses so much.
func (w *week) required(r pace.Rule, cost float64) time.Duration {
	if r.Keep == 0 {
		at := w.reset.Add(-time.Duration((1 - w.used - cost) * float64(w.length)))
		return max(at.Sub(w.now), 0) + time.Second
	}
	at := w.now.Truncate(24 * time.Hour).Add(8 * time.Hour)
	if !at.After(w.now) {
		at = at.Add(24 * time.Hour)
	}
	return at.Sub(w.now)
}

// weeks adds up the idle time of many weeks.
type weeks struct{ got, least time.Duration }

// several are so many that chance does not decide, also in a short run.
const several = 10

func (all *weeks) check(t *rapid.T, w week) {
	got, least := w.run(t, false), w.run(t, true)
	if got.worst > 0.005 { // agents report whole percents
		t.Fatalf("over the line by %.4f", got.worst)
	}
	all.got, all.least = all.got+got.idle, all.least+least.idle
}

func (all *weeks) end(t *testing.T) {
	t.Logf("idle for %s, the line requires %s", all.got.Round(time.Hour), all.least.Round(time.Hour))
	if all.got.Seconds() > 1.1*all.least.Seconds() {
		t.Errorf("idle for %s, the line requires %s", all.got, all.least)
	}
}

func TestHold_weeksOfSpread_lineNotCrossedLittleIdle(t *testing.T) {
	var all weeks
	rapid.Check(t, func(t *rapid.T) {
		for range several {
			all.check(t, drawWeek(t, week{entry: "spread seven_day", window: "seven_day", length: 7 * 24 * time.Hour}, .003, .02))
		}
	})
	all.end(t)
}

func TestHold_weeksOfKeep_lineNotCrossedLittleIdle(t *testing.T) {
	var all weeks
	rapid.Check(t, func(t *rapid.T) {
		for range several {
			entry := fmt.Sprintf("keep %d%% of five_hour at 08:00", rapid.IntRange(10, 60).Draw(t, "keep"))
			all.check(t, drawWeek(t, week{entry: entry, window: "five_hour", length: 5 * time.Hour}, .005, .05))
		}
	})
	all.end(t)
}
