package tmuxe2e

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// What the fake agent does is written in the project's file agentMode, which
// the test changes while it runs. Files in .ralph are not progress.
const (
	agentMode = ".ralph/agent.mode"
	agentSeen = ".ralph/agent.seen" // what its latest call was given
	agentPids = ".ralph/agent.pids" // of itself and of a program that it started, all calls
)

const (
	modeWork  = "work"  // stays, saying something now and then, until the mode changes
	modeDone  = "done"  // ticks everything and says so
	modeClaim = "claim" // says that all is done, ticks nothing
	modeIdle  = "idle"  // does nothing
	modeNext  = "next"  // ends this call, and the next one works
)

// seen is what a call of the agent was given.
type seen struct {
	Args []string
	Env  []string
	Dir  string
}

// fakeAgent is this test binary, started as an agent CLI in a project.
func fakeAgent() {
	if len(os.Args) > 1 && os.Args[1] == "--version" {
		fmt.Println("2.1.328 (Claude Code)")
		return
	}
	_, _ = io.ReadAll(os.Stdin)
	dir, err := os.Getwd()
	must(err)
	data, err := json.Marshal(seen{os.Args[1:], os.Environ(), dir})
	must(err)
	must(os.WriteFile(agentSeen+".new", data, 0o600))
	must(os.Rename(agentSeen+".new", agentSeen))
	record(map[string]any{"type": "system", "subtype": "init", "session_id": fmt.Sprintf("session-%d", os.Getpid()), "model": "fake-1"})
	switch stay() {
	case modeDone:
		plan := filepath.Join(".ralph", "fix_plan.md")
		text, err := os.ReadFile(plan)
		must(err)
		must(os.WriteFile(plan, []byte(strings.ReplaceAll(string(text), "[ ]", "[x]")), 0o600))
		result("All tasks are done.", true)
	case modeClaim:
		result("The project is complete!", true)
	default:
		result("I looked around.", false)
	}
}

// stay works until the mode is another one, which it returns.
func stay() string {
	for n, child := 0, (*exec.Cmd)(nil); ; n++ {
		mode := readMode()
		if mode != modeWork {
			if child != nil {
				must(child.Process.Kill())
				_ = child.Wait()
			}
			if mode == modeNext {
				must(os.WriteFile(agentMode+".next", []byte(modeWork), 0o600))
				must(os.Rename(agentMode+".next", agentMode))
			}
			return mode
		}
		if child == nil {
			child = exec.Command("sleep", "600")
			must(child.Start())
			f, err := os.OpenFile(agentPids, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
			must(err)
			_, err = fmt.Fprintln(f, os.Getpid(), child.Process.Pid)
			must(err)
			must(f.Close())
		}
		if n < 60 {
			say("step %02d of this call: needle-%02d lies between two stretches of hay that are wider than most panes", n, n)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func readMode() string {
	mode, err := os.ReadFile(agentMode)
	must(err)
	return strings.TrimSpace(string(mode))
}

func say(format string, args ...any) {
	record(map[string]any{"type": "assistant", "message": map[string]any{"id": fmt.Sprint(time.Now().UnixNano()), "role": "assistant", "model": "fake-1",
		"content": []any{map[string]any{"type": "text", "text": fmt.Sprintf(format, args...)}}}})
}

func result(text string, done bool) {
	record(map[string]any{"type": "result", "subtype": "success", "is_error": false, "total_cost_usd": 0.25,
		"usage":  map[string]any{"input_tokens": 100, "output_tokens": 20},
		"result": fmt.Sprintf("%s\n---RALPH_STATUS---\nEXIT_SIGNAL: %v\n---END_RALPH_STATUS---\n", text, done)})
}

func record(r map[string]any) {
	data, err := json.Marshal(r)
	must(err)
	fmt.Printf("%s\n", data)
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "fake agent:", err)
		os.Exit(1)
	}
}
