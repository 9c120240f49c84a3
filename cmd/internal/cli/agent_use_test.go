package cli

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ralph/cmd/internal/cmdline"
	"ralph/state"
)

// installed puts agents on PATH, and nothing else.
func (w *agentWorld) installed(programs map[string]string) {
	w.t.Helper()
	bin := w.t.TempDir()
	for name, script := range programs {
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+script), 0o755); err != nil {
			w.t.Fatal(err)
		}
	}
	w.t.Setenv("PATH", bin+":/bin:/usr/bin")
	w.Env = append(w.Env, "PATH="+bin+":/bin:/usr/bin")
}

func TestAgentUse_leavesTheChoiceForTheLivingRun(t *testing.T) {
	for _, test := range []struct {
		name, plan string
		args       []string
		dead       bool
		code       int
		want       state.AgentUse
		says       string
	}{
		{name: "agent", args: []string{"codex"}, want: state.AgentUse{Run: "r1", Agent: "codex"}, says: "from the next turn of run r1 on: codex with its own default model"},
		{name: "alias and model", args: []string{"cursor", "--model", "auto"}, want: state.AgentUse{Run: "r1", Agent: "cursor-agent", Model: "auto"}, says: "cursor-agent with model auto"},
		{name: "the plan names another", args: []string{"codex"}, plan: "- [ ] a <!-- ralph: agent=claude -->\n",
			want: state.AgentUse{Run: "r1", Agent: "codex"}, says: "the plan names the agent of every open task"},
		{name: "unknown", args: []string{"nobody"}, code: state.ExitUsage, says: `unknown agent "nobody", known are: claude`},
		{name: "takes no model", args: []string{"amp", "--model", "x"}, code: state.ExitUsage, says: `the agent amp cannot be given the model "x"`},
		{name: "not installed", args: []string{"gemini"}, code: state.ExitAgent, says: "the agent gemini cannot run"},
		{name: "no run", args: []string{"codex"}, dead: true, code: state.ExitUsage, says: "no ralph is running"},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t, map[string]string{".ralph/fix_plan.md": test.plan, ".ralphrc": "AGENT=codex\n"})
			w.installed(map[string]string{"codex": "", "cursor-agent": "", "amp": ""})
			dir := filepath.Join(w.Dir, state.DirName)
			if !test.dead {
				lock, _, err := state.Acquire(dir, state.Owner{PID: os.Getpid(), RunID: "r1", StartedAt: time.Now()})
				if err != nil {
					t.Fatal(err)
				}
				defer lock.Release()
			}
			err := w.verb(newUseCmd, "", test.args...)
			exit := (*cmdline.ExitError)(nil)
			if errors.As(err, &exit) != (test.code != 0) || exit != nil && exit.Code != test.code {
				t.Fatalf("%v, want code %d", err, test.code)
			}
			said := w.out.String() + w.err.String()
			if err != nil {
				said += err.Error()
			}
			if !strings.Contains(said, test.says) {
				t.Errorf("said %q, want %q", said, test.says)
			}
			got, _ := state.Open(dir).AgentUse("r1")
			if got.At = (time.Time{}); got != test.want {
				t.Errorf("left %+v, want %+v", got, test.want)
			}
			if _, ok := state.Open(dir).AgentUse("r2"); ok {
				t.Error("it counts for another run")
			}
		})
	}
}

func TestAgentList_showsVersionLoginAndModels_withoutACall(t *testing.T) {
	w := newWorld(t, map[string]string{".ralph/config.yaml": "agents:\n  mine:\n    command: ./mine.sh\n    models: [list]\n    login: [who]\n    description: It is mine\n"})
	const answers = "case \"$*\" in --version) echo 1.2.3;; models) echo a/b; echo c;; 'login status') exit 1;; 'debug models') echo '{\"models\":[{\"slug\":\"gpt-6\"}]}';; *) echo CALL $* >>calls;; esac\n"
	w.installed(map[string]string{"codex": answers, "opencode": answers, "claude": answers})
	w.write("mine.sh", "#!/bin/sh\ncase $1 in list) printf 'Models:\\none - the first\\ntwo\\nthree (new)\\nName [four]\\n';; who) ;; *) echo CALL >>calls;; esac\n", 0o755)
	w.Env = append(w.Env, "ANTHROPIC_API_KEY=k")
	u, err := w.Loader(w.Dir, nil).Untrusted()
	if err != nil {
		t.Fatal(err)
	}
	trust(t, w, u)
	if err := w.verb(newListCmd, ""); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"* claude": "yes 1.2.3 key opus, sonnet, haiku", "  codex": "yes 1.2.3 no gpt-6", "  opencode": "yes 1.2.3 key a/b, c",
		"  gemini": `no - - - - built in "gemini" is not an executable`, "  mine": "yes - yes one, two, three and 1 more",
	} {
		if !strings.Contains(row(w.out.String(), name), want) {
			t.Errorf("%s: %q, want %q", name, row(w.out.String(), name), want)
		}
	}
	if _, err := os.Stat(filepath.Join(w.Dir, "calls")); err == nil {
		t.Errorf("an agent was called: %s", w.read("calls"))
	}
}

func TestAgentList_loginOfClaude_isWhatItSays(t *testing.T) {
	for code, want := range map[string]string{"0": "yes 1.2.3 yes", "1": "yes 1.2.3 no"} {
		w := newWorld(t, nil)
		w.installed(map[string]string{"claude": "case \"$*\" in --version) echo 1.2.3;; 'auth status --text') exit " + code + ";; *) echo CALL >>calls;; esac\n"})
		if err := w.verb(newListCmd, ""); err != nil {
			t.Fatal(err)
		}
		if got := row(w.out.String(), "* claude"); !strings.HasPrefix(got, want) {
			t.Errorf("exit code %s: %q, want %q", code, got, want)
		}
		if _, err := os.Stat(filepath.Join(w.Dir, "calls")); err == nil {
			t.Error("an agent was called")
		}
	}
}

func row(table, name string) string {
	for line := range strings.Lines(table) {
		if strings.HasPrefix(line, name+" ") {
			return strings.Join(strings.Fields(strings.TrimPrefix(line, name)), " ")
		}
	}
	return ""
}
