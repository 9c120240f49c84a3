package demo

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Model is the model name that the scripted agent reports.
const Model = "demo-script"

// How long the agent "thinks" before a record of each kind: slow enough to
// watch, short enough for a whole demo in less than fifteen seconds.
const (
	pauseText   = 180 * time.Millisecond
	pauseTool   = 120 * time.Millisecond
	pauseResult = 60 * time.Millisecond
)

// Agent is the scripted agent. It replaces `claude -p --output-format stream-json
// --verbose` in the demo project, which is the current directory. It reads the prompt
// from stdin, plays the next part of the script and returns the exit code. It keeps no
// state: the project's files say what comes next. It ignores flags except --version.
func Agent(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	if slices.Contains(args, "--version") {
		fmt.Fprintln(stdout, "1.0.0 (ralph demo agent)")
		return 0
	}
	dir, err := os.Getwd()
	if err == nil {
		err = (&agent{dir: dir, out: stdout, pause: time.Sleep}).run(stdin)
	}
	if err != nil {
		fmt.Fprintln(stderr, "Error:", err)
		return 1
	}
	return 0
}

// agent is one turn of the scripted agent. err is the first error; every later step does
// nothing.
type agent struct {
	dir   string
	out   io.Writer
	pause func(time.Duration)
	err   error

	session string
	started time.Time
	ids     int
	turns   int    // model requests so far
	message string // id of the message that the next record belongs to
	usage   usage
}

func (a *agent) run(stdin io.Reader) error {
	prompt, err := io.ReadAll(stdin)
	if err != nil {
		return fmt.Errorf("read prompt: %w", err)
	}
	if strings.TrimSpace(string(prompt)) == "" {
		return errors.New("Input must be provided either through stdin or as a prompt argument when using --print") //nolint:staticcheck // the real CLI's words
	}
	a.session, a.started = rand.Text(), time.Now()
	a.init()
	a.play(string(prompt))
	return a.err
}

// say prints a line of narration.
func (a *agent) say(format string, args ...any) {
	a.begin()
	a.pause(pauseText)
	a.assistant(map[string]any{"type": "text", "text": fmt.Sprintf(format, args...)})
}

// bash runs a shell command in the project.
func (a *agent) bash(line string) {
	a.tool("Bash", map[string]any{"command": line}, func() (string, bool) {
		b, err := command(context.Background(), a.dir, "sh", "-c", line).CombinedOutput()
		out := strings.TrimRight(string(b), "\n")
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			return fmt.Sprintf("Exit code %d\n%s", exit.ExitCode(), out), true
		}
		a.fail(err)
		if out == "" {
			return "(Bash completed with no output)", false
		}
		return out, false
	})
}

// edit replaces the only occurrence of old in a file of the project.
func (a *agent) edit(path, old, with string) {
	full := filepath.Join(a.dir, path)
	input := map[string]any{"file_path": full, "old_string": old, "new_string": with, "replace_all": false}
	a.tool("Edit", input, func() (string, bool) {
		text := a.read(path)
		if a.err == nil && strings.Count(text, old) != 1 {
			return "String to replace not found in file.", true
		}
		if a.err == nil {
			a.fail(os.WriteFile(full, []byte(strings.Replace(text, old, with, 1)), 0o644)) // file: a project of its own
		}
		return "The file " + full + " has been updated successfully.", false
	})
}

// tool prints a tool call, does the work and prints its result.
func (a *agent) tool(name string, input map[string]any, work func() (result string, failed bool)) {
	if a.err != nil {
		return
	}
	a.begin()
	id := a.id("toolu")
	a.pause(pauseTool)
	a.assistant(map[string]any{"type": "tool_use", "id": id, "name": name, "input": input})
	result, failed := work()
	a.pause(pauseResult)
	a.toolResult(id, result, failed)
	a.message = ""
}

// read returns a file of the project.
func (a *agent) read(path string) string {
	b, err := os.ReadFile(filepath.Join(a.dir, path)) // file: a project of its own
	a.fail(err)
	return string(b)
}

func (a *agent) fail(err error) {
	if a.err == nil {
		a.err = err
	}
}

func (a *agent) id(kind string) string {
	a.ids++
	return fmt.Sprintf("%s_demo%s%04d", kind, a.session[:8], a.ids)
}

func (a *agent) write(record map[string]any) {
	if a.err != nil {
		return
	}
	record["session_id"], record["uuid"] = a.session, rand.Text()
	line, err := json.Marshal(record)
	if err == nil {
		_, err = a.out.Write(append(line, '\n'))
	}
	a.fail(err)
}

// usage counts the tokens of one turn. The numbers are invented but consistent.
type usage struct{ input, output, cacheRead, cacheWrite int }

// costUSD prices a turn like a mid-sized model.
func (u usage) costUSD() float64 {
	return float64(3*u.input+15*u.output)/1e6 + float64(3*u.cacheRead)/1e7 + float64(15*u.cacheWrite)/4e6
}

func (u usage) record() map[string]any {
	return map[string]any{
		"input_tokens": u.input, "output_tokens": u.output,
		"cache_read_input_tokens": u.cacheRead, "cache_creation_input_tokens": u.cacheWrite,
	}
}

func (a *agent) init() {
	a.write(map[string]any{
		"type": "system", "subtype": "init", "cwd": a.dir, "tools": []string{"Bash", "Edit"},
		"mcp_servers": []string{}, "model": Model, "permissionMode": "default", "apiKeySource": "none",
		"claude_code_version": "1.0.0",
	})
	reset := a.started.Add(3 * time.Hour).Unix()
	a.write(map[string]any{"type": "rate_limit_event", "rate_limit_info": map[string]any{
		"status": "allowed", "resetsAt": reset, "rateLimitType": "five_hour", "utilization": 0.12,
		"isUsingOverage": false,
	}})
}

// begin opens a model request unless one is open. Its records share an id and repeat the
// same usage, as those of the real CLI do.
func (a *agent) begin() {
	if a.message != "" || a.err != nil {
		return
	}
	a.message = a.id("msg")
	a.turns++
	a.usage.input += 40
	a.usage.output += 160
	a.usage.cacheRead += 2000 + 600*a.turns
	a.usage.cacheWrite += 600
}

func (a *agent) assistant(block map[string]any) {
	now := usage{40, 1, 2000 + 600*a.turns, 600}
	a.write(map[string]any{"type": "assistant", "parent_tool_use_id": nil, "message": map[string]any{
		"id": a.message, "type": "message", "role": "assistant", "model": Model,
		"content": []any{block}, "stop_reason": nil, "stop_sequence": nil, "usage": now.record(),
	}})
}

func (a *agent) toolResult(id, content string, failed bool) {
	a.write(map[string]any{"type": "user", "parent_tool_use_id": nil, "message": map[string]any{
		"role": "user",
		"content": []any{map[string]any{"type": "tool_result", "tool_use_id": id, "content": content,
			"is_error": failed}},
	}})
}

// finish prints the final message and the result record.
func (a *agent) finish(text string) {
	a.say("%s", text)
	took := time.Since(a.started).Milliseconds()
	cost := a.usage.costUSD()
	a.write(map[string]any{
		"type": "result", "subtype": "success", "is_error": false, "api_error_status": nil,
		"terminal_reason": "completed",
		"stop_reason":     "end_turn", "num_turns": a.turns, "duration_ms": took, "duration_api_ms": took,
		"result": text, "permission_denials": []any{}, "total_cost_usd": cost, "usage": a.usage.record(),
		"modelUsage": map[string]any{Model: map[string]any{
			"inputTokens": a.usage.input, "outputTokens": a.usage.output,
			"cacheReadInputTokens": a.usage.cacheRead, "cacheCreationInputTokens": a.usage.cacheWrite, "costUSD": cost,
		}},
	})
}
