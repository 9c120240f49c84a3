package monitor

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gdamore/tcell/v2"

	"ralph/monitor/canvas"
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

func pageOf(all ...state.Payload) *transcriptPage {
	p := newTranscript(transcriptSubject{Run: "r", Number: 3, Title: "Log in", Dir: "/p"})
	p.Load(told(all...))
	return p
}

func transcriptDrawn(t *testing.T, p *transcriptPage, w, h int) string {
	t.Helper()
	screen := tcell.NewSimulationScreen("UTF-8")
	if err := screen.Init(); err != nil {
		t.Fatal(err)
	}
	defer screen.Fini()
	screen.SetSize(w, h)
	p.Draw(canvas.Canvas{Screen: screen, W: w, H: h}, scene{Model: &view.Model{}, Now: transcriptNoon})
	screen.Show()
	cells, w, h := screen.GetContents()
	var b strings.Builder
	for y := range h {
		row := ""
		for x := range w {
			row += string(cells[y*w+x].Runes)
		}
		b.WriteString(strings.TrimRight(row, " ") + "\n")
	}
	return b.String()
}

func transcriptPress(t *testing.T, p *transcriptPage, all ...string) (act keyAct) {
	t.Helper()
	for _, name := range all {
		e := tcell.NewEventKey(tcell.KeyRune, []rune(name)[0], tcell.ModNone)
		if name == "enter" {
			e = tcell.NewEventKey(tcell.KeyEnter, 0, tcell.ModNone)
		}
		var known bool
		if act, known = p.Key(e); !known {
			t.Fatalf("the page does not know %q", name)
		}
	}
	return act
}

func TestDraw_parallelCallsAndSubAgents_haveTheirAnswersBelow(t *testing.T) {
	task := state.Tool{ID: "0", Name: "Task", Arg: "look around"}
	a, b := state.Tool{ID: "a", Name: "Read", Arg: "a.go", Parent: "0"}, state.Tool{ID: "b", Name: "Read", Arg: "b.go"}
	p := pageOf(task, a, b, state.ToolResult{Tool: b, Text: "text of b"}, state.ToolResult{Tool: a, Text: "text of a", Error: true},
		state.ToolResult{Tool: task, Text: "I saw a"})
	transcriptPress(t, p, "z", "z") // all unfolded
	want := []string{"▾ Task look around", "  ▾ Read a.go", "   │ text of a", " │ I saw a", "▾ Read b.go", " │ text of b"}
	got := strings.Split(transcriptDrawn(t, p, 60, 12), "\n")[1:]
	for i, line := range want {
		if !strings.HasPrefix(got[i], line) {
			t.Errorf("row %d is %q, want %q", i, got[i], line)
		}
	}
	transcriptPress(t, p, "g", "enter")
	if all := transcriptDrawn(t, p, 60, 12); strings.Contains(all, "a.go") || !strings.Contains(all, "1 call · 1 line · ✓") {
		t.Errorf("the sub-agent is not folded:\n%s", all)
	}
}

func TestAdd_eventsThatCameBeforeLoadOrTwice_areThereOnce(t *testing.T) {
	all := told(state.Text{Text: "one"}, state.Text{Text: "two"}, state.Text{Text: "three"})
	other := told(state.Text{Text: "other"})
	other[0].Iteration, other[0].Seq = 4, 9
	p := newTranscript(transcriptSubject{Run: "r", Number: 3})
	p.Add(all[1:])
	p.Load(all[:2])
	p.Add(append(all[2:], other...))
	if got := p.text(); got != "one\ntwo\nthree\n" {
		t.Errorf("%q", got)
	}
}

func TestKeys_turnsCopyEditAndOtherPages(t *testing.T) {
	edit := state.Tool{ID: "a", Name: "Edit", Arg: "src/a.go", File: true, Hunk: "-old\n+new"}
	p := pageOf(state.Text{Text: "first"}, edit, state.ToolResult{Tool: edit, Text: "done"}, state.Text{Text: "second"},
		state.FinalMessage{Text: "second"})
	transcriptDrawn(t, p, 80, 24)
	transcriptPress(t, p, "g")
	if got := transcriptPress(t, p, "y").Copy; got != "first" {
		t.Errorf("copied %q", got)
	}
	transcriptPress(t, p, "]")
	if got := transcriptPress(t, p, "y").Copy; got != "second" {
		t.Errorf("copied %q in the second turn", got)
	}
	transcriptPress(t, p, "[", "j")
	if got := transcriptPress(t, p, "y").Copy; !strings.Contains(got, "-old\n+new\ndone") {
		t.Errorf("copied %q of the edit", got)
	}
	if got := transcriptPress(t, p, "e").Edit; got.Name != "src/a.go" || got.Text != "" {
		t.Errorf("opens %+v", got)
	}
	transcriptPress(t, p, "g")
	if got := transcriptPress(t, p, "e").Edit; !strings.Contains(got.Text, "> Edit src/a.go\n    -old\n") {
		t.Errorf("opens %+v", got)
	}
	if got := transcriptPress(t, p, "d"); got.Open != pageChanges || got.Of != 3 || !got.Close {
		t.Errorf("%+v", got)
	}
}

func TestDraw_longLive_followsAndKeepsThePlaceWhenScrolledBack(t *testing.T) {
	p := pageOf()
	for i := range 100 {
		e := told(state.Text{Text: fmt.Sprintf("line %d \x1b[31m and more words than fit", i)})[0]
		e.Seq = int64(i + 1)
		p.Add([]state.Event{e})
	}
	if got := transcriptDrawn(t, p, 40, 10); !strings.Contains(got, "line 99") || strings.Contains(got, "\x1b") {
		t.Error(got)
	}
	p.Scroll(-50)
	before := transcriptDrawn(t, p, 40, 10)
	e := told(state.Text{Text: "one more"})[0]
	e.Seq = 1000
	p.Add([]state.Event{e})
	if got := transcriptDrawn(t, p, 40, 10); got != strings.Replace(before, "99 of", "100 of", 1) {
		t.Errorf("it moved:\n%s\n%s", before, got)
	}
	for _, size := range [][2]int{{1, 1}, {3, 2}, {10, 3}, {200, 50}} {
		transcriptDrawn(t, p, size[0], size[1])
	}
}
