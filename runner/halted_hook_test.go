package runner

import (
	"path/filepath"
	"strings"
	"testing"

	"ralph/runner/hooks"
	"ralph/state"
)

func TestHooks_ofTheEnd_tellTheNextRun(t *testing.T) {
	b := newBench(t, "worker", "[ ] one", "[ ] two")
	b.o.MaxIterations = 1
	b.d.Hooks = []hooks.Hook{{Point: hooks.OnHalt, Command: "echo deploy broke; exit 3", OnFailure: hooks.AskAgent}}
	wantEnd(t, b.run(t.Context()), "ceilings", 4)
	st, err := state.Open(filepath.Join(b.dir, ".ralph")).Status()
	if err != nil || !strings.Contains(strings.Join(st.NextPrompt.Feedback, "\n"), "deploy broke") {
		t.Errorf("%v, next prompt: %q", err, st.NextPrompt.Feedback)
	}
}
