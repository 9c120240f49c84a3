package runner

import (
	"path/filepath"
	"testing"

	"ralph/runner/pool"
	"ralph/runner/turn"
	"ralph/state"
)

// An agent that cannot be started has forgotten nothing.
func TestReview_agentThatDoesNotStart_leavesWhatIsKnownOfTheTask(t *testing.T) {
	t.Parallel()
	b := newBench(t, "busy", "[ ] one")
	b.inGit()
	b.o.AntiCheat = turn.AnswerRevert
	find, n := b.d.Agents, 0
	b.d.Agents = func(name string) (pool.Agent, error) {
		a, err := find(name)
		if n++; n > 1 {
			a.Program = []string{filepath.Join(b.dir, "gone")}
		}
		return a, err
	}
	wantEnd(t, b.run(t.Context()), "agent_unusable", state.ExitAgent)
	s, err := b.w.Status()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range s.Tasks {
		if m.Worked() {
			return
		}
	}
	t.Errorf("the work of iteration 1 is forgotten: %+v", s.Tasks)
}
