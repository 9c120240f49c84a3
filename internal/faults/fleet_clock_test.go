//go:build linux

package faults

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"ralph/internal/world"
	"ralph/state"
)

// offClock does its task as beside does, on a machine whose clock is wrong, for git too. The first call on machine 0
// meets a usage limit that ends soon.
func (a *actor) offClock() int {
	machine := os.Getenv(machineVar)
	for _, name := range []string{"GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"} {
		_ = os.Setenv(name, fmt.Sprintf("@%d +0000", shifted(os.Getenv(shiftVar)).Unix()))
	}
	limited := machine == "0"
	for _, e := range readBooks(os.Getenv(ledgerVar)) {
		limited = limited && e.kind != "limited"
	}
	if !limited {
		return a.beside()
	}
	a.listen()
	note("limited", machine)
	return a.result(false, map[string]any{"is_error": true, "result": "You've hit your usage limit. Try again in 2 seconds."})
}

// The clock of one worker is ten minutes ahead, that of the other one ten minutes behind. Each task lands once, the run
// waits for a limit by its own clock, and so do its events, its commits and its report.
func TestFleet_clocksTenMinutesOff_timesAreTheRuns(t *testing.T) {
	world.Long(t, "a program with a Go library of its own, and a fleet")
	t.Parallel()
	hub := filepath.Join(filepath.Dir(withClock(t)), "ralph-hub") // it starts the ralph beside it
	f := newServer(t, "off-clock", 6)
	f.Do(exec.Command("cp", filepath.Join(world.Programs(t), "ralph-hub"), hub).Run())
	for i, off := range []time.Duration{10 * time.Minute, -10 * time.Minute} {
		file := filepath.Join(f.Home, fmt.Sprint("shift", i))
		f.Do(os.WriteFile(file, binary.NativeEndian.AppendUint64(nil, uint64(int64(off.Seconds()))), 0o600))
		f.program[i], f.env[i] = hub, []string{shiftVar + "=" + file}
		f.workers = append(f.workers, nil)
		f.startWorker(i)
	}
	f.joined(2)
	began := time.Now()
	f.run().Ends(0)
	ended := time.Now()
	f.wantAllOnce()
	if f.triedOn("0") == 0 || f.triedOn("1") == 0 || len(f.entries("limited")) != 1 {
		t.Errorf("tries: %v; limits: %v", f.entries("try"), f.entries("limited"))
	}
	f.wantEventsWithin(began, ended)
	for _, line := range strings.Fields(f.Git("log", "--format=%at%n%ct", "-6")) {
		if at, err := strconv.ParseInt(line, 10, 64); err != nil || at < began.Unix() || at > ended.Unix() {
			t.Errorf("a commit is of %s, the run from %s to %s: %v", time.Unix(at, 0), began, ended, err)
		}
	}
	f.wantReportOf(ended.Sub(began))
	f.close()
}

// wantEventsWithin checks that the events are in order, and of this time. Turns side by side may tell of theirs at the
// same moment.
func (f *fleet) wantEventsWithin(began, ended time.Time) {
	f.Helper()
	last := began.Add(-time.Second)
	for line := range strings.Lines(f.Read(".ralph/events.jsonl")) {
		var e struct {
			Kind string
			Time time.Time
			Data struct {
				Seconds float64
			}
		}
		f.Do(json.Unmarshal([]byte(line), &e))
		if e.Time.Before(last.Add(-time.Second)) || e.Time.After(ended) {
			f.Errorf("%s at %s: the event before is of %s, and the run ended at %s", e.Kind, e.Time, last, ended)
		}
		if last = e.Time; e.Data.Seconds < 0 || e.Data.Seconds > ended.Sub(began).Seconds() {
			f.Errorf("%s took %g seconds of %s", e.Kind, e.Data.Seconds, ended.Sub(began))
		}
	}
}

// wantReportOf checks that the report of a run accounts for at most so much time.
func (f *fleet) wantReportOf(most time.Duration) {
	f.Helper()
	p := f.ralph("report", "--json")
	p.Ends(0)
	var r struct {
		Time  map[string]float64
		Tasks []struct{ Seconds float64 }
	}
	f.Do(json.Unmarshal([]byte(p.Said()), &r))
	sum := 0.0
	for part, seconds := range r.Time {
		if seconds < 0 || seconds > most.Seconds() {
			f.Errorf("%s took %g seconds of %s", part, seconds, most)
		}
		if part != "total" {
			sum += seconds
		}
	}
	if math.Abs(sum-r.Time["total"]) > 0.1 || r.Time["agent"] == 0 || len(r.Tasks) != f.tasks {
		f.Errorf("%d tasks; the parts add up to %g seconds: %v", len(r.Tasks), sum, r.Time)
	}
	for _, task := range r.Tasks {
		if task.Seconds < 0 || task.Seconds > most.Seconds() {
			f.Errorf("a task took %g seconds of %s", task.Seconds, most)
		}
	}
	if s, err := f.state().Status(); err != nil || s.Status != state.StatusCompleted {
		f.Errorf("%+v %v", s, err)
	}
}
