package monitor

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"ralph/state"
	"ralph/state/view"
)

var transcriptNoon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// told are events of iteration 3, numbered, a second apart.
func told(all ...state.Payload) (events []state.Event) {
	for i, p := range all {
		e := state.NewEvent(state.Origin{Run: "r", Iteration: 3}, transcriptNoon.Add(time.Duration(i)*time.Second), p)
		e.Seq = int64(i + 1)
		events = append(events, e)
	}
	return events
}

func transcriptOver(t *testing.T, all ...state.Payload) (*ui, *transcriptPage) {
	u, _ := recorded(t)
	u.o.Dir = "/p"
	p := newTranscript(u, "r", 3)
	p.marks = true
	u.open("transcript", p)
	p.load(told(all...))
	return u, p
}

func TestTranscript_parallelCallsAndSubAgents_haveTheirAnswersBelow(t *testing.T) {
	task := state.Tool{ID: "0", Name: "Task", Arg: "look around"}
	a, b := state.Tool{ID: "a", Name: "Read", Arg: "a.go", Parent: "0"}, state.Tool{ID: "b", Name: "Read", Arg: "b.go"}
	u, _ := transcriptOver(t, task, a, b, state.ToolResult{Tool: b, Text: "text of b"}, state.ToolResult{Tool: a, Text: "text of a", Error: true},
		state.ToolResult{Tool: task, Text: "I saw a"})
	look := func(want ...string) {
		t.Helper()
		got := strings.Split(u.picture(t, [2]int{60, 14}), "\n")[3:]
		for i, line := range want {
			if !strings.HasPrefix(got[i], line) {
				t.Errorf("row %d is %q, want %q", i, got[i], line)
			}
		}
	}
	look("▸ Task look around · ✓ 1 line", "▹   Read a.go · ✗ failed", "│   text of a", "▸ Read b.go · ✓ 1 line")
	u.types(t, "z")
	look("▸ Task look around · ✓ 1 line", "▹   Read a.go · ✗ failed", "│   text of a", "│ I saw a", "▸ Read b.go · ✓ 1 line", "│ text of b")
	u.types(t, "z")
	look("▸ Task look around · ✓ 1 line", "▹   Read a.go · ✗ failed", "│   text of a", "▸ Read b.go · ✓ 1 line")
	u.types(t, "gj<enter>") // the failed one
	look("▸ Task look around · ✓ 1 line", "▹   Read a.go · ✗ failed", "▸ Read b.go · ✓ 1 line")
	u.types(t, "j<enter>")
	look("▸ Task look around · ✓ 1 line", "▹   Read a.go · ✗ failed", "▸ Read b.go · ✓ 1 line", "│ text of b")
	u.types(t, "j<enter>") // on the answer
	look("▸ Task look around · ✓ 1 line", "▹   Read a.go · ✗ failed", "▸ Read b.go · ✓ 1 line")
}

// What is read must not move away when answers appear above it.
func TestTranscript_unfolded_keepsThePlace(t *testing.T) {
	var all []state.Payload
	for i := range 40 {
		tool := state.Tool{ID: fmt.Sprint(i), Name: "Read", Arg: fmt.Sprintf("file %d", i)}
		all = append(all, tool, state.ToolResult{Tool: tool, Text: "one\ntwo\nthree"})
	}
	u, p := transcriptOver(t, all...)
	u.picture(t, [2]int{60, 14})
	p.Scroll(-5)
	row := func() int {
		return slices.IndexFunc(strings.Split(u.picture(t, [2]int{60, 14}), "\n"), func(row string) bool { return strings.Contains(row, "file 34 ") })
	}
	before := row()
	for _, key := range []string{"z", "z", "<enter>", "<enter>"} {
		u.types(t, key)
		if got := row(); got != before || before < 3 {
			t.Errorf("%s: the call is in row %d, was in %d", key, got, before)
		}
	}
}

func TestTranscript_eventsThatCameBeforeLoadOrTwice_areThereOnce(t *testing.T) {
	all := told(state.Text{Text: "one"}, state.Text{Text: "two"}, state.Text{Text: "three"})
	other := told(state.Text{Text: "other"})
	other[0].Iteration, other[0].Seq = 4, 9
	p := newTranscript(still(t, view.Snapshot{}, nil), "r", 3)
	p.receive(all[1:])
	p.load(all[:2])
	p.receive(append(all[2:], other...))
	got := ""
	for _, l := range p.lines() {
		got += l.Text + "|"
	}
	if got != "one|two|three|" {
		t.Errorf("%q", got)
	}
}

func TestDraw_longLive_followsAndKeepsThePlaceWhenScrolledBack(t *testing.T) {
	u, p := transcriptOver(t)
	for i := range 100 {
		e := told(state.Text{Text: fmt.Sprintf("line %d \x1b[31m and more words than fit", i)})[0]
		e.Seq = int64(i + 1)
		p.receive([]state.Event{e})
	}
	if got := u.picture(t, [2]int{40, 12}); !strings.Contains(got, "line 99") || strings.Contains(got, "\x1b") {
		t.Error(got)
	}
	p.Scroll(-50)
	before := u.picture(t, [2]int{40, 12})
	e := told(state.Text{Text: "one more"})[0]
	e.Seq = 1000
	p.receive([]state.Event{e})
	if got := u.picture(t, [2]int{40, 12}); got != before {
		t.Errorf("it moved:\n%s\n%s", before, got)
	}
	for _, size := range [][2]int{{1, 1}, {3, 2}, {10, 3}, {200, 50}} {
		u.picture(t, size)
	}
}
