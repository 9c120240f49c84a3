//go:build e2e && linux

package e2e

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"ralph/internal/mockllm"
	"ralph/internal/world"
)

// Another agent, the real CLI, looks at the plan through ralph mcp and adds a task.
func TestMCP_realClaudeCode_seesThePlanAndAddsATask(t *testing.T) {
	w := newProject(t, claude(), 3, mockllm.Scenario{Runs: [][]mockllm.Step{{
		{Tools: []mockllm.Tool{{Name: "mcp__ralph__tasks", Input: map[string]any{}}}},
		{Tools: []mockllm.Tool{{Name: "mcp__ralph__add_task", Input: map[string]any{"text": "Greet the user"}}}},
		{Tools: []mockllm.Tool{{Name: "mcp__ralph__answer", Input: map[string]any{"id": "q9", "text": "yes"}}}},
		{Text: "Added it."},
	}}})
	w.Write("mcp.json", fmt.Sprintf(`{"mcpServers":{"ralph":{"command":%q,"args":["-C",%q,"mcp"]}}}`, filepath.Join(world.Programs(t), "ralph"), w.Dir))
	exit, r, out := w.direct(claude(), "--mcp-config", "mcp.json", "--strict-mcp-config", "--allowedTools", "mcp__ralph")
	if exit != 0 || r.Result != "Added it." || len(r.Denials) > 0 {
		t.Errorf("exit %d, %+v", exit, r)
	}
	if plan := w.Read(".ralph/fix_plan.md"); !strings.Contains(plan, "- [ ] Greet the user") {
		t.Errorf("the plan:\n%s", plan)
	}
	for _, want := range []string{`\"title\":\"task 1\"`, "there is no question q9"} {
		if !strings.Contains(out, want) {
			t.Errorf("the agent did not see %s in\n%.9000s", want, out)
		}
	}
}
