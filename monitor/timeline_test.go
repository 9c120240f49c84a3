package monitor

import (
	"strings"
	"testing"
	"time"

	"github.com/gdamore/tcell/v2"

	"ralph/internal/sample"
	"ralph/monitor/canvas"
	"ralph/state"
	"ralph/state/view"
)

func timelineDrawn(t *testing.T, p *timelinePage, m *view.Model, size [2]int, forecast ...string) string {
	t.Helper()
	screen := tcell.NewSimulationScreen("UTF-8")
	if err := screen.Init(); err != nil {
		t.Fatal(err)
	}
	defer screen.Fini()
	screen.SetSize(size[0], size[1])
	p.Draw(canvas.Canvas{Screen: screen, W: size[0], H: size[1]}, m, sample.Noon, strings.Join(append(forecast, "done about 16:00")[:1], ""))
	screen.Show()
	cells, w, _ := screen.GetContents()
	var b strings.Builder
	for i, c := range cells {
		b.WriteString(string(c.Runes))
		if i%w == w-1 {
			b.WriteString("\n")
		}
	}
	return b.String()
}

func TestDraw_sample_showsCellsCostBurnAndForecast(t *testing.T) {
	s, events := sample.Run(sample.Noon)
	m := &view.Model{}
	m.Apply(view.Update{Snapshot: s, Events: events})
	for _, size := range [][2]int{{60, 12}, {80, 21}, {200, 47}} {
		got := timelineDrawn(t, &timelinePage{}, m, size)
		for _, want := range []string{"7 iterations", "✓!✓!·! 1h 05m ●", "   1  13:18", "cost", "tokens", "done about 16:00"} {
			if !strings.Contains(got, want) {
				t.Errorf("at %v there is no %q:\n%s", size, want, got)
			}
		}
		if !strings.Contains(got, "17 % of $20.00, used up at this rate 20:19, in 5h 49m ") {
			t.Errorf("no burn rate:\n%s", got)
		}
	}
	if got := timelineDrawn(t, &timelinePage{}, &view.Model{}, [2]int{60, 12}); !strings.Contains(got, "no iteration has begun yet") {
		t.Error(got)
	}
}

func TestDraw_longRun_fillsBandsAndScrollsBack(t *testing.T) {
	m := &view.Model{}
	for i := 1; i <= 400; i++ {
		at := sample.Noon.Add(time.Duration(i-500) * time.Minute)
		o := state.Origin{Run: "r", Iteration: i}
		m.Run.Add(state.NewEvent(o, at, state.IterationStart{Title: "a task"}))
		m.Run.Add(state.NewEvent(o, at.Add(50*time.Second), state.IterationEnd{Outcome: view.CompletedTurn, Seconds: 50}))
	}
	p := &timelinePage{}
	latest := timelineDrawn(t, p, m, [2]int{60, 12})
	if strings.Contains(latest, "   1  ") || !strings.Contains(latest, " 361  ") {
		t.Errorf("it does not show the latest:\n%s", latest)
	}
	p.Scroll(-100)
	if got := timelineDrawn(t, p, m, [2]int{60, 12}); !strings.Contains(got, "   1  ") {
		t.Errorf("it does not show the first:\n%s", got)
	}
	p.Scroll(100)
	if timelineDrawn(t, p, m, [2]int{60, 12}) != latest {
		t.Error("it does not come back")
	}
}

func TestClick_cell_choosesItsIteration(t *testing.T) {
	s, events := sample.Run(sample.Noon)
	m := &view.Model{}
	m.Apply(view.Update{Snapshot: s, Events: events})
	p := &timelinePage{}
	timelineDrawn(t, p, m, [2]int{60, 12})
	for _, c := range []struct{ x, y, want int }{{margin, 0, 1}, {margin + 2, 2, 3}, {margin, 3, 0}, {0, 0, 0}, {margin + 7, 0, 0},
		{margin + 14, 0, 7}} {
		if got := p.Click(c.x, c.y); got != c.want {
			t.Errorf("at %d, %d: %d, want %d", c.x, c.y, got, c.want)
		}
	}
}

func TestStep_choosesFromTheLatestOn_andSaysWhatItCameTo(t *testing.T) {
	s, events := sample.Run(sample.Noon)
	m := &view.Model{}
	m.Apply(view.Update{Snapshot: s, Events: events})
	p := &timelinePage{}
	for _, step := range []struct {
		by, want int
		says     string
	}{{-1, 7, "7 ● · #7 Add cursor"}, {-1, 6, "6 ! · task 6 of the plan · done"}, {-9, 1, "1 ✓ · task 1 of the plan"}, {1, 2, "2 ! · task 2"}} {
		if got := p.Step(&m.Run, step.by); got != step.want {
			t.Errorf("by %d: %d, want %d", step.by, got, step.want)
		}
		if got := timelineDrawn(t, p, m, [2]int{80, 21}); !strings.Contains(got, step.says) {
			t.Errorf("no %q in\n%s", step.says, got)
		}
	}
	if got := (&timelinePage{}).Step(&view.Run{}, 1); got != 0 {
		t.Error(got)
	}
	for p.Step(&m.Run, -9); p.chosen < 7; p.Step(&m.Run, 1) { // every one is on the screen
		shown := false
		timelineDrawn(t, p, m, [2]int{20, 8})
		for _, s := range p.spots {
			shown = shown || s.number == p.chosen
		}
		if !shown {
			t.Errorf("%d is out of sight: %v", p.chosen, p.spots)
		}
	}
}
