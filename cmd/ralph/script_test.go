package main

import (
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"ralph/cmd/internal/demo"
	"ralph/ptyexec"
)

func TestMain(m *testing.M) {
	ptyexec.Init()
	testscript.Main(m, map[string]func(){
		"ralph":         main,
		"ralph-status":  main,
		"ralph-monitor": main,
		"claude":        fakeClaude,
		"agent-result":  agentResult,
	})
}

// Each script is a user's session with the real program. The agent is the
// script's own agent.sh, started as `claude` and handed its call number.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(e *testscript.Env) error {
			home := filepath.Join(e.WorkDir, ".home")
			e.Setenv("HOME", home)
			e.Setenv("GORACE", "atexit_sleep_ms=0")
			e.Setenv("TERM", "dumb")
			e.Setenv("GIT_CONFIG_NOSYSTEM", "1")
			return os.MkdirAll(home, 0o755)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits, "until": until, "boot": boot,
			"events": events, "demoproject": demoProject},
	})
}

// exits CODE PROGRAM ARGS...: the program must end with exactly this code.
func exits(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	if e := (*exec.ExitError)(nil); errorAs(err, &e) {
		got = e.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if got != want {
		ts.Fatalf("%s ended with %d, want %d", strings.Join(args[1:], " "), got, want)
	}
}

func errorAs(err error, target **exec.ExitError) bool {
	e, ok := err.(*exec.ExitError) //nolint:errorlint // as testscript returns it
	*target = e
	return ok
}

// until FILE: waits for a file that another process makes.
func until(ts *testscript.TestScript, _ bool, args []string) {
	for range 3000 {
		if _, err := os.Stat(ts.MkAbs(args[0])); err == nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	ts.Fatalf("%s never came", args[0])
}

// demoProject DIR: makes the project of ralph demo.
func demoProject(ts *testscript.TestScript, _ bool, args []string) {
	ts.Check(demo.Create(context.Background(), ts.MkAbs(args[0])))
}

// events FILE: each line must be an event of one run with its payload under data,
// and the numbers must have no gaps.
func events(ts *testscript.TestScript, _ bool, args []string) {
	want := []string{"v", "seq", "time", "kind", "run", "data"}
	run, last := "", int64(0)
	for line := range strings.Lines(ts.ReadFile(args[0])) {
		last++
		var keys map[string]json.RawMessage
		ts.Check(json.Unmarshal([]byte(line), &keys))
		for _, key := range want {
			if len(keys[key]) == 0 {
				ts.Fatalf("no %s: %s", key, line)
			}
		}
		for key := range keys {
			if !slices.Contains(append(want, "host", "iteration", "task", "role", "reviews", "attempt"), key) {
				ts.Fatalf("%s is not under data: %s", key, line)
			}
		}
		run = cmp.Or(run, string(keys["run"]))
		if string(keys["v"]) != "2" || string(keys["seq"]) != fmt.Sprint(last) || string(keys["run"]) != run {
			ts.Fatalf("want event %d of version 2 of run %s: %s", last, run, line)
		}
	}
	if last == 0 {
		ts.Fatalf("no events in %s", args[0])
	}
}

// fakeClaude keeps its prompt as prompt-N and runs agent.sh N.
func fakeClaude() {
	if len(os.Args) > 1 && os.Args[1] == "--version" {
		fmt.Println("2.1.328 (Claude Code)")
		return
	}
	if len(os.Args) > 1 && os.Args[1] == "auth" { // logged in
		return
	}
	prompt, _ := io.ReadAll(os.Stdin)
	n := 1
	for ; exists(fmt.Sprintf(".ralph/prompt-%d", n)); n++ {
	}
	_ = os.MkdirAll(".ralph", 0o755)
	if err := os.WriteFile(fmt.Sprintf(".ralph/prompt-%d", n), prompt, 0o600); err != nil {
		panic(err)
	}
	record(map[string]any{"type": "system", "subtype": "init", "session_id": fmt.Sprintf("session-%d", n), "model": "fake-1"})
	cmd := exec.Command("sh", "agent.sh", strconv.Itoa(n))
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		os.Exit(1)
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func record(r map[string]any) {
	data, err := json.Marshal(r)
	if err != nil {
		panic(err)
	}
	fmt.Printf("%s\n", data)
}

// agentResult prints a final record: agent-result [-done] [-error STATUS]
// [-denied COMMAND] TEXT.
func agentResult() {
	done := flag.Bool("done", false, "")
	status := flag.Int("error", 0, "")
	denied := flag.String("denied", "", "")
	flag.Parse()
	r := map[string]any{"type": "result", "subtype": "success", "is_error": *status != 0, "total_cost_usd": 0.25, "usage": map[string]any{"input_tokens": 100, "output_tokens": 20},
		"result": fmt.Sprintf("%s\n---RALPH_STATUS---\nEXIT_SIGNAL: %v\n---END_RALPH_STATUS---\n", flag.Arg(0), *done)}
	if *status != 0 {
		r["result"], r["api_error_status"] = flag.Arg(0), *status
	}
	if *denied != "" {
		r["permission_denials"] = []any{map[string]any{"tool_name": "Bash", "tool_use_id": "t", "tool_input": map[string]any{"command": *denied}}}
	}
	record(r)
}
