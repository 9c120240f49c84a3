package runner

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ralph/runner/pool"
	"ralph/runner/turn"
	"ralph/state"
)

// Only the state before the run is kept when no call was made.
func TestAgent_doesNotStart_leavesNoIteration(t *testing.T) {
	t.Parallel()
	b := newBench(t, "busy", "[ ] one")
	b.inGit()
	find := b.d.Agents
	b.d.Agents = func(name string) (pool.Agent, error) {
		a, err := find(name)
		a.Program = []string{filepath.Join(b.dir, "gone")}
		return a, err
	}
	wantEnd(t, b.run(t.Context()), "agent_unusable", state.ExitAgent)
	refs, err := exec.CommandContext(t.Context(), "git", "-C", b.dir, "for-each-ref", "--format=%(refname)").Output()
	if err != nil {
		t.Fatal(err)
	}
	kept := 0
	for ref := range strings.FieldsSeq(string(refs)) {
		if strings.Contains(ref, "ralph") {
			kept++
		}
	}
	if kept != 1 {
		t.Errorf("%d kept states, want the start alone:\n%s", kept, refs)
	}
}

// An agent that cannot be started has forgotten nothing.
func TestAgent_doesNotStart_leavesWhatIsKnownOfTheTask(t *testing.T) {
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
