//go:build e2e && linux

package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"ralph/internal/mockllm"
)

// userHooks are settings whose hooks write down that they ran.
const userHooks = `{"hooks": {
  "Stop": [{"hooks": [{"type": "command", "command": "echo stop >>\"$HOME/ran\""}]}],
  "PreToolUse": [{"matcher": "Bash|Write", "hooks": [{"type": "command", "command": "echo pre >>\"$HOME/ran\""}]}],
  "PostToolUse": [{"matcher": "Write", "hooks": [{"type": "command", "command": "echo post >>\"$HOME/ran\""}]}]
}}
`

// hooked makes a project whose user has hooks of their own, with all of ralph's.
func hooked(t *testing.T, tasks int, sc mockllm.Scenario) *project {
	w := newProject(t, claude(), tasks, sc)
	w.Write("../.claude/settings.json", userHooks)
	w.Write(".claude/settings.json", strings.ReplaceAll(userHooks, "echo ", "echo project-"))
	w.Env = append(w.Env, "ALLOWED_TOOLS=Write,Read,Edit", "HOOK_STOP=true", "HOOK_LINT=echo unexpected end of JSON input in {file}; exit 1", "HOOK_AUTO_APPROVE=true")
	return w
}

// settings returns the files that ralph must not touch.
func (w *project) settings() string {
	more, _ := filepath.Glob(filepath.Join(w.Dir, ".claude", "*"))
	return w.Read("../.claude/settings.json") + w.Read(".claude/settings.json") + strings.Join(more, " ")
}

// transcripts are what the CLI itself has kept of its calls.
func (w *project) transcripts() string {
	var all strings.Builder
	_ = filepath.WalkDir(filepath.Join(w.Home, ".claude", "projects"), func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			data, _ := os.ReadFile(path)
			all.Write(data)
		}
		return nil
	})
	return all.String()
}

func bash(command string) mockllm.Step {
	return mockllm.Step{Tools: []mockllm.Tool{{Name: "bash", Command: command}}}
}

func TestClaudeHooks_runBesideTheUsersOwn_andNothingIsWritten(t *testing.T) {
	look := mockllm.Step{Tools: []mockllm.Tool{{Name: "Read", Input: map[string]any{}}}}
	sc := mockllm.Scenario{Runs: [][]mockllm.Step{
		{
			{Tools: []mockllm.Tool{{Name: "write", Path: "broken.json", Content: "{"}}},
			bash("cat .ralph/fix_plan.md | wc -l"), // ralph's hook allows it
			bash("git stash"),                      // and refuses this
			{Text: "I stop early." + mockllm.StatusBlock(false)},
		},
		{
			look,
			{Tools: []mockllm.Tool{{Name: "write", Path: ".ralph/fix_plan.md", Content: "# Plan\n\n- [x] task 1\n"}}},
			{Text: "Now it is done." + mockllm.StatusBlock(true)},
		},
	}}
	w := hooked(t, 1, sc)
	look.Tools[0].Input["file_path"] = filepath.Join(w.Dir, ".ralph/fix_plan.md")
	before := w.settings()
	w.finishedPlan(w.ralph("run").Wait(time.Minute))
	if w.settings() != before {
		t.Errorf("settings:\n%s", w.settings())
	}
	ran := strings.Fields(w.Read("../ran"))
	slices.Sort(ran)
	if got := strings.Join(slices.Compact(ran), " "); got != "post pre project-post project-pre project-stop stop" {
		t.Errorf("hooks of the user that ran: %s", got)
	}
	// The denial is answered: it is none that the user has to allow.
	if got := w.outcomes(); !slices.Equal(got, []string{"completed-turn"}) {
		t.Errorf("outcomes %q", got)
	}
	if p := w.mock.Prompts(scenario); len(p) != 2 || !strings.Contains(p[1], `Your task "task 1" is still open in .ralph/fix_plan.md`) {
		t.Errorf("prompts %q", p)
	}
	kept := w.transcripts()
	for _, want := range []string{"ralph looked at", "unexpected end of JSON input", "ralph refuses this: it can take away work", `"decision":"accept","source":"hook"`} {
		if !strings.Contains(kept+w.raw(), want) {
			t.Errorf("the agent was not told %q", want)
		}
	}
}

// In a sandbox, ralph itself is what the CLI starts for its hooks, and the CLI replaces the
// plan by a new file.
func TestClaudeHooks_inASandbox_answerAsOutside(t *testing.T) {
	for _, sandbox := range []string{"landlock", "bwrap"} {
		t.Run(sandbox, func(t *testing.T) {
			sc := mockllm.Scenario{Runs: [][]mockllm.Step{
				{
					{Tools: []mockllm.Tool{{Name: "write", Path: "broken.json", Content: "{"}}},
					bash("cat .ralph/fix_plan.md | wc -l"),
					bash("git stash"),
					{Text: "I stop early." + mockllm.StatusBlock(false)},
				},
				{
					{Tools: []mockllm.Tool{{Name: "Read", Input: map[string]any{}}}},
					{Tools: []mockllm.Tool{{Name: "write", Path: ".ralph/fix_plan.md", Content: "# Plan\n\n- [x] task 1\n"}}},
					{Text: "Now it is done." + mockllm.StatusBlock(true)},
				},
			}}
			w := hooked(t, 1, sc)
			for _, name := range []string{"../.claude/settings.json", ".claude/settings.json"} {
				w.Write(name, strings.ReplaceAll(w.Read(name), "$HOME/ran", "$CLAUDE_PROJECT_DIR/ran"))
			}
			sc.Runs[1][0].Tools[0].Input["file_path"] = filepath.Join(w.Dir, ".ralph/fix_plan.md")
			w.onlyMock(sandbox)
			w.Set("TMPDIR", t.TempDir()) // the home folder is in the usual one, of which Landlock then allows only what is there
			before := w.settings()
			w.finishedPlan(w.ralph("run", "--sandbox", sandbox).Wait(time.Minute))
			if w.settings() != before {
				t.Errorf("settings:\n%s", w.settings())
			}
			if p := w.mock.Prompts(scenario); len(p) != 2 || !strings.Contains(p[1], `Your task "task 1" is still open in .ralph/fix_plan.md`) {
				t.Errorf("prompts %q", p)
			}
			kept := w.transcripts()
			for _, want := range []string{"ralph looked at", "unexpected end of JSON input", "ralph refuses this: it can take away work", `"decision":"accept","source":"hook"`} {
				if !strings.Contains(kept+w.raw(), want) {
					t.Errorf("the agent was not told %q", want)
				}
			}
		})
	}
}

// finishedPlan checks the end of a run whose agent wrote other files than the usual.
func (w *project) finishedPlan(exit int) {
	w.Helper()
	if s := w.status(); exit != 0 || s.Status != "completed" {
		w.Errorf("exit %d, status %+v", exit, s)
	}
}

// raw is what the agent printed.
func (w *project) raw() string {
	var all strings.Builder
	files, _ := filepath.Glob(filepath.Join(w.Dir, ".ralph/logs/*/*.raw"))
	for _, f := range files {
		data, _ := os.ReadFile(f)
		all.Write(data)
	}
	return all.String()
}

func TestClaudeHooks_agentThatNeverFinishes_isLetGo(t *testing.T) {
	w := hooked(t, 1, mockllm.Scenario{Runs: [][]mockllm.Step{{{Text: "I stop." + mockllm.StatusBlock(false)}}}})
	w.ralph("once").Wait(time.Minute)
	if p := w.mock.Prompts(scenario); len(p) != 6 || !strings.Contains(p[5], "continue (5 of at most 5 times)") {
		t.Errorf("%d prompts, want that of ralph and five to continue: %q", len(p), p)
	}
	if s := w.status(); s.LoopCount != 1 {
		t.Errorf("status %+v", s)
	}
}

func TestClaudeHooks_killedRun_leavesTheSettingsAlone(t *testing.T) {
	sc := mockllm.Builtin()["long-tool"]
	sc.Runs = append(sc.Runs, []mockllm.Step{{Text: "Good day."}})
	w := hooked(t, 1, sc)
	w.Set("ALLOWED_TOOLS", "Bash,Write,Read,Edit")
	before := w.settings()
	p := w.ralph("run")
	w.Until("the agent's command runs", w.commandRuns)
	if err := p.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-p.Exited
	w.NoneLeft(5 * time.Second)
	if w.settings() != before {
		t.Errorf("settings:\n%s", w.settings())
	}
	if exit, r, out := w.direct(claude(), "--allowedTools", "Bash"); exit != 0 || strings.Contains(out, "ralph says") {
		t.Errorf("a later call of the user: exit %d, %+v", exit, r)
	}
}

func TestHooks_shellHooksAroundARealCLI(t *testing.T) {
	w := newProject(t, claude(), 2, mockllm.Plan(2))
	w.Write("hooks.sh", `printf '%s %s %s %s\n' "$RALPH_POINT" "$RALPH_ITERATION" "$TASK_NAME" "$RALPH_STORY_STATUS" >>"$HOME/points"
case $RALPH_POINT in post_task) echo '{"note": "mind the changelog"}';; on_error) exit 1;; esac
`)
	for _, point := range []string{"RUN_START", "PRE_TASK", "PRE_ITERATION", "POST_ITERATION", "POST_TASK", "ON_STORY_COMPLETE", "ON_COMPLETE"} {
		w.Env = append(w.Env, "HOOK_"+point+"=sh hooks.sh")
	}
	w.finished(w.ralph("run").Wait(time.Minute), 2)
	want := "run_start 0  \npre_task 1 task 1 open\npre_iteration 1 task 1 open\non_story_complete 1 task 1 done\npost_task 1 task 1 done\npost_iteration 1 task 1 done\n" +
		"pre_task 2 task 2 open\npre_iteration 2 task 2 open\non_story_complete 2 task 2 done\npost_task 2 task 2 done\npost_iteration 2 task 2 done\non_complete 2 task 2 done\n"
	if got := w.Read("../points"); got != want {
		t.Errorf("points:\n%s", got)
	}
	if p := w.mock.Prompts(scenario); len(p) != 2 || !strings.Contains(p[1], "mind the changelog") || strings.Contains(p[0], "mind the changelog") {
		t.Errorf("prompts %q", p)
	}
}
