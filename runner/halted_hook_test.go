package runner

import (
	"path/filepath"
	"strings"
	"testing"

	"ralph/runner/gate"
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

func TestHooks_complete_endsTheRun_ifChecksPass(t *testing.T) {
	const says = `echo '{"complete": true, "reason": "deployed"}'`
	for name, c := range map[string]struct{ hook, check, rule, work string }{
		"tasks are open":              {says, "", state.RuleHook, "call 1"},
		"a check passes":              {says, "true", state.RuleHook, "call 1"},
		"a check fails":               {says, "! grep -q 1 work.txt", state.RuleHook, "call 2"},
		"the hook fails":              {says + "; exit 1", "", state.RuleComplete, "call 2"},
		"its script is not as it was": {"echo more >>script; " + says, "", state.RuleComplete, "call 2"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, "worker", "[ ] one", "[ ] two")
			b.write("script", "as the user wrote it")
			b.d.Hooks = []hooks.Hook{{Point: hooks.PostIteration, Command: c.hook}}
			if c.check != "" {
				b.d.Checks = []gate.Check{{Name: "test", Command: c.check}}
			}
			wantEnd(t, b.run(t.Context()), c.rule, 0)
			if got := b.read("work.txt"); got != c.work {
				t.Errorf("%s, want %s", got, c.work)
			}
		})
	}
}
