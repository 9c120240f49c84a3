//go:build linux

package faults

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // for the zones of the tests

	"ralph/internal/world"
	"ralph/state"
)

// shiftVar names a file of eight bytes: by how many seconds the clock of ralph
// and of the fake agent is set off the machine's.
const shiftVar = "RALPH_FAULTS_SHIFT"

// shifted is the time that a clock with such a file shows; the machine's
// without one.
func shifted(file string) time.Time {
	data, err := os.ReadFile(file)
	if err != nil {
		return time.Now()
	}
	return time.Now().Add(time.Duration(int64(binary.NativeEndian.Uint64(data))) * time.Second)
}

// shiftSource is added to the package time of Go's library. As on a machine
// whose clock is set, timers and durations know nothing of it. The file is
// mapped: nobody who asks for the time may call the system.
const shiftSource = `package time

import (
	"syscall"
	"unsafe"
)

var shift = func() *int64 {
	name, ok := syscall.Getenv("` + shiftVar + `")
	if !ok {
		return new(int64)
	}
	fd, err := syscall.Open(name, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		panic(err)
	}
	page, err := syscall.Mmap(fd, 0, 8, syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		panic(err)
	}
	syscall.Close(fd)
	return (*int64)(unsafe.Pointer(&page[0]))
}()
`

// withClock builds ralph as it is, but with a clock that can be set.
func withClock(t *testing.T) (ralph string) {
	t.Helper()
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	lib := filepath.Join(strings.TrimSpace(string(root)), "src", "time")
	source, err := os.ReadFile(filepath.Join(lib, "time.go"))
	const now = "\tsec, nsec, mono := runtimeNow()\n"
	if err != nil || strings.Count(string(source), now) != 1 {
		t.Fatalf("package time of this Go is not as it is known: %v", err)
	}
	f := world.Folder{TB: t, Dir: t.TempDir()}
	f.Write("time.go", strings.Replace(string(source), now, now+"\tsec += *shift\n", 1))
	f.Write("shift.go", shiftSource)
	overlay, _ := json.Marshal(map[string]any{"Replace": map[string]string{ // strings
		filepath.Join(lib, "time.go"): f.Path("time.go"), filepath.Join(lib, "shift.go"): f.Path("shift.go")}})
	f.Write("overlay.json", string(overlay))
	if out, err := exec.Command("go", "build", "-gcflags=all=-l -dwarf=false", "-ldflags=-w", "-overlay", f.Path("overlay.json"), "-o", f.Path("ralph"), "ralph/cmd/ralph").CombinedOutput(); err != nil {
		t.Fatalf("build ralph with a clock: %v\n%s", err, out)
	}
	return f.Path("ralph")
}

// change is something that the clock on the wall does.
type change struct {
	name, zone, at string        // at: when, in UTC
	set            time.Duration // by which it is set; 0: at is passed
}

// times are those of a clock before the change, in the same hour, and after it.
func (c change) times(t testing.TB) (before, after time.Time) {
	t.Helper()
	zone, err := time.LoadLocation(c.zone)
	if err != nil {
		t.Skip("no time zone data")
	}
	at, err := time.ParseInLocation(time.RFC3339, c.at, zone)
	if err != nil {
		t.Fatal(err)
	}
	if at = at.In(zone); c.set == 0 {
		return at.Add(-10 * time.Minute), at
	}
	return at, at.Add(c.set)
}

var changes = []change{
	{"an hour begins", "UTC", "2026-05-04T14:00:00Z", 0},
	{"a day begins", "Asia/Kathmandu", "2026-05-04T18:15:00Z", 0},
	{"a year begins", "America/St_Johns", "2027-01-01T03:30:00Z", 0},
	{"summer time begins", "Europe/Rome", "2026-03-29T01:00:00Z", 0},
	{"summer time ends", "Europe/Rome", "2026-10-25T01:00:00Z", 0},
	{"summer time begins at midnight", "Africa/Cairo", "2026-04-23T22:00:00Z", 0},
	{"summer time ends at midnight", "Asia/Beirut", "2026-10-24T21:00:00Z", 0},
	{"summer time of half an hour begins", "Australia/Lord_Howe", "2026-10-03T15:30:00Z", 0},
	{"summer time of half an hour ends", "Australia/Lord_Howe", "2026-04-04T15:00:00Z", 0},
	{"set an hour forward", "UTC", "2026-05-04T14:20:00Z", time.Hour},
	{"set an hour back", "UTC", "2026-05-04T14:20:00Z", -time.Hour},
	{"set an hour forward into the next year", "Asia/Kathmandu", "2026-12-31T17:50:00Z", time.Hour},
	{"set an hour back over midnight", "America/St_Johns", "2026-05-05T02:50:00Z", -time.Hour},
}

// drawn are n changes of all kinds at any time of the year.
func drawn(n int) (all []change) {
	r := rand.New(rand.NewPCG(3, 3))
	for i := range n {
		zone := changes[r.IntN(len(changes))].zone
		at := time.Date(2026, 1, 1, r.IntN(365*24), r.IntN(60), 0, 0, time.UTC)
		c := change{fmt.Sprintf("%d: %s", i, zone), zone, "", 0}
		if loc, err := time.LoadLocation(zone); err != nil {
			continue
		} else if _, next := at.In(loc).ZoneBounds(); i%3 == 0 && !next.IsZero() {
			at = next
		} else if i%3 == 1 {
			at = nextHour(at.In(loc))
		} else {
			c.set = time.Duration(1+r.IntN(90)) * time.Minute
			if i%2 == 0 {
				c.set = -c.set
			}
		}
		c.at = at.UTC().Format(time.RFC3339)
		all = append(all, c)
	}
	return all
}

func TestClock_anyChange_theBudgetOfTheHourHoldsAndWaitsEnd(t *testing.T) {
	if testing.Short() {
		t.Skip("long: each change of the clock in each situation, with a Go library of its own")
	}
	ralph := withClock(t)
	for i, c := range append(changes, drawn(amount(0, 300))...) {
		for j, situation := range []struct {
			name, act string
			do        func(w *clocked, passes bool)
		}{
			{"in a wait", "worker", (*clocked).wait},
			{"in a call", "waiter", (*clocked).call},
			{"in a pause", "worker", (*clocked).pause},
		} {
			if c.set == 0 && situation.name == "in a pause" {
				continue // a clock that is never set is not a danger to it
			}
			if !longForm && (i+j)%2 == 1 {
				continue // each change, and each situation, is tried in others
			}
			t.Run(c.name+" "+situation.name, func(t *testing.T) {
				t.Parallel()
				before, after := c.times(t)
				boxes := 4
				if situation.name == "in a call" && hourOf(after) > hourOf(before) {
					boxes = 3 // that call, and the two of the new hour
				}
				w := &clocked{newProject(t, situation.act, boxes), ralph, "", before, after}
				w.shift = filepath.Join(w.Home, "shift")
				w.Set("TZ", c.zone)
				w.Set("MAX_CALLS_PER_HOUR", "2")
				w.Set(shiftVar, w.shift)
				w.setClock(before)
				situation.do(w, c.set == 0)
			})
		}
	}
}

// clocked is a project whose clock can be set. An hour has a budget of two calls.
type clocked struct {
	*project
	ralph, shift  string    // the program, and the file
	before, after time.Time // of the change
}

// setClock sets the clock to a time, or a part of a second after it. It writes in
// place: the file is mapped.
func (w *clocked) setClock(to time.Time) {
	w.Helper()
	f, err := os.OpenFile(w.shift, os.O_CREATE|os.O_WRONLY, 0o600)
	w.Do(err)
	_, err = f.Write(binary.NativeEndian.AppendUint64(nil, uint64(int64(math.Ceil(time.Until(to).Seconds())))))
	w.Do(err)
	w.Do(f.Close())
}

func hourOf(t time.Time) string { return t.Format("2006010215") }

// nextHour is the first second in which the clock shows another hour.
func nextHour(t time.Time) time.Time {
	next := t.Truncate(time.Second)
	for hourOf(next) == hourOf(t) {
		next = next.Add(time.Second)
	}
	return next
}

// change lets the clock pass the moment, or sets it, and waits until the runner
// has seen it.
func (w *clocked) change(passes bool) {
	w.Helper()
	if passes {
		w.setClock(w.after.Add(-time.Second))
	} else {
		w.setClock(w.after)
	}
	seen := time.Now().Add(700 * time.Millisecond)
	w.Until("some time after the change", func() bool {
		return time.Now().After(seen) && shifted(w.shift).After(w.after.Add(700*time.Millisecond))
	})
}

// wait: two calls are made and the run waits for the next hour. Then the clock
// changes.
func (w *clocked) wait(passes bool) {
	w.Helper()
	p := w.Start(w.ralph)
	w.waits(p, nextHour(w.before))
	w.change(passes)
	if nextHour(w.before).After(w.after) {
		w.stays(p, nextHour(w.before))
	} else {
		w.completes(p, 2)
	}
}

// call: the clock changes during the first call.
func (w *clocked) call(passes bool) {
	w.Helper()
	p := w.Start(w.ralph)
	w.Until("a call", func() bool { return len(w.entries("call")) > 0 })
	w.change(passes)
	w.Write("go", "")
	if hourOf(w.after) > hourOf(w.before) {
		w.completes(p, 1)
	} else { // one call is left, also when the hour is an earlier one
		w.stays(p, nextHour(w.after))
	}
}

// pause: the clock changes between two calls, in a wait that is no matter of the
// clock and takes no longer than ever.
func (w *clocked) pause(bool) {
	w.Helper()
	p := w.Start(w.ralph, "--delay", "2s", "--max-iterations", "2")
	w.Until("the pause", func() bool { s, _ := w.state().Status(); return s.Phase == "waiting" }, p.Said)
	w.change(false)
	if code := p.Wait(15 * time.Second); code != 4 {
		w.Errorf("ended with %d:\n%s", code, p.Said())
	}
	w.inOrder(0)
}

// waits checks the wait for the next hour.
func (w *clocked) waits(p *world.Process, until time.Time) {
	w.Helper()
	var s state.Status
	w.Until("the wait for the next hour", func() bool {
		s, _ = w.state().Status()
		return s.Status == state.StatusWaiting && s.PID == p.Process.Pid || !p.Alive()
	}, p.Said)
	if s.Rule != "hourly" || !s.WakeAt.Equal(until) || !s.NextReset.Equal(until) || s.CallsThisHour != 2 {
		w.Errorf("rule %q waits until %s, next reset %s, %d calls; want %s", s.Rule, s.WakeAt.In(until.Location()), s.NextReset.In(until.Location()), s.CallsThisHour, until)
	}
}

// stays checks that the run still waits, and that the next start waits too.
func (w *clocked) stays(p *world.Process, until time.Time) {
	w.Helper()
	w.waits(p, until)
	for _, again := range []bool{true, false} {
		w.Start(w.ralph, "stop").Ends(0)
		p.Ends(130)
		if calls := len(w.entries("call")); calls != 2 {
			w.Errorf("%d calls in an hour, 2 are allowed", calls)
		}
		if again {
			p = w.Start(w.ralph)
			w.waits(p, nextHour(w.after))
		}
	}
	w.inOrder(4)
}

// completes checks the end of a run whose hour began anew after so many calls.
func (w *clocked) completes(p *world.Process, before int) {
	w.Helper()
	p.Ends(0)
	calls := w.entries("call")
	if len(calls) != before+2 {
		w.Fatalf("%d calls, want %d:\n%s", len(calls), before+2, p.Said())
	}
	for i, e := range calls {
		if old := e.hour != hourOf(w.after); old != (i < before) {
			w.Errorf("call %d was made in the hour %s; it is now %s", i+1, e.hour, hourOf(w.after))
		}
	}
	s, _ := w.state().Status()
	if count, hour := strings.TrimSpace(w.Read(".ralph/.call_count")), strings.TrimSpace(w.Read(".ralph/.last_reset")); count != "2" || hour != hourOf(w.after) {
		w.Errorf("%s calls are counted in the hour %s; want 2 in %s", count, hour, hourOf(w.after))
	}
	if !s.NextReset.Equal(nextHour(w.after)) {
		w.Errorf("the next reset is %s, want %s", s.NextReset, nextHour(w.after))
	}
	if open := strings.Count(w.Read(planName), "- [ ]"); open > 0 {
		w.Errorf("%d tasks are open", open)
	}
	w.inOrder(1)
}

// inOrder checks that nothing is lost, and that the loop did not spin: it has
// decided to wait at most so often.
func (w *clocked) inOrder(waits int) {
	w.Helper()
	for _, err := range unreadable(w.Path(".ralph")) {
		w.Error(err)
	}
	for _, e := range w.entries("wrong") {
		w.Error(e.text)
	}
	log := strings.Fields(w.Git("log", "--format=%H"))
	if ticks := len(w.entries("tick")); len(log) != 1+ticks || ticks != len(w.entries("call")) {
		w.Errorf("%d calls, %d ticks, %d commits", len(w.entries("call")), ticks, len(log)-1)
	}
	if n := strings.Count(w.Read(".ralph/events.jsonl"), `"rule":"hourly"`); n > waits {
		w.Errorf("it was decided %d times to wait", n)
	}
}
