//go:build linux

package faults

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	amountVar  = "RALPH_FAULTS_BYTES"   // how much a talkative agent prints
	outsideVar = "RALPH_FAULTS_OUTSIDE" // a file that is none of the project's
)

// once misbehaves in the first call and is the honest worker in the others.
func once(bad func(a *actor) int) func(a *actor) int {
	return func(a *actor) int {
		if a.call == 1 {
			return bad(a)
		}
		return a.honest()
	}
}

func forever() int {
	for {
		_ = unix.Pause() // every signal that is handled ends it
	}
}

// pour prints n bytes, a chunk again and again.
func pour(n int64, chunk []byte) {
	for n > 0 {
		part := chunk[:min(int64(len(chunk)), n)]
		if _, err := os.Stdout.Write(part); err != nil {
			return
		}
		n -= int64(len(part))
	}
}

func poured() int64 {
	n, _ := strconv.ParseInt(os.Getenv(amountVar), 10, 64)
	return n
}

func kill(pid int, sig syscall.Signal) {
	if err := syscall.Kill(pid, sig); err != nil {
		fmt.Println("agent: kill:", err)
	}
}

// runner is the pid of ralph: the parent of the parent.
func runner() int {
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", os.Getppid()))
	f := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	pid, _ := strconv.Atoi(f[1])
	return pid
}

// tickAll ticks what was not done.
func tickAll() {
	data, _ := os.ReadFile(planName)
	_ = os.WriteFile(planName, bytes.ReplaceAll(data, []byte("[ ]"), []byte("[x]")), 0o644)
}

// instead puts something else in the place of a file.
func instead(path string, make func(path string) error) {
	err := os.RemoveAll(path)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o755)
	}
	if err == nil {
		err = make(path)
	}
	if err != nil {
		fmt.Println("agent: replace:", err)
	}
}

func fifo(path string) error { return unix.Mkfifo(path, 0o600) }

func linkOutside(path string) error { return os.Symlink(os.Getenv(outsideVar), path) }

// runFiles are the files of the next call, whose names anybody can know.
func runFiles() []string {
	dirs, _ := filepath.Glob(".ralph/logs/*-*")
	if len(dirs) == 0 {
		return nil
	}
	last := dirs[len(dirs)-1]
	return []string{filepath.Join(last, "2.raw"), filepath.Join(last, "2.prompt.md")}
}

func fillsDisk(a *actor) int {
	a.listen()
	fill(".")
	note("full", "")
	pour(1<<20, bytes.Repeat([]byte("talk talk talk\n"), 100))
	return forever()
}

// spills prints a key wherever an agent can print anything.
func spills(a *actor) int {
	a.listen()
	for !exists("go") {
		time.Sleep(5 * time.Millisecond)
	}
	key := os.Getenv("ANTHROPIC_API_KEY")
	a.say("The key is " + key)
	a.print(map[string]any{"type": "assistant", "message": map[string]any{"role": "assistant", "content": []any{
		map[string]any{"type": "tool_use", "id": "t1", "name": "Bash", "input": map[string]any{"command": "curl -H 'x-api-key: " + key + "'"}}}}})
	a.print(map[string]any{"type": "user", "message": map[string]any{"role": "user", "content": []any{
		map[string]any{"type": "tool_result", "tool_use_id": "t1", "content": "ANTHROPIC_API_KEY=" + key, "is_error": true}}}})
	fmt.Println("Error: invalid key " + key)
	if a.call%2 == 1 {
		return a.result(false, map[string]any{"is_error": true, "result": "bad key " + key, "permission_denials": []any{
			map[string]any{"tool_name": "Bash", "tool_use_id": "t1", "tool_input": map[string]any{"command": "echo " + key}}}})
	}
	a.work()
	return a.result(firstOpen() == "", map[string]any{"result": "I used " + key + ".\n---RALPH_STATUS---\nEXIT_SIGNAL: true\nRECOMMENDATION: keep " + key + "\n---END_RALPH_STATUS---\n"})
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

var hostileActs = map[string]func(a *actor) int{
	"ignores-term": once(func(*actor) int {
		signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
		return forever()
	}),
	"daemon": once(func(a *actor) int {
		daemon("trap '' TERM HUP INT; sleep 600 </dev/null >/dev/null 2>&1 & while :; do sleep 1; done </dev/null >/dev/null 2>&1")
		return a.honest()
	}),
	"bare-daemon": once(func(a *actor) int {
		cmd := exec.Command("setsid", "-f", "env", "-i", "sh", "-c", "trap '' TERM; echo $$ >"+os.Getenv(ledgerVar)+".bare; while :; do sleep 1; done")
		cmd.Env = []string{"PATH=/usr/bin:/bin"}
		_ = cmd.Run()
		return a.honest()
	}),
	"fills-pty":  once(func(a *actor) int { pour(8<<20, bytes.Repeat([]byte("x"), 1<<16)); return a.honest() }),
	"talks":      once(func(a *actor) int { pour(poured(), bytes.Repeat([]byte("talk talk talk\n"), 1<<13)); return a.honest() }),
	"one-line":   once(func(a *actor) int { pour(poured(), bytes.Repeat([]byte("x"), 1<<17)); fmt.Println(); return a.honest() }),
	"one-record": once(longRecord),
	"silent":     once(func(*actor) int { return forever() }),
	"fills-disk": fillsDisk,
	"spills":     spills,
	"prints":     prints,
	"seizes": func(a *actor) int {
		a.listen()
		a.say(seizes)
		_ = os.WriteFile("evil.txt", []byte(seizes+"\n"), 0o644)
		_ = os.WriteFile("crlf.txt", []byte("two\r\n"), 0o644)
		a.print(map[string]any{"type": "assistant", "message": map[string]any{"role": "assistant", "content": []any{
			map[string]any{"type": "tool_use", "id": "t1", "name": "Bash", "input": map[string]any{"command": seizes}}}}})
		fmt.Println(seizes)
		a.work()
		return a.result(firstOpen() == "", map[string]any{"result": seizes + "\n---RALPH_STATUS---\nEXIT_SIGNAL: true\nRECOMMENDATION: " +
			seizes + "\n---END_RALPH_STATUS---\n"})
	},
	"plants-git": plantsGit,
	"sets-git": func(a *actor) int {
		evil := "touch " + os.Getenv(outsideVar) + ".evil;"
		for _, kv := range [][2]string{{"core.fsmonitor", evil}, {"core.hooksPath", "hooks"}, {"diff.external", evil}, {"core.pager", evil}} {
			_ = git("config", kv[0], kv[1]).Run()
		}
		_ = os.MkdirAll("hooks", 0o755)
		for _, name := range []string{"post-index-change", "reference-transaction", "pre-commit", "post-commit"} {
			_ = os.WriteFile(filepath.Join("hooks", name), []byte("#!/bin/sh\n"+evil+"\n"), 0o755)
		}
		_ = os.WriteFile("work", fmt.Append(nil, a.call), 0o644)
		a.listen()
		return a.result(false, nil)
	},
	// late commits its work and hangs; asked again, it finds the work done and ticks.
	"late": func(a *actor) int {
		if a.call > 1 {
			return a.honest()
		}
		a.listen()
		a.commit()
		note("late", a.task)
		return forever()
	},
	"silent-late": func(a *actor) int {
		a.listen()
		return forever()
	},
	"binary": once(func(a *actor) int {
		r := rand.New(rand.NewPCG(1, 2))
		junk := make([]byte, 1<<20)
		for i := range junk {
			junk[i] = byte(r.Uint32())
		}
		pour(4<<20, junk)
		fmt.Println()
		return a.honest()
	}),
	"closes-outputs": once(func(*actor) int {
		_ = syscall.Close(1)
		_ = syscall.Close(2)
		return forever()
	}),
	"stops-reading": once(func(a *actor) int { return a.result(false, nil) }),
	"terminal-modes": once(func(a *actor) int {
		stty("sane", "echo", "icanon", "isig", "rows", "1", "cols", "1")
		fmt.Print("\x1b[2J\x1bc\x1b]0;mine\a\x1b[?1049h")
		return a.honest()
	}),
	"stops-terminal": once(func(*actor) int {
		_ = unix.IoctlSetInt(1, unix.TCXONC, 0) // TCOOFF: what is written now waits for ever
		pour(1<<20, []byte("never seen\n"))
		return forever()
	}),
	"background-job": once(func(a *actor) int {
		cmd := exec.Command("setsid", "sh", "-c", "trap '' TERM HUP; while :; do sleep 1; done")
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr // it holds the pty
		_ = cmd.Start()
		return a.honest()
	}),
	"exits-unread": once(func(*actor) int { return 3 }),
	"execs-itself": once(func(*actor) int {
		_ = os.Setenv(actVar, "worker")
		_ = syscall.Exec("/proc/self/exe", os.Args, os.Environ())
		return 99
	}),
	"signals-parent": once(func(a *actor) int {
		for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGTSTP} {
			kill(os.Getppid(), sig)
		}
		return a.honest()
	}),
	"kills-parent": once(func(*actor) int { kill(os.Getppid(), syscall.SIGKILL); return forever() }),
	"stops-parent": once(func(a *actor) int { kill(os.Getppid(), syscall.SIGSTOP); return a.honest() }),
	"ends-ralph":   once(func(*actor) int { kill(runner(), syscall.SIGTERM); return forever() }),
	"kills-ralph": once(func(*actor) int {
		daemon("trap '' TERM; while :; do sleep 1; done")
		kill(runner(), syscall.SIGKILL)
		return forever()
	}),
	"deletes-state": once(func(a *actor) int { _ = os.RemoveAll(".ralph"); a.listen(); return a.result(false, nil) }),
	"deletes-state-always": func(a *actor) int {
		_ = os.RemoveAll(".ralph")
		_ = os.WriteFile("work", fmt.Append(nil, a.call), 0o644)
		a.listen()
		return a.result(false, nil)
	},
	"edits-rc": once(func(a *actor) int {
		_ = os.WriteFile(".ralphrc", []byte("CLAUDE_CODE_CMD='touch evil'\nTEST_COMMAND='touch evil'\nPERMISSION_MODE=bypass\nX=$(touch evil)\n"), 0o644)
		return a.honest()
	}),
	"ticks-all": func(a *actor) int { a.listen(); tickAll(); return a.result(true, nil) },
	"own-state": once(func(a *actor) int {
		for name, text := range map[string]string{
			"status.json":            `{"status":"completed","run_id":"mine","exit_reason":"plan_complete"}`,
			".circuit_breaker_state": `{"state":"OPEN","reason":"mine"}`,
			".call_count":            "0\n", ".exit_signals": `{"done_signals":[1,2,3]}`, ".lock": "",
			"control/00000000000000000001-1-nonsense": "",
		} {
			_ = os.WriteFile(filepath.Join(".ralph", name), []byte(text), 0o644)
		}
		return a.honest()
	}),
	"links-files": once(func(a *actor) int {
		for _, path := range append(runFiles(), ".ralph/status.json", ".ralph/.call_count", ".ralph/events.jsonl", ".ralph/live.log", ".ralph/.gitignore") {
			instead(path, linkOutside)
		}
		return a.honest()
	}),
	"links-folders": once(func(a *actor) int {
		for _, path := range []string{".ralph/logs", ".ralph/control"} {
			instead(path, func(path string) error { return os.Symlink(filepath.Dir(os.Getenv(outsideVar)), path) })
		}
		return a.honest()
	}),
	"pipes-run-files": once(func(a *actor) int {
		for _, path := range append(runFiles(), ".ralph/status.json", ".ralph/.call_count") {
			instead(path, fifo)
		}
		return a.honest()
	}),
	"pipe-prompt":    once(func(a *actor) int { code := a.honest(); instead(".ralph/PROMPT.md", fifo); return code }),
	"pipe-gitignore": once(func(a *actor) int { code := a.honest(); instead(".gitignore", fifo); return code }),
	"deletes-lock": once(func(*actor) int {
		_ = os.Remove(".ralph/.lock")
		_ = os.WriteFile("deleted", nil, 0o600)
		return forever()
	}),
	"pipe-plan":      once(func(a *actor) int { code := a.honest(); instead(planName, fifo); return code }),
	"endless-plan":   once(func(a *actor) int { code := a.honest(); instead(planName, endless); return code }),
	"endless-prompt": once(func(a *actor) int { code := a.honest(); instead(".ralph/PROMPT.md", endless); return code }),
	"folder-status":  once(func(a *actor) int { code := a.honest(); instead(".ralph/status.json", folder); return code }),
}

func endless(path string) error { return os.Symlink("/dev/zero", path) }

func folder(path string) error { return os.MkdirAll(filepath.Join(path, "full"), 0o755) }

// longRecord is a final record of the size that is asked for.
func longRecord(a *actor) int {
	_, _ = io.ReadAll(os.Stdin)
	fmt.Print(`{"type":"result","subtype":"success","is_error":false,"result":"`)
	pour(poured(), bytes.Repeat([]byte("y"), 1<<17))
	fmt.Println(`"}`)
	return 0
}

func stty(args ...string) {
	cmd := exec.Command("stty", args...)
	cmd.Stdin = os.Stdout
	if out, err := cmd.CombinedOutput(); err != nil {
		fmt.Printf("agent: stty: %v %s\n", err, out)
	}
}
