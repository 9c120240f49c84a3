//go:build linux

package faults

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"
)

// The fake agent is this test binary, started as CLAUDE_CODE_CMD.
const (
	actVar    = "RALPH_FAULTS_ACT"    // what the agent does
	ledgerVar = "RALPH_FAULTS_LEDGER" // the agent's own books
	planName  = ".ralph/fix_plan.md"
)

// entry is one line of the agent's books: "KIND HOUR PID TEXT".
type entry struct{ kind, hour, pid, text string }

// note writes one line with one call: a kill cannot tear it.
func note(kind, text string) {
	f, err := os.OpenFile(os.Getenv(ledgerVar), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = fmt.Fprintf(f, "%s %s %d %s\n", kind, shifted(os.Getenv(shiftVar)).Format("2006010215"), os.Getpid(), text)
		f.Close()
	}
	if err != nil {
		fmt.Println("agent: cannot keep books:", err)
	}
}

// entries are the lines of a kind.
func (w *project) entries(kind string) []entry {
	return slices.DeleteFunc(readBooks(w.ledger), func(e entry) bool { return e.kind != kind })
}

func readBooks(path string) (all []entry) {
	data, _ := os.ReadFile(path)
	for line := range strings.Lines(string(data)) {
		f := strings.SplitN(strings.TrimSuffix(line, "\n"), " ", 4)
		if len(f) == 4 {
			all = append(all, entry{f[0], f[1], f[2], f[3]})
		}
	}
	return all
}

// play is one call of the fake agent.
func play(act string) int {
	if len(os.Args) > 1 && os.Args[1] == "auth" { // logged in
		return 0
	}
	if slices.Contains(os.Args[1:], "--version") {
		fmt.Println("2.1.328 (Claude Code)")
		return 0
	}
	if act == "mixed" {
		return mixed()
	}
	calls, daemons := 1, []string{}
	for _, e := range readBooks(os.Getenv(ledgerVar)) {
		switch e.kind {
		case "call":
			calls++
			daemons = nil
		case "daemon":
			daemons = append(daemons, e.text)
		}
	}
	for _, pid := range daemons {
		if env, err := os.ReadFile("/proc/" + pid + "/environ"); err == nil && strings.Contains(string(env), os.Getenv(ledgerVar)) {
			note("wrong", "the call before has left process "+pid)
		}
	}
	note("call", act)
	a := &actor{call: calls}
	f, known := acts[act]
	if !known {
		f, known = hostileActs[act]
	}
	if !known {
		fmt.Println("no such act:", act)
		return 64
	}
	return f(a)
}

// actor is one call of the fake agent.
type actor struct {
	call   int
	prompt string
	task   string
}

// listen reads the prompt and prints the first record. A runner that is killed
// while it hands the prompt over leaves a part of it: no agent can tell.
func (a *actor) listen() {
	owner := runner()
	data, _ := io.ReadAll(os.Stdin)
	a.prompt = string(data)
	if !strings.Contains(a.prompt, "END_RALPH_STATUS") {
		for end := time.Now().Add(time.Second); runner() == owner; time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				note("wrong", "the prompt is not whole, and its runner lives")
				break
			}
		}
		os.Exit(1)
	}
	if _, after, ok := strings.Cut(a.prompt, "\n## Your task\n\n"); ok {
		a.task, _, _ = strings.Cut(after, "\n")
	}
	a.print(map[string]any{"type": "system", "subtype": "init", "session_id": fmt.Sprintf("session-%d", a.call), "model": "fake-1"})
}

func (a *actor) print(record map[string]any) {
	data, err := json.Marshal(record)
	if err != nil {
		panic(err)
	}
	fmt.Printf("%s\n", data)
}

func (a *actor) say(text string) {
	a.print(map[string]any{"type": "assistant", "message": map[string]any{"role": "assistant", "content": []any{
		map[string]any{"type": "text", "text": text}}}})
}

// result prints the final record of a turn; more overwrites its fields.
func (a *actor) result(exit bool, more map[string]any) int {
	r := map[string]any{"type": "result", "subtype": "success", "is_error": false, "total_cost_usd": 0.01,
		"session_id": fmt.Sprintf("session-%d", a.call), "usage": map[string]any{"input_tokens": 100, "output_tokens": 20},
		"result": fmt.Sprintf("Did it.\n---RALPH_STATUS---\nSTATUS: IN_PROGRESS\nEXIT_SIGNAL: %v\n---END_RALPH_STATUS---\n", exit)}
	for k, v := range more {
		r[k] = v
	}
	a.print(r)
	if r["is_error"] == true {
		return 1
	}
	return 0
}

// firstOpen is the text of the first open box of the plan.
func firstOpen() string {
	data, _ := os.ReadFile(planName)
	_, after, found := strings.Cut(string(data), "- [ ] ")
	if !found {
		return ""
	}
	line, _, _ := strings.Cut(after, "\n")
	return line
}

// work does the task that the prompt names: a file, a commit, a tick; each goes
// into the books once it is done.
func (a *actor) work() {
	want := firstOpen()
	if a.task != want {
		note("wrong", fmt.Sprintf("asked for %q, the first open box is %q", a.task, want))
	}
	a.commit()
	data, err := os.ReadFile(planName)
	text := strings.Replace(string(data), "- [ ] "+a.task+"\n", "- [x] "+a.task+"\n", 1)
	tmp := planName + ".new"
	if err == nil && os.WriteFile(tmp, []byte(text), 0o644) == nil && os.Rename(tmp, planName) == nil {
		note("tick", a.task)
	}
}

// commit does the task, but for its tick.
func (a *actor) commit() {
	id, _, _ := strings.Cut(a.task, " ")
	for _, lock := range []string{".git/index.lock", ".git/HEAD.lock", ".git/refs/heads/master.lock", ".git/refs/heads/main.lock"} {
		_ = os.Remove(lock) // of a git that was killed; nobody else works here
	}
	_ = os.WriteFile("work-"+id, []byte(a.task+"\n"), 0o644)
	_ = git("add", "work-"+id).Run()
	if out, err := git("commit", "-q", "-m", a.task).CombinedOutput(); err == nil {
		head, _ := git("rev-parse", "HEAD").Output()
		note("commit", strings.TrimSpace(string(head)))
	} else {
		fmt.Printf("agent: commit failed: %s\n", out)
	}
}

func git(args ...string) *exec.Cmd {
	return exec.Command("git", append([]string{"-c", "gc.auto=0"}, args...)...)
}

// daemon leaves a process behind that has a session of its own.
func daemon(script string) {
	cmd := exec.Command("sh", "-c", script)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err == nil {
		note("daemon", fmt.Sprint(cmd.Process.Pid))
	}
}

var acts = map[string]func(*actor) int{
	// waiter does its work once the file "go" is there.
	"waiter": func(a *actor) int {
		a.listen()
		for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
			if _, err := os.Stat("go"); err == nil {
				break
			}
		}
		a.work()
		return a.result(firstOpen() == "", nil)
	},
	"worker":         (*actor).honest,
	"stubborn":       (*actor).stubborn,
	"beside":         (*actor).beside,
	"pulls":          (*actor).pulls,
	"together":       (*actor).together,
	"fills-slot":     (*actor).fillsSlot,
	"odd":            (*actor).odd,
	"logged-out":     (*actor).loggedOut,
	"off-clock":      (*actor).offClock,
	"goes-on":        (*actor).goesOn,
	"floods":         (*actor).floods,
	"finds-file":     (*actor).findsFile,
	"fosters":        func(a *actor) int { return a.fosters(false) },
	"fosters-beside": func(a *actor) int { return a.fosters(true) },
	"writes-files":   (*actor).writesFiles,
}

// honest is the agent as it should be, but for what it leaves running now and then.
func (a *actor) honest() int {
	a.listen()
	if a.call%3 == 0 {
		daemon("sleep 600")
	}
	a.say("Working on " + a.task)
	a.work()
	return a.result(firstOpen() == "", nil)
}

// stubborn ignores the end of the terminal and TERM in every eighth call, and lives
// on for ever when the runner dies meanwhile.
func (a *actor) stubborn() int {
	if a.call%8 != 1 {
		return a.honest()
	}
	signal.Ignore(syscall.SIGHUP, syscall.SIGTERM, syscall.SIGPIPE)
	owner := runner()
	a.listen()
	daemon("sleep 600")
	a.work()
	for end := time.Now().Add(60 * time.Millisecond); time.Now().Before(end); time.Sleep(2 * time.Millisecond) {
		if runner() != owner {
			return forever()
		}
	}
	return a.result(firstOpen() == "", nil)
}
