package scan_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ralph/internal/sample"
	"ralph/state"
	"ralph/state/view"
	"ralph/state/view/scan"
)

func TestHeadOf_readsWhatStandsBeforeThePayload(t *testing.T) {
	e := state.NewEvent(state.Origin{Run: "r1", Iteration: 12, Task: `"kind":"x"`}, time.Now(),
		state.Text{Text: `"data": "kind":"tool","iteration":9`})
	h := scan.HeadOf(sample.Encode(t, e))
	if string(h.Kind) != "text" || string(h.Run) != "r1" || h.Iteration != 12 {
		t.Errorf("%s %s %d", h.Kind, h.Run, h.Iteration)
	}
	if h := scan.HeadOf([]byte("not JSON")); len(h.Kind) != 0 || h.Iteration != 0 {
		t.Errorf("%+v", h)
	}
}

func TestLines_longOnesAndHalfOnes_areWholeOrLeftOut(t *testing.T) {
	name := filepath.Join(t.TempDir(), "events")
	long := strings.Repeat("x", 3<<20)
	if err := os.WriteFile(name, []byte("one\n"+long+"\n\nlast\nhalf"), 0o600); err != nil {
		t.Fatal(err)
	}
	var got []string
	at, err := scan.Lines(name, 0, -1, func(line []byte) bool {
		got = append(got, string(line))
		return true
	})
	if err != nil || len(got) != 4 || got[1] != long || got[3] != "last" || at != int64(len(long)+11) {
		t.Errorf("%d lines up to %d: %v", len(got), at, err)
	}
	var first string
	if at, _ = scan.Lines(name, 4+int64(len(long))+2, -1, func(line []byte) bool { first = string(line); return false }); first != "last" {
		t.Errorf("%q, then %d", first, at)
	}
	if at, err = scan.Lines(name+"-none", 5, -1, nil); at != 5 || err != nil {
		t.Errorf("a missing file: %d, %v", at, err)
	}
}

func TestIteration_ofAllFiles_isThereUpToABound(t *testing.T) {
	pr := sample.New(t, view.Snapshot{}, nil)
	var events []state.Event
	for i := range 300 {
		e := sample.Say(strings.Repeat("y", 100))
		e.Iteration, e.Seq = i%3+1, int64(i+1)
		events = append(events, e)
	}
	pr.Add(events...)
	all, err := scan.Iteration(pr.Reader(), "r", 2, 1<<20)
	if err != nil || len(all) != 100 || all[0].Seq != 2 {
		t.Errorf("%d events: %v", len(all), err)
	}
	if all, _ = scan.Iteration(pr.Reader(), "r", 2, 1000); len(all) == 0 || len(all) > 10 || all[len(all)-1].Seq != 299 {
		t.Errorf("%d events within the bound", len(all))
	}
}
