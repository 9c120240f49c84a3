//go:build linux

package faults

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A key that opens nothing, in a shape that is known.
var key = "sk-ant-api03-" + strings.Repeat("Ab3_", 20)

func TestSecrets_inEnvironmentPromptAndOutput_areInNoArgvAndNoLog(t *testing.T) {
	w := newWorld(t, "spills", 1)
	w.set("ANTHROPIC_API_KEY", key)
	w.set("CB_SAME_ERROR_THRESHOLD", "100")
	const word = "a-word-of-the-prompt"
	w.write(".ralph/PROMPT.md", "Do the next task of the plan, and keep "+word+" to yourself.\n")
	p := w.ralph("--verbose", "--live")
	w.until("a call", func() bool { return len(w.entries("call")) > 0 })
	seen := 0
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, f := range files {
		env, _ := os.ReadFile(filepath.Join(filepath.Dir(f), "environ"))
		line, err := os.ReadFile(f)
		if err != nil || !bytes.Contains(env, []byte(w.mark)) {
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
	w.write("go", "")
	p.ends(0)
	if said := p.said(); strings.Contains(said, key) {
		i := strings.Index(said, key)
		t.Errorf("ralph printed the key: ...%q", said[max(0, i-100):i+10])
	}
	_ = filepath.WalkDir(filepath.Join(w.dir, ".ralph"), func(path string, e fs.DirEntry, _ error) error {
		data, err := os.ReadFile(path)
		if err != nil || strings.HasSuffix(path, ".raw") { // what the agent printed, as it is
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

func TestState_afterARun_isReadableByItsOwnerOnly(t *testing.T) {
	w := newWorld(t, "worker", 2)
	w.ralph("--continue").ends(0)
	files := 0
	_ = filepath.WalkDir(filepath.Join(w.dir, ".ralph"), func(path string, e fs.DirEntry, err error) error {
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
	evil := func(w *world) string { return "touch " + filepath.Join(w.home, "evil") }
	for name, files := range map[string]func(*world) (path, text string){
		"agent command":    func(w *world) (string, string) { return ".ralphrc", "CLAUDE_CODE_CMD='" + evil(w) + "'\n" },
		"its other name":   func(w *world) (string, string) { return ".ralphrc", "AGENT_CMD='" + evil(w) + "'\n" },
		"test command":     func(w *world) (string, string) { return ".ralphrc", "TEST_COMMAND='" + evil(w) + "'\n" },
		"build command":    func(w *world) (string, string) { return ".ralphrc", "BUILD_COMMAND='" + evil(w) + "'\n" },
		"lint command":     func(w *world) (string, string) { return ".ralphrc", "LINT_COMMAND='" + evil(w) + "'\n" },
		"permissions":      func(w *world) (string, string) { return ".ralphrc", "PERMISSION_MODE=bypass\n" },
		"substitution":     func(w *world) (string, string) { return ".ralphrc", "MODEL=$(" + evil(w) + ")\n" },
		"backticks":        func(w *world) (string, string) { return ".ralphrc", "MODEL=`" + evil(w) + "`\n" },
		"function":         func(w *world) (string, string) { return ".ralphrc", "ls() { " + evil(w) + "; }\nls\n" },
		"second statement": func(w *world) (string, string) { return ".ralphrc", "MODEL=x; " + evil(w) + "\n" },
		"default value":    func(w *world) (string, string) { return ".ralphrc", "MODEL=${X:-$(" + evil(w) + ")}\n" },
		"yaml command":     func(w *world) (string, string) { return ".ralph/config.yaml", "agent:\n  command: " + evil(w) + "\n" },
		"yaml test":        func(w *world) (string, string) { return ".ralph/config.yaml", "commands:\n  test: " + evil(w) + "\n" },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, "worker", 1)
			w.unset("CLAUDE_CODE_CMD") // else it replaces what the project says
			w.agentOnPath()
			path, text := files(w)
			w.write(path, text)
			for _, verb := range []string{"run", "once", "doctor", "config", "status"} {
				p := w.ralph(verb)
				if code := p.wait(patience); verb == "run" && code != 2 {
					t.Errorf("ralph %s ended with %d, want 2:\n%s", verb, code, p.said())
				}
			}
			if _, err := os.Lstat(filepath.Join(w.home, "evil")); err == nil {
				t.Error("the project's program was run")
			}
			if calls := len(w.entries("call")); calls > 0 {
				t.Errorf("the agent was called %d times", calls)
			}
		})
	}
}

func (w *world) unset(name string) {
	for i, kv := range w.env {
		if strings.HasPrefix(kv, name+"=") {
			w.env = append(w.env[:i], w.env[i+1:]...)
			return
		}
	}
}

// agentOnPath makes the fake agent the one that is found as claude.
func (w *world) agentOnPath() {
	w.t.Helper()
	self, err := os.Executable()
	if err == nil {
		err = os.Symlink(self, filepath.Join(w.home, "claude"))
	}
	if err != nil {
		w.t.Fatal(err)
	}
	w.set("PATH", w.home+":"+os.Getenv("PATH"))
}

// A folder of the project in PATH must not decide which agent runs.
func TestPath_withProjectFolders_runsNoProgramOfTheProject(t *testing.T) {
	w := newWorld(t, "worker", 1)
	w.unset("CLAUDE_CODE_CMD")
	w.agentOnPath()
	w.set("PATH", ".:bin:"+w.home+":"+os.Getenv("PATH"))
	for _, name := range []string{"claude", "bin/claude", "git", "bin/git"} {
		w.write(name, "#!/bin/sh\ntouch "+filepath.Join(w.home, "evil")+"\n")
		if err := os.Chmod(filepath.Join(w.dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	p := w.ralph()
	p.wait(patience)
	if _, err := os.Lstat(filepath.Join(w.home, "evil")); err == nil {
		t.Errorf("a program of the project was run:\n%s", p.said())
	}
}
