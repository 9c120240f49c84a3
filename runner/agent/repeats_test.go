package agent

import (
	"testing"

	"ralph/state"
)

// Among the recordings, one call is in circles: the mock API answers it with the same
// command for ever. The others that do so are bounded by their CLI after a few calls.
func TestRecordings_onlyTheEndlessOneRepeatsItself(t *testing.T) {
	all, err := allRecordings()
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, g := range goldens(t) {
		r, ok := all[g.name]
		if !ok {
			t.Fatalf("%s: no recording", g.name)
		}
		s, _ := Find(g.agent)
		watch, why, steps, at := StuckWatch{}, "", 0, 0
		d := s.NewDecoder(func(p state.Payload) {
			why = watch.See(p)
			if _, answer := p.(state.ToolResult); answer {
				if steps++; why != "" && at == 0 {
					at = steps
				}
			}
		})
		_, _ = d.Write([]byte(r.Output))
		d.Close()
		if (why != "") != (g.name == "codex-endless-10s") {
			t.Errorf("%s: %q after %d of %d calls", g.name, why, at, steps)
		}
		if why != "" {
			found++
			t.Logf("%s: at call %d of %d: %s", g.name, at, steps, why)
		}
	}
	if found != 1 {
		t.Errorf("%d recordings are in circles", found)
	}
}
