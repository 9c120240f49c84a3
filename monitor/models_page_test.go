package monitor

import (
	"testing"

	"ralph/state"
)

const agents = `[{"agent":"claude","runs":true,"chosen":true,"models":["opus","sonnet"]},{"agent":"codex","runs":true,"models":["gpt-5"]},{"agent":"amp","runs":false,"models":["x"]}]`

func modelsOver(t *testing.T, data string) (u *ui, verbs *[]string) {
	u, verbs = recorded(t)
	u.model.Alive, u.model.Status = true, state.Status{Agent: "codex"}
	u.pending.Store(true) // nothing is drawn
	u.openModels()
	u.mu.Lock() // what ralph says does not come
	t.Cleanup(u.mu.Unlock)
	if data != "" {
		if err := u.front().page.(*modelsPage).load([]byte(data)); err != nil {
			t.Fatal(err)
		}
	}
	return u, verbs
}

func TestModels_whatIsTyped_isChosen(t *testing.T) {
	for typed, want := range map[string]string{
		"<down><down><down>": "agent use -- codex",
		"opus":               "agent use --model=opus -- claude",
		"snt":                "agent use --model=sonnet -- claude",
		"codex":              "agent use -- codex",
		"codex gpt-9":        "agent use --model=gpt-9 -- codex",
		"gpt5":               "agent use --model=gpt-5 -- codex",
		"brand-new":          "agent use --model=brand-new -- codex",
		"amp":                "agent use --model=amp -- codex",
	} {
		u, verbs := modelsOver(t, agents)
		if u.types(t, typed); len(*verbs) > 0 {
			t.Fatal("a letter has chosen")
		}
		u.types(t, "<enter>")
		if len(*verbs) != 1 || (*verbs)[0] != want || u.front().page != u.run {
			t.Errorf("%q: %q, want %q", typed, *verbs, want)
		}
	}
}

func TestModels_withoutAgents_choosesNothing(t *testing.T) {
	u, verbs := modelsOver(t, "")
	if u.types(t, "opus<enter>"); len(*verbs) > 0 {
		t.Error(*verbs)
	}
	if err := (&modelsPage{}).load([]byte("{")); err == nil {
		t.Error("no error")
	}
}
