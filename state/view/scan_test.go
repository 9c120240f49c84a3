package view_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ralph/internal/sample"
	"ralph/state"
	"ralph/state/view"
)

func TestLines_longOnesAndHalfOnes_areWholeOrLeftOut(t *testing.T) {
	name := filepath.Join(t.TempDir(), "events")
	long := strings.Repeat("x", 3<<20)
	if err := os.WriteFile(name, []byte("one\n"+long+"\n\nlast\nhalf"), 0o600); err != nil {
		t.Fatal(err)
	}
	var got []string
	at, err := view.ScanLines(name, 0, -1, func(line []byte) bool {
		got = append(got, string(line))
		return true
	})
	if err != nil || len(got) != 4 || got[1] != long || got[3] != "last" || at != int64(len(long)+11) {
		t.Errorf("%d lines up to %d: %v", len(got), at, err)
	}
	var first string
	if at, _ = view.ScanLines(name, 4+int64(len(long))+2, -1, func(line []byte) bool { first = string(line); return false }); first != "last" {
		t.Errorf("%q, then %d", first, at)
	}
	if at, err = view.ScanLines(name+"-none", 5, -1, nil); at != 5 || err != nil {
		t.Errorf("a missing file: %d, %v", at, err)
	}
}

func TestIteration_ofAllFiles_isThereUpToABound(t *testing.T) {
	pr := sample.Empty(t)
	if err := os.MkdirAll(pr.StateDir(), 0o755); err != nil {
		t.Fatal(err)
	}
	var events []state.Event
	for i := range 300 {
		e := sample.Say(strings.Repeat("y", 100))
		e.Iteration, e.Seq = i%3+1, int64(i+1)
		events = append(events, e)
	}
	pr.Add(events...)
	all, err := view.EventsOfIteration(pr.Reader(), "r", 2, 1<<20)
	if err != nil || len(all) != 100 || all[0].Seq != 2 {
		t.Errorf("%d events: %v", len(all), err)
	}
	if all, _ = view.EventsOfIteration(pr.Reader(), "r", 2, 1000); len(all) == 0 || len(all) > 10 || all[len(all)-1].Seq != 299 {
		t.Errorf("%d events within the bound", len(all))
	}
}

// written is a project whose events stand in three files, a second apart, and the time of the first.
func written(t *testing.T) (*state.Reader, time.Time) {
	t.Helper()
	pr := sample.Empty(t)
	if err := os.MkdirAll(pr.StateDir(), 0o755); err != nil {
		t.Fatal(err)
	}
	for i, name := range []string{"events-2026-11-20T10-00-00.000.jsonl", "events-2026-11-20T11-00-00.000.jsonl", "events.jsonl"} {
		var lines []byte
		for j := range 1000 {
			e := state.NewEvent(state.Origin{Run: "r", Iteration: 1}, sample.Noon.Add(time.Duration(i*1000+j)*time.Second),
				state.Text{Text: strings.Repeat("x", j%700)})
			e.Seq = int64(i*1000 + j + 1)
			lines = append(lines, sample.Encode(t, e)...)
		}
		lines = append(lines, "half a li"...)
		if err := os.WriteFile(filepath.Join(pr.StateDir(), name), lines, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return pr.Reader(), sample.Noon
}

func TestEventsBefore_aTime_areTheEventsNextToIt(t *testing.T) {
	r, first := written(t)
	for _, n := range []int{0, 1, 2, 17, 500, 999, 1000, 1001, 1999, 2000, 2500, 2999, 3000, 5000} {
		at := first.Add(time.Duration(n) * time.Second)
		before, err := view.EventsBefore(r, at, 20_000)
		last, count := min(n, 3000), len(before)
		if err != nil || (count == 0) != (last == 0) || count > 0 && before[count-1].Seq != int64(last) {
			t.Fatalf("before %d: %d events, %v", n, count, err)
		}
		for i := range before {
			if i > 0 && before[i].Seq != before[i-1].Seq+1 {
				t.Fatalf("at %d: %d follows %d", n, before[i].Seq, before[i-1].Seq)
			}
		}
	}
	if all, _ := view.EventsBefore(r, first.Add(1500*time.Second), 1<<30); len(all) != 1500 {
		t.Errorf("%d events before the middle", len(all))
	}
}
