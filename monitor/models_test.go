package monitor

import "testing"

func TestModels_areChosenByTyping(t *testing.T) {
	p := openPane(t, living(t).Dir, [2]int{60, 15})
	p.shows("RUNNING")
	p.keys("m")
	p.shows("m Agent and model", "claude", "opus", "codex", "its own default")
	p.keys("a", "Escape") // an a is typed; it aborts nothing
	p.shows("l Live log")
	p.keys("m")
	p.shows("gpt-5")
	p.keys("c", "o", "d", "Space", "g", "Enter")
	p.shows("agent will act soon", "l Live log")
	if got, want := p.called(), "agent use --model=gpt-5 -- codex"; got != want {
		t.Errorf("the verb was %q, want %q", got, want)
	}
}
