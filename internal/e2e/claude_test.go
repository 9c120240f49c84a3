//go:build e2e && linux

package e2e

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ralph/internal/mockllm"
)

// claudeResult is the CLI's last record.
type claudeResult struct {
	Type      string `json:"type"`
	IsError   bool   `json:"is_error"`
	APIStatus int    `json:"api_error_status"`
	Result    string `json:"result"`
	Denials   []any  `json:"permission_denials"`
}

// direct runs the CLI without ralph, with the prompt on stdin.
func (w *project) direct(a agentCLI, args ...string) (exit int, r claudeResult, out string) {
	w.Helper()
	p := w.Prepare(filepath.Join(a.install(w), a.name), append([]string{"-p", "--output-format", "stream-json", "--verbose"}, args...)...)
	p.Stdin = strings.NewReader("Do the next task of the plan.")
	p.Launch()
	exit = p.Wait(time.Minute)
	for line := range strings.Lines(p.Said()) {
		var rec claudeResult
		if json.Unmarshal([]byte(line), &rec) == nil && rec.Type == "result" {
			r = rec
		}
	}
	return exit, r, p.Said()
}

// The mock is only worth something as long as the real CLI believes it.
func TestClaude_drivenByTheMock_behavesAsRecorded(t *testing.T) {
	all := []string{"--allowedTools", "Bash", "Write", "Read", "Edit"}
	builtin := mockllm.Builtin()
	cases := []struct {
		scenario string
		args     []string
		token    bool
		exit     int
		status   int    // api_error_status
		text     string // in the output
		ticked   bool
	}{
		{scenario: "plan", args: all, ticked: true, text: "EXIT_SIGNAL: false"},
		{scenario: "429-always", args: all, exit: 1, status: 429, text: "Request rejected (429)"},
		{scenario: "529", args: all, exit: 1, status: 529, text: "529 Overloaded"},
		{scenario: "401", args: all, exit: 1, status: 401, text: "Invalid API key"},
		{scenario: "limit", args: all, token: true, exit: 1, status: 429, text: `"status":"rejected"`},
		{scenario: "stream-error", args: all, ticked: true, text: "EXIT_SIGNAL: true"},
		{scenario: "drop", args: all, exit: 1, text: "API Error"},
		{scenario: "denied", args: []string{"--allowedTools", "Write"}, text: `"subtype":"permission_denied"`},
	}
	for _, c := range cases {
		t.Run(c.scenario, func(t *testing.T) {
			w := newProject(t, claude(), 3, builtin[c.scenario])
			if c.token {
				w.Env = subscription(w.Env)
			}
			exit, r, out := w.direct(claude(), c.args...)
			if exit != c.exit || r.IsError != (c.exit != 0) || r.APIStatus != c.status || !strings.Contains(out, c.text) {
				t.Errorf("exit %d, result %+v", exit, r)
			}
			if ticked := strings.Contains(w.Read(".ralph/fix_plan.md"), "[x] task 1") && w.Read("task1.txt") == "task 1\n"; ticked != c.ticked {
				t.Errorf("task 1 done: %t, want %t", ticked, c.ticked)
			}
			if (len(r.Denials) > 0) != (c.scenario == "denied") {
				t.Errorf("denials: %v", r.Denials)
			}
			if prompts := w.mock.Prompts(scenario); len(prompts) == 0 || !strings.Contains(prompts[0], "Do the next task") {
				t.Errorf("prompts seen: %q", prompts)
			}
		})
	}
}
