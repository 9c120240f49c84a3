// Package scripted is an agent that follows a script, and a project for it:
// for tests that make real turns.
package scripted

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ralph/runner/agent"
	"ralph/runner/gate"
	"ralph/runner/prompt"
	"ralph/runner/task/store"
	"ralph/runner/turn"
	"ralph/state"
)

// scriptVar names the script to the scripted agent.
const scriptVar = "RALPH_TEST_SCRIPT"

// Main plays the agent when this process was started as one. TestMain calls it.
func Main() {
	if script := os.Getenv(scriptVar); script != "" {
		os.Exit(playScript(script))
	}
}

// Step is one thing that the scripted agent does.
type Step struct {
	Do   string `json:"do"` // say, tool, run, write, tick, deny, fail, crash, hang
	Text string `json:"text,omitempty"`
}

func playScript(path string) int {
	var steps []Step
	data, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(data, &steps)
	}
	if err != nil {
		panic(err)
	}
	show := func(record map[string]any) {
		line, err := json.Marshal(record)
		if err != nil {
			panic(err)
		}
		fmt.Printf("%s\n", line)
	}
	result := map[string]any{"type": "result", "subtype": "success", "is_error": false, "session_id": "s-1",
		"total_cost_usd": 0.25, "usage": map[string]any{"input_tokens": 100, "output_tokens": 20}, "result": "ok"}
	show(map[string]any{"type": "system", "subtype": "init", "session_id": "s-1", "model": "scripted"})
	for n, s := range steps {
		content, input := map[string]any{"type": "text", "text": s.Text}, map[string]any{"command": s.Text}
		bash := map[string]any{"type": "tool_use", "id": fmt.Sprint("t", n), "name": "Bash", "input": input}
		switch s.Do {
		case "tool":
			content = bash
		case "write":
			put(s.Text, fmt.Sprintf("step %d", n))
			continue
		case "run": // a tool that does what it says
			show(says(bash))
			out, _ := exec.Command("sh", "-c", s.Text).CombinedOutput()
			show(map[string]any{"type": "user", "message": map[string]any{"role": "user", "content": []any{
				map[string]any{"type": "tool_result", "tool_use_id": fmt.Sprint("t", n), "content": string(out)}}}})
			continue
		case "tick":
			plan, _ := os.ReadFile("plan.md")
			put("plan.md", strings.Replace(string(plan), "- [ ] "+s.Text, "- [x] "+s.Text, 1))
			continue
		case "deny":
			result["permission_denials"] = []any{map[string]any{"tool_name": "Bash", "tool_use_id": "t0", "tool_input": input}}
			continue
		case "final":
			result["result"] = s.Text
			continue
		case "fail":
			result["is_error"], result["result"], result["api_error_status"] = true, "API Error: 529 Overloaded.", 529
			continue
		case "crash":
			return 3
		case "hang":
			put("started", "")
			time.Sleep(time.Minute) // sleep: the agent hangs
			return 0
		}
		show(says(content))
	}
	show(result)
	return 0
}

// says is a message of the agent with one part.
func says(part any) map[string]any {
	return map[string]any{"type": "assistant", "message": map[string]any{"role": "assistant", "content": []any{part}}}
}

func put(path, text string) {
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		panic(err)
	}
}

const planText = "# Plan\n\n- [ ] one\n- [ ] two\n"

// Project returns a git repository with a plan, and the assignment for its first task.
func Project(t testing.TB, steps []Step) turn.Assignment {
	dir := t.TempDir()
	put(filepath.Join(dir, "plan.md"), planText)
	put(filepath.Join(dir, "code.go"), "package code\n")
	for _, args := range [][]string{{"init", "-q"}, {"add", "."},
		{"-c", "user.name=t", "-c", "user.email=t@example.com", "commit", "-qm", "start"}} {
		if out, err := exec.Command("git", append([]string{"-C", dir}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	script := filepath.Join(t.TempDir(), "script.json")
	data, err := json.Marshal(steps)
	if err != nil {
		t.Fatal(err)
	}
	put(script, string(data))
	spec, err := agent.Find("claude")
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	spec.Env.Set = append(spec.Env.Set, scriptVar+"="+script, "GORACE=atexit_sleep_ms=0")
	plan := store.File{Path: filepath.Join(dir, "plan.md"), Name: "plan.md"}
	first := store.Read(plan).List.Tasks[0]
	return turn.Assignment{
		V:      turn.Version,
		Origin: state.Origin{Run: "run-1", Iteration: 1, Task: first.ID, Role: "developer", Attempt: 1},
		Dir:    dir, LogDir: filepath.Join(t.TempDir(), "logs"), Task: first, Plan: plan,
		Prompt: prompt.Input{Template: "Do it.", Iteration: 1, Total: 2, Remaining: 2, PlanPath: "plan.md"},
		Agent: turn.Agent{Spec: spec, Program: []string{self}, AllowedTools: []string{"Read"},
			PermissionMode: agent.PermitAllowedTools},
		Bounds: turn.Bounds{Timeout: time.Minute},
		Checks: turn.Checks{Rows: []gate.Check{{Name: "test", Command: "test ! -f broken"}}, Mode: gate.ModeGate,
			FailFast: true},
		Audit: turn.Audit{Answer: turn.AnswerRevert},
	}
}
