package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ralph/runner/agenthooks"
	"ralph/runner/task/store"
)

const (
	hookBound = 20 * time.Millisecond
	hookTasks = 2000
)

// hook measures ralph's answers to the hooks of an agent CLI, which waits for each of them. It uses a
// larger plan than most, and starts the hooks as the CLI does, with a line for sh.
func (b *bencher) hook() error {
	dir := filepath.Join(b.dir, "hook")
	plan := filepath.Join(dir, ".ralph/fix_plan.md")
	var text strings.Builder
	for i := range hookTasks {
		fmt.Fprintf(&text, "- [ ] T%d: build part %[1]d of it\n", i+1)
	}
	if err := write(plan, text.String()); err != nil {
		return err
	}
	broken := filepath.Join(dir, "broken.json")
	if err := write(broken, "{\n"); err != nil {
		return err
	}
	list, err := store.Load(store.File{Path: plan})
	if err != nil {
		return err
	}
	facts, err := json.Marshal(agenthooks.Facts{Plan: store.File{Path: plan, Name: ".ralph/fix_plan.md"},
		Task: list.Tasks[0].ID, Checks: []string{"go test ./..."}, Most: 5, Lint: "echo broken {file}; false"})
	if err != nil {
		return err
	}
	for _, h := range []struct{ verb, input, want string }{
		{agenthooks.Stop, `{"session_id": "bench", "stop_hook_active": false, "last_assistant_message": "Done."}`,
			"is still open"},
		{agenthooks.PreToolUse, `{"tool_name": "Bash", "tool_input": {"command": "git push --force"}}`, "deny"},
		{agenthooks.PostToolUse, `{"tool_name": "Write", "tool_input": {"file_path": "` + broken + `"}}`,
			"ralph looked at"},
	} {
		line := `"$0" hook ` + h.verb + ` --facts "$1"`
		args := []string{"-c", line, filepath.Join(b.bin, "ralph"), string(facts)}
		answer, out, err := b.asked(dir, h.input, args...)
		if err != nil {
			return err
		}
		if !strings.Contains(out, h.want) {
			return fmt.Errorf("ralph hook %s: %q, want %q", h.verb, out, h.want)
		}
		bare, _, err := b.asked(dir, h.input, "-c", "cat >/dev/null")
		if err != nil {
			return err
		}
		b.add(figure{"answer of ralph hook " + h.verb, ms(answer), "sh -c cat " + ms(bare), "under " + ms(hookBound),
			answer >= hookBound})
	}
	return nil
}

// asked runs sh several times with this input. It returns the fastest time, since other work on the
// machine only adds to it, and the last output.
func (b *bencher) asked(dir, input string, args ...string) (time.Duration, string, error) {
	var all []time.Duration
	var out []byte
	for range 50 {
		cmd := exec.Command("/bin/sh", args...)
		cmd.Dir, cmd.Stdin, cmd.Env = dir, strings.NewReader(input), append(os.Environ(), "TMPDIR="+b.dir)
		start := time.Now()
		var err error
		if out, err = cmd.Output(); err != nil {
			return 0, "", fmt.Errorf("sh %v: %w", args, err)
		}
		all = append(all, time.Since(start))
	}
	return slices.Min(all), string(out), nil
}
