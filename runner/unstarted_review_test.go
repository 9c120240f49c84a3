package runner

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ralph/runner/pool"
	"ralph/state"
)

// Only the state before the run is kept when no call was made.
func TestReview_agentThatDoesNotStart_leavesNoIteration(t *testing.T) {
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
