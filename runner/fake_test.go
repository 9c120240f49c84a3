package runner

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"ralph/ptyexec"
)

// The fake agent is this test binary, started like Claude Code: it reads its
// prompt from standard input and prints stream-json. What it does is named by
// an environment variable, and it counts its calls in a file.
const (
	fakeName  = "RALPH_TEST_FAKE"
	fakeCount = "RALPH_TEST_COUNT"
	// fakeAgentName tells the fake under which name it was started.
	fakeAgentName = "RALPH_TEST_AGENT"
)

func TestMain(m *testing.M) {
	ptyexec.Init()
	if name := os.Getenv(fakeName); name != "" {
		os.Exit(playFake(name))
	}
	os.Exit(m.Run())
}

// fake is one call of the fake agent.
type fake struct {
	call   int // 1 is the first
	prompt string
}

func playFake(name string) int {
	prompt, _ := io.ReadAll(os.Stdin)
	path := os.Getenv(fakeCount)
	data, _ := os.ReadFile(path)
	n, _ := strconv.Atoi(string(data))
	n++
	if err := os.WriteFile(path, []byte(strconv.Itoa(n)), 0o600); err != nil {
		panic(err)
	}
	f := &fake{call: n, prompt: string(prompt)}
	f.print(map[string]any{"type": "system", "subtype": "init", "session_id": fmt.Sprintf("session-%d", n), "model": "fake-1"})
	for _, more := range []map[string]func(*fake) int{moreFakes, tickFakes, caseFakes, repositoryFakes, saidFakes, editFakes, reviewerWriteFakes, bystanderFakes, planFakes, askFakes, reviewFakes, besideFakes, besideReviewFakes, paceFakes, cutOffFakes, movedFakes, limitedFakes, gitFakes, redFakes, orderFakes, costFakes, stuckFakes, changedTestFakes, crashTickFakes} {
		if play, ok := more[name]; ok {
			return play(f)
		}
	}
	return fakes[name](f)
}

func (f *fake) print(record map[string]any) {
	data, err := json.Marshal(record)
	if err != nil {
		panic(err)
	}
	fmt.Printf("%s\n", data)
}

func (f *fake) say(text string) {
	f.print(map[string]any{"type": "assistant", "message": map[string]any{"role": "assistant", "content": []any{map[string]any{"type": "text", "text": text}}}})
}

func (f *fake) tool(name, arg string) {
	f.print(map[string]any{"type": "assistant", "message": map[string]any{"role": "assistant", "content": []any{
		map[string]any{"type": "tool_use", "id": "t1", "name": name, "input": map[string]any{"command": arg}}}}})
}

// result prints the final record of a successful turn.
func (f *fake) result(text string, extra map[string]any) int {
	record := map[string]any{"type": "result", "subtype": "success", "is_error": false, "result": text, "total_cost_usd": 0.25,
		"usage": map[string]any{"input_tokens": 100, "output_tokens": 20}, "session_id": fmt.Sprintf("session-%d", f.call)}
	for k, v := range extra {
		record[k] = v
	}
	f.print(record)
	return 0
}

func (f *fake) failure(text string, status int) int {
	f.result(text, map[string]any{"is_error": true, "api_error_status": status})
	return 1
}

func block(exit bool, more string) string {
	return fmt.Sprintf("\n---RALPH_STATUS---\nSTATUS: IN_PROGRESS\nEXIT_SIGNAL: %v\n%s---END_RALPH_STATUS---\n", exit, more)
}

// work changes a file and ticks the first open box of the plan.
func (f *fake) work() {
	put("work.txt", fmt.Sprintf("call %d", f.call))
	data, err := os.ReadFile(planName)
	if err == nil {
		put(planName, strings.Replace(string(data), "- [ ]", "- [x]", 1))
	}
}

const planName = ".ralph/fix_plan.md"

// judge answers a hook, and works on anything else.
func (f *fake) judge(answer string) int {
	if strings.HasPrefix(f.prompt, "Is this a good day?") && strings.Contains(f.prompt, `"point":"`) {
		return f.result("I looked around.\n"+answer, nil)
	}
	f.work()
	return f.result("Did it."+block(!open1(planName), ""), nil)
}

func put(path, text string) {
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		panic(err)
	}
}

func (f *fake) tickAll() { put(planName, strings.ReplaceAll(read1(planName), "- [ ]", "- [x]")) }

func read1(path string) string {
	data, _ := os.ReadFile(path)
	return string(data)
}

func open1(path string) bool {
	data, _ := os.ReadFile(path)
	return strings.Contains(string(data), "- [ ]")
}

var fakes = map[string]func(*fake) int{
	"worker": func(f *fake) int {
		f.work()
		return f.result("Did it."+block(!open1(planName), ""), nil)
	},
	"judge":         func(f *fake) int { return f.judge(`{"block": false, "note": "mind the tests"}`) },
	"judge-against": func(f *fake) int { return f.judge(`{"block": true, "reason": "it is Friday"}`) },
	"idler": func(f *fake) int {
		return f.result("Nothing to do. All done, complete, finished."+block(false, ""), nil)
	},
	"chatterbox": func(f *fake) int { return f.result("All tasks are complete! Nothing is left to do.", nil) },
	"busy-chatterbox": func(f *fake) int {
		put("notes.txt", fmt.Sprint("looked again, call ", f.call))
		return f.result("All tasks complete.", nil)
	},
	"claimer":   func(f *fake) int { return f.result("All done."+block(true, ""), nil) },
	"refused":   func(f *fake) int { f.tool("Bash", "rm -rf x"); f.work(); return f.result("ok", denial("rm -rf x")) },
	"loggedout": func(f *fake) int { return f.failure("Not logged in · Please run /login", 401) },
	"tester": func(f *fake) int {
		put("t_test.go", fmt.Sprint(f.call))
		return f.result("ok"+block(false, "WORK_TYPE: TESTING\n"), nil)
	},
	"crasher": func(f *fake) int {
		put("work.txt", fmt.Sprint(f.call))
		fmt.Println("panic: something broke at", time.Now().Format(time.RFC3339Nano))
		return 70
	},
	"limited": func(f *fake) int {
		if f.call == 1 {
			return limit(f, time.Now().Add(time.Second))
		}
		f.work()
		return f.result("Did it."+block(!open1(planName), ""), nil)
	},
	"shared": func(f *fake) int {
		name := os.Getenv(fakeAgentName)
		put(fmt.Sprintf("who-%d", f.call), name+" "+strings.Join(os.Args, " "))
		if name == "claude" && f.call == 1 {
			return limit(f, time.Now().Add(time.Second))
		}
		f.work()
		return f.result("ok"+block(!open1(planName), ""), nil)
	},
	"limited-long": func(f *fake) int { return limit(f, time.Now().Add(5*time.Hour)) },
	"vandal": func(f *fake) int {
		_ = os.RemoveAll(".ralph")
		put("work.txt", fmt.Sprint(f.call))
		return f.result("Cleaned up."+block(false, ""), nil)
	},
	"eraser":  func(f *fake) int { put("plan.md", "# nothing\n"); return f.result("ok", nil) },
	"remover": func(f *fake) int { _ = os.Remove("plan.md"); return f.result("ok", nil) },
	"checked": func(f *fake) int {
		f.work()
		if strings.Contains(f.prompt, "\nthe check is red") {
			put("green", "")
		}
		return f.result("ok"+block(!open1(planName), ""), nil)
	},
	"ticker": func(f *fake) int { // ticks boxes and does nothing
		put(os.Getenv(fakeCount)+".prompt", f.prompt)
		f.tickAll()
		return f.result("ok"+block(true, ""), nil)
	},
	"leaver": func(f *fake) int { // works and commits nothing
		f.work()
		put("mine.txt", "the user's, changed")
		return f.result("ok"+block(!open1(planName), ""), nil)
	},
	"stubborn": func(f *fake) int { // ticks its task and leaves the check red
		put(os.Getenv(fakeCount)+".prompt", f.prompt)
		put("work.txt", fmt.Sprint(f.call))
		_, after, _ := strings.Cut(f.prompt, "## Your task\n\n")
		title, _, _ := strings.Cut(after, "\n")
		data, _ := os.ReadFile(planName)
		put(planName, strings.Replace(string(data), "- [ ] "+title, "- [x] "+title, 1))
		return f.result("ok"+block(false, ""), nil)
	},
	"sleeper": func(f *fake) int {
		put("work.txt", fmt.Sprint(f.call))
		f.tool("Bash", "sleep 600")
		put("started", strconv.Itoa(os.Getpid()))
		grandchild := exec.Command("sleep", "600")
		grandchild.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if err := grandchild.Start(); err != nil {
			panic(err)
		}
		put("grandchild", strconv.Itoa(grandchild.Process.Pid))
		never := make(chan os.Signal, 1)
		signal.Notify(never, syscall.SIGUSR2)
		<-never
		return 0
	},
	"prompted": func(f *fake) int {
		put(fmt.Sprintf(".ralph/prompt-%d", f.call), f.prompt)
		f.tool("Bash", "sleep 600")
		time.Sleep(time.Minute) // sleep: the agent hangs
		return 0
	},
	"memory": func(f *fake) int {
		put("work.txt", fmt.Sprint(f.call))
		put(fmt.Sprintf("prompt-%d", f.call), f.prompt)
		if f.call == 1 {
			return f.result("First half."+block(true, "RECOMMENDATION: look at the parser\n"), nil)
		}
		f.work()
		return f.result("ok"+block(!open1(planName), ""), nil)
	},
	"quoter": func(f *fake) int {
		f.print(map[string]any{"type": "user", "message": map[string]any{"role": "user", "content": []any{map[string]any{"type": "tool_result", "tool_use_id": "t1",
			"content": "You've hit your 5-hour limit · resets 4:49am (UTC)" + block(true, "") + "<promise>COMPLETE</promise>"}}}})
		f.say("Claude AI usage limit reached|1753441200. All tasks are complete and done." + block(true, ""))
		f.work()
		return f.result("Read the log."+block(false, ""), nil)
	},
	"flaky-service": func(f *fake) int {
		if f.call == 1 {
			return f.failure("API Error: 529 Overloaded.", 529)
		}
		f.work()
		return f.result("ok"+block(!open1(planName), ""), nil)
	},
	"argv": func(f *fake) int {
		put("argv", strings.Join(os.Args, "\x00"))
		f.work()
		return f.result("ok"+block(!open1(planName), ""), nil)
	},
	"resumer": func(f *fake) int {
		put(fmt.Sprintf("argv-%d", f.call), strings.Join(os.Args, " "))
		if f.call == 2 {
			fmt.Println("No conversation found with session ID: session-1")
			return 1
		}
		f.work()
		return f.result("ok"+block(!open1(planName), ""), nil)
	},
}

func denial(command string) map[string]any {
	return map[string]any{"permission_denials": []any{map[string]any{"tool_name": "Bash", "tool_use_id": "t1", "tool_input": map[string]any{"command": command}}}}
}

func limit(f *fake, reset time.Time) int {
	f.print(map[string]any{"type": "rate_limit_event", "rate_limit_info": map[string]any{"status": "rejected", "resetsAt": reset.Unix() + 1, "rateLimitType": "five_hour", "utilization": 1}})
	f.result("You've hit your 5-hour limit", map[string]any{"is_error": true, "api_error_status": 429})
	return 1
}
