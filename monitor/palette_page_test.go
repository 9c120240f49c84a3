package monitor

import (
	"strings"
	"testing"

	"github.com/gdamore/tcell/v2"

	"ralph/monitor/canvas"
)

func paletteSample() *palettePage {
	p := newPalettePage([]paletteEntry{{Kind: "key", Name: "pause after this iteration", Key: "p"}, {Kind: "panel", Name: "Iterations", Key: "4"}}, 12)
	p.Add([]paletteEntry{{Kind: "task", Name: "T7 Add cursor pagination", Task: "T7"}})
	return p
}

func palettePress(p *palettePage, text string) (e paletteEntry, closed bool) {
	for _, r := range text {
		e, closed = p.Key(tcell.NewEventKey(tcell.KeyRune, r, tcell.ModNone))
	}
	return e, closed
}

func enter(p *palettePage) (paletteEntry, bool) {
	return p.Key(tcell.NewEventKey(tcell.KeyEnter, 0, tcell.ModNone))
}

func TestKey_lettersInOrder_findCommandsPanelsAndTasks(t *testing.T) {
	for typed, want := range map[string]paletteEntry{
		"paus":     {Kind: "key", Name: "pause after this iteration", Key: "p"},
		"pan iter": {Kind: "panel", Name: "Iterations", Key: "4"},
		"cursor":   {Kind: "task", Name: "T7 Add cursor pagination", Task: "T7"},
		"11":       {Kind: "iteration", Name: "review iteration 11", Turn: 11},
		"13":       {}, // there are 12
		"zzz":      {},
	} {
		p := paletteSample()
		palettePress(p, typed)
		if got, closed := enter(p); got != want || !closed {
			t.Errorf("%q chose %+v, %v", typed, got, closed)
		}
	}
	p := paletteSample()
	p.Scroll(1)
	p.Add([]paletteEntry{{Kind: "task", Name: "T8", Task: "T8"}})
	if got, _ := enter(p); got.Key != "4" {
		t.Errorf("the selection moved to %+v", got)
	}
}

func TestDraw_fitsAnySize(t *testing.T) {
	for _, size := range [][2]int{{60, 15}, {80, 24}, {200, 50}} {
		screen := tcell.NewSimulationScreen("UTF-8")
		if err := screen.Init(); err != nil {
			t.Fatal(err)
		}
		screen.SetSize(size[0], size[1])
		paletteSample().Draw(canvas.Canvas{Screen: screen, W: size[0], H: size[1]})
		screen.Show()
		cells, w, _ := screen.GetContents()
		got := ""
		for i, c := range cells {
			if got += string(c.Runes); i%w == w-1 {
				got += "\n"
			}
		}
		for _, want := range []string{"Commands, panels and tasks", "key       p       pause after this iteration", "3 of 3"} {
			if !strings.Contains(got, want) {
				t.Errorf("no %q in\n%s", want, got)
			}
		}
		screen.Fini()
	}
}
