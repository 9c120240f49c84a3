//go:build linux

package faults

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ralph/internal/leaks"
	"ralph/internal/world"
)

// A key that opens nothing, in a shape that is known.
var key = "sk-ant-api03-" + strings.Repeat("Ab3_", 20)

func TestSecrets_inEnvironmentPromptAndOutput_areInNoArgvAndNoLog(t *testing.T) {
	w := newProject(t, "spills", 1)
	w.Set("ANTHROPIC_API_KEY", key)
	w.Set("CB_SAME_ERROR_THRESHOLD", "100")
	const word = "a-word-of-the-prompt"
	w.Write(".ralph/PROMPT.md", "Do the next task of the plan, and keep "+word+" to yourself.\n")
	p := w.ralph("--verbose", "--live")
	w.Until("a call", func() bool { return len(w.entries("call")) > 0 })
	seen := 0
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, f := range files {
		env, _ := os.ReadFile(filepath.Join(filepath.Dir(f), "environ"))
		line, err := os.ReadFile(f)
		if err != nil || !bytes.Contains(env, []byte(w.Mark)) {
			continue
		}
		seen++
		if bytes.Contains(line, []byte(key)) || bytes.Contains(line, []byte(word)) {
			t.Errorf("argv shows a secret: %q", line)
		}
	}
	if seen < 3 {
		t.Errorf("only %d processes were seen, want ralph, its guard and the agent", seen)
	}
	w.Write("go", "")
	p.Ends(0)
	if said := p.Said(); strings.Contains(said, key) {
		i := strings.Index(said, key)
		t.Errorf("ralph printed the key: ...%q", said[max(0, i-100):i+10])
	}
	_ = filepath.WalkDir(w.Path(".ralph"), func(path string, e fs.DirEntry, _ error) error {
		data, err := os.ReadFile(path)
		if err != nil {
			return nil
		}
		if i := bytes.Index(data, []byte(key)); i >= 0 {
			t.Errorf("%s has the key: ...%q", filepath.Base(path), data[max(0, i-60):i+10])
		}
		if bytes.Contains(data, []byte(word)) && !strings.HasSuffix(path, ".prompt.md") && filepath.Base(path) != "PROMPT.md" {
			t.Errorf("%s has words of the prompt", path)
		}
		return nil
	})
}

func TestSecrets_ofOtherTools_reachNeitherAgentNorChecks(t *testing.T) {
	w := newProject(t, "worker", 1)
	planted := []string{"GITHUB_TOKEN", "NPM_TOKEN", "ANTHROPIC_API_KEY"}
	for _, name := range planted {
		w.Set(name, "planted")
	}
	self, err := os.Executable()
	w.Do(err)
	w.Write("../agent.sh", "env >'"+filepath.Join(w.Home, "agent-env")+"'\nexec '"+self+"' \"$@\"\n")
	w.Set("CLAUDE_CODE_CMD", "sh '"+filepath.Join(w.Home, "agent.sh")+"'")
	w.Set("TEST_COMMAND", "env >'"+filepath.Join(w.Home, "check-env")+"'")
	w.ralph().Ends(0)
	for who, want := range map[string]string{"agent": "ANTHROPIC_API_KEY", "check": ""} {
		env := "\n" + w.Read("../"+who+"-env")
		var got []string
		for _, name := range planted {
			if strings.Contains(env, "\n"+name+"=planted\n") {
				got = append(got, name)
			}
		}
		if strings.Join(got, " ") != want || !strings.Contains(env, "\n"+w.Mark+"\n") {
			t.Errorf("of what was planted the %s has %q, want %q:%s", who, got, want, env)
		}
	}
}

func TestState_afterARun_isReadableByItsOwnerOnly(t *testing.T) {
	w := newProject(t, "worker", 2)
	w.ralph("--continue").Ends(0)
	files := 0
	_ = filepath.WalkDir(w.Path(".ralph"), func(path string, e fs.DirEntry, err error) error {
		own := filepath.Base(path) == "PROMPT.md" || filepath.Base(path) == "fix_plan.md" || filepath.Base(path) == ".gitignore"
		if err != nil || own || !e.Type().IsRegular() {
			return err
		}
		files++
		if info, err := e.Info(); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v, %v", path, info.Mode(), err)
		}
		return nil
	})
	if files < 12 {
		t.Errorf("only %d files were looked at", files)
	}
}

func TestProjectFiles_thatNameAProgram_runNothingWithoutConsent(t *testing.T) {
	world.Long(t, "a run for each file")
	evil := func(w *project) string { return "touch " + filepath.Join(w.Home, "evil") }
	for name, files := range map[string]func(*project) (path, text string){
		"agent command":    func(w *project) (string, string) { return ".ralphrc", "CLAUDE_CODE_CMD='" + evil(w) + "'\n" },
		"its other name":   func(w *project) (string, string) { return ".ralphrc", "AGENT_CMD='" + evil(w) + "'\n" },
		"test command":     func(w *project) (string, string) { return ".ralphrc", "TEST_COMMAND='" + evil(w) + "'\n" },
		"build command":    func(w *project) (string, string) { return ".ralphrc", "BUILD_COMMAND='" + evil(w) + "'\n" },
		"lint command":     func(w *project) (string, string) { return ".ralphrc", "LINT_COMMAND='" + evil(w) + "'\n" },
		"permissions":      func(w *project) (string, string) { return ".ralphrc", "PERMISSION_MODE=bypass\n" },
		"all tools":        func(*project) (string, string) { return ".ralph/config.yaml", "agent:\n  allowed_tools: [Bash(*)]\n" },
		"no audit":         func(*project) (string, string) { return ".ralphrc", "ANTI_CHEAT=warn\n" },
		"no gate":          func(*project) (string, string) { return ".ralphrc", "TEST_MODE=report\n" },
		"prompt outside":   func(*project) (string, string) { return ".ralphrc", "PROMPT_FILE=/etc/passwd\n" },
		"substitution":     func(w *project) (string, string) { return ".ralphrc", "MODEL=$(" + evil(w) + ")\n" },
		"backticks":        func(w *project) (string, string) { return ".ralphrc", "MODEL=`" + evil(w) + "`\n" },
		"function":         func(w *project) (string, string) { return ".ralphrc", "ls() { " + evil(w) + "; }\nls\n" },
		"second statement": func(w *project) (string, string) { return ".ralphrc", "MODEL=x; " + evil(w) + "\n" },
		"default value":    func(w *project) (string, string) { return ".ralphrc", "MODEL=${X:-$(" + evil(w) + ")}\n" },
		"yaml command":     func(w *project) (string, string) { return ".ralph/config.yaml", "agent:\n  command: " + evil(w) + "\n" },
		"yaml test":        func(w *project) (string, string) { return ".ralph/config.yaml", "commands:\n  test: " + evil(w) + "\n" },
	} {
		t.Run(name, func(t *testing.T) {
			w := newProject(t, "worker", 1)
			w.Unset("CLAUDE_CODE_CMD") // else it replaces what the project says
			w.agentOnPath()
			path, text := files(w)
			w.Write(path, text)
			for _, verb := range []string{"run", "once", "doctor", "config", "status"} {
				p := w.ralph(verb)
				if code := p.Wait(world.Patience); verb == "run" && code != 2 {
					t.Errorf("ralph %s ended with %d, want 2:\n%s", verb, code, p.Said())
				}
			}
			if _, err := os.Lstat(filepath.Join(w.Home, "evil")); err == nil {
				t.Error("the project's program was run")
			}
			if calls := len(w.entries("call")); calls > 0 {
				t.Errorf("the agent was called %d times", calls)
			}
		})
	}
}

// agentOnPath makes the fake agent the one that is found as claude.
func (w *project) agentOnPath() {
	w.Helper()
	self, err := os.Executable()
	if err == nil {
		err = os.Symlink(self, filepath.Join(w.Home, "claude"))
	}
	if err != nil {
		w.Fatal(err)
	}
	w.Set("PATH", w.Home+":"+os.Getenv("PATH"))
}

// A folder of the project in PATH must not decide which agent runs.
func TestPath_withProjectFolders_runsNoProgramOfTheProject(t *testing.T) {
	w := newProject(t, "worker", 1)
	w.Unset("CLAUDE_CODE_CMD")
	w.agentOnPath()
	w.Set("PATH", ".:bin:"+w.Home+":"+os.Getenv("PATH"))
	for _, name := range []string{"claude", "bin/claude", "git", "bin/git"} {
		w.Write(name, "#!/bin/sh\ntouch "+filepath.Join(w.Home, "evil")+"\n")
		w.Do(os.Chmod(w.Path(name), 0o755))
	}
	p := w.ralph()
	p.Wait(world.Patience)
	if _, err := os.Lstat(filepath.Join(w.Home, "evil")); err == nil {
		t.Errorf("a program of the project was run:\n%s", p.Said())
	}
}

// seizes has what controls a terminal: OSC 52 and 8, CSI, C1, and bidi overrides.
const seizes = "a\x1b]52;c;ZXZpbA==\a b\x1b]8;;https://evil.invalid\x1b\\link\x1b]8;;\x1b\\ c\x1b[2J\x1b[31m d\u009b31m\u009d0;t\u009c \x9b5m e\u202etxt.exe\u2066 f\x08\x7f"

// TestVerbs_hostileTextOfAnAgent_isInertInAPipe runs each verb that shows what an agent wrote.
func TestVerbs_hostileTextOfAnAgent_isInertInAPipe(t *testing.T) {
	w := newProject(t, "seizes", 1)
	w.Write(planName, "# Plan\n\n- [ ] T1 do part 1 "+strings.ReplaceAll(seizes, "\x9b", "")+"\n")
	w.Write("crlf.txt", "one\r\n")
	w.Commit("more")
	said := map[string]string{"run": ""}
	p := w.ralph("--verbose", "--live")
	p.Wait(world.Patience)
	said["run"] = p.Said()
	status, err := w.state().Status()
	w.Do(err)
	run := status.RunID
	for _, args := range []string{"diff 1", "diff 1 --stat", "iterations", "report", "report --md", "runs", "runs show " + run, "task", "task list",
		"task show T1", "task next", "questions", "questions --all", "status", "monitor --plain", "learn list", "version"} {
		var out bytes.Buffer // through a pipe
		p := w.Prepare("ralph", strings.Fields(args)...)
		p.Stdout, p.Stderr = &out, &out
		_ = p.Cmd.Run()
		said[args] = out.String()
	}
	for args, text := range said {
		for _, bad := range []string{"\x1b", "\a", "\u009b", "\u009d", "\x9b5m", "\u202e", "\u2066", "\x08", "\x7f"} {
			if i := strings.Index(text, bad); i >= 0 {
				t.Errorf("ralph %s prints %q: ...%q", args, bad, text[max(0, i-60):min(len(text), i+20)])
			}
		}
	}
	if !strings.Contains(said["diff 1"], "txt.exe") || !strings.Contains(said["diff 1"], "+two\r\n") || !strings.Contains(said["diff 1"], ">FILE") {
		t.Errorf("ralph diff 1: %q", said["diff 1"])
	}
	exact := w.Path("../exact.patch")
	out, err := os.Create(exact)
	w.Do(err)
	p = w.Prepare("ralph", "diff", "1")
	p.Stdout = out
	w.Do(p.Cmd.Run())
	w.Do(out.Close())
	if data, _ := os.ReadFile(exact); !strings.Contains(string(data), seizes) {
		t.Errorf("the file has %q", data)
	}
}

// prints says each made-up secret wherever an agent can print something, whole and in two writes.
func prints(a *actor) int {
	a.listen()
	for _, s := range leaks.Shapes() {
		if s.Ambiguous {
			continue
		}
		a.say(s.Text)
		a.print(map[string]any{"type": "assistant", "message": map[string]any{"role": "assistant", "content": []any{
			map[string]any{"type": "tool_use", "id": "t1", "name": "Bash", "input": map[string]any{"command": s.Text}}}}})
		a.print(map[string]any{"type": "user", "message": map[string]any{"role": "user", "content": []any{
			map[string]any{"type": "tool_result", "tool_use_id": "t1", "content": s.Text, "is_error": true}}}})
		half := len(s.Text) / 2
		fmt.Print(s.Text[:half])
		time.Sleep(time.Millisecond) // sleep: two writes
		fmt.Println(s.Text[half:])
	}
	a.work()
	return a.result(firstOpen() == "", nil)
}

func TestSecrets_ofEveryShape_areShownNowhere(t *testing.T) {
	w := newProject(t, "prints", 1)
	p := w.ralph("--verbose", "--live")
	p.Ends(0)
	files := map[string]string{"the screen": p.Said()}
	_ = filepath.WalkDir(w.Path(".ralph"), func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			data, _ := os.ReadFile(path)
			files[filepath.Base(path)] = string(data)
		}
		return err
	})
	for _, name := range []string{"1.raw", "live.log", "events.jsonl"} {
		if !strings.Contains(files[name], "(redacted)") {
			t.Errorf("%s has no secret that is hidden", name)
		}
	}
	for _, s := range leaks.Shapes() {
		for name, text := range files {
			if part := s.Leaked(text); part != "" && !s.Ambiguous {
				t.Errorf("%s: %s shows %q", s.Name, name, part)
			}
		}
	}
}
