package monitor

import (
	"strings"
	"testing"

	"github.com/gdamore/tcell/v2"

	"ralph/monitor/canvas"
)

const agents = `[{"agent":"claude","runs":true,"chosen":true,"models":["opus","sonnet"]},{"agent":"codex","runs":true,"models":["gpt-5"]},{"agent":"amp","runs":false,"models":["x"]}]`

func TestKeys_chooseWhatIsTyped(t *testing.T) {
	for _, c := range []struct{ typed, want string }{
		{"", "agent use -- codex"},
		{"opus", "agent use --model=opus -- claude"},
		{"snt", "agent use --model=sonnet -- claude"},
		{"codex", "agent use -- codex"},
		{"codex gpt-9", "agent use --model=gpt-9 -- codex"},
		{"gpt5", "agent use --model=gpt-5 -- codex"},
		{"brand-new", "agent use --model=brand-new -- codex"},
		{"amp", "agent use --model=amp -- codex"},
	} {
		p := newModelsPage("codex")
		if err := p.Load([]byte(agents)); err != nil {
			t.Fatal(err)
		}
		for _, r := range c.typed {
			if act, _ := p.Key(tcell.NewEventKey(tcell.KeyRune, r, tcell.ModNone)); act.Verb != nil || act.Close {
				t.Fatal("a letter has chosen")
			}
		}
		if c.typed == "" {
			p.Scroll(3)
		}
		act, _ := p.Key(tcell.NewEventKey(tcell.KeyEnter, 0, tcell.ModNone))
		if got := strings.Join(act.Verb, " "); got != c.want || !act.Close {
			t.Errorf("%q: %q, want %q", c.typed, got, c.want)
		}
	}
}

func TestPage_withoutAgents_choosesNothing(t *testing.T) {
	screen := tcell.NewSimulationScreen("UTF-8")
	if err := screen.Init(); err != nil {
		t.Fatal(err)
	}
	defer screen.Fini()
	for _, data := range []string{"", "[]", agents} {
		for _, size := range [][2]int{{1, 1}, {20, 3}, {60, 12}} {
			p := newModelsPage("")
			if data != "" && p.Load([]byte(data)) != nil {
				t.Fatal(data)
			}
			p.Draw(canvas.Canvas{Screen: screen, W: size[0], H: size[1]}, scene{})
			act, _ := p.Key(tcell.NewEventKey(tcell.KeyEnter, 0, tcell.ModNone))
			if (act.Verb != nil) != (data == agents) {
				t.Errorf("%q: %q", data, act.Verb)
			}
		}
	}
	if newModelsPage("").Load([]byte("{")) == nil {
		t.Error("no error")
	}
	p := newModelsPage("text")
	if err := p.Load([]byte("[]")); err != nil || len(p.Shown) != 1 {
		t.Errorf("the agent of the run is missing: %v, %v", p.Shown, err)
	}
	p = newModelsPage("")
	p.Fail("because")
	p.Draw(canvas.Canvas{Screen: screen, W: 60, H: 3}, scene{})
}
