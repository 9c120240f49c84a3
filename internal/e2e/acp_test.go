//go:build e2e && linux

package e2e

import (
	"slices"
	"strings"
	"testing"
	"time"

	"ralph/internal/mockllm"
)

// speakers returns CLIs that speak the Agent Client Protocol, with the argument for that.
func speakers() map[string]string {
	return map[string]string{"gemini": "--acp", "opencode": "acp", "qwen": "--acp"}
}

func TestACP_planOfTwo_isWorkedOff(t *testing.T) {
	all := slices.DeleteFunc(others(), func(a agentCLI) bool { return speakers()[a.name] == "" })
	each(t, all, func(t *testing.T, a agentCLI) {
		w := newProject(t, a, 2, mockllm.Plan(2))
		w.Set("AGENT_CMD", a.name+" "+speakers()[a.name])
		w.finished(w.ralph("run", "--agent", "acp").Wait(5*time.Minute), 2)
		if got := w.outcomes(); !slices.Equal(got, []string{"completed-turn", "completed-turn"}) {
			t.Errorf("outcomes %q", got)
		}
		if got := w.sessions(); len(got) != 2 {
			t.Errorf("sessions %q", got)
		}
		t.Logf("usage %+v", w.status().Usage)
	})
}

func TestACP_shellNotAllowed_isRefusedAndReported(t *testing.T) {
	w := newProject(t, gemini(), 1, mockllm.Plan(1))
	w.Set("AGENT_CMD", "gemini --acp")
	w.Set("ALLOWED_TOOLS", "Read,Edit")
	p := w.ralph("once", "--agent", "acp")
	p.Wait(2 * time.Minute)
	if said := p.Said(); !strings.Contains(said, "ALLOWED_TOOLS") || strings.Contains(w.Read(".ralph/fix_plan.md"), "[x]") {
		t.Errorf("printed:\n%s", said)
	}
}
