package demo

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// record is what the tests look at in a line of the agent's output.
type record struct {
	Type      string  `json:"type"`
	Subtype   string  `json:"subtype"`
	IsError   bool    `json:"is_error"`
	Result    string  `json:"result"`
	SessionID string  `json:"session_id"`
	Cost      float64 `json:"total_cost_usd"`
	Usage     struct {
		Input     int `json:"input_tokens"`
		Output    int `json:"output_tokens"`
		CacheRead int `json:"cache_read_input_tokens"`
	} `json:"usage"`
	Message struct {
		ID      string `json:"id"`
		Content []struct {
			Type    string `json:"type"`
			ID      string `json:"id"`
			Name    string `json:"name"`
			Content string `json:"content"`
			IsError bool   `json:"is_error"`
			CallID  string `json:"tool_use_id"`
		} `json:"content"`
	} `json:"message"`
}

type turnResult struct {
	records []record
	final   record
	paused  time.Duration
}

// playTurn plays one turn in dir without its pauses.
func playTurn(t *testing.T, dir, prompt string) turnResult {
	t.Helper()
	var out bytes.Buffer
	var r turnResult
	a := &agent{dir: dir, out: &out, pause: func(d time.Duration) { r.paused += d }}
	if err := a.run(strings.NewReader(prompt)); err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(out.Bytes()) {
		var rec record
		if err := json.Unmarshal(line, &rec); err != nil {
			t.Fatalf("line is not JSON: %v: %s", err, line)
		}
		r.records = append(r.records, rec)
	}
	r.final = r.records[len(r.records)-1]
	return r
}

func newProject(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "todo")
	if err := Create(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

// check is ralph's own check of the project, its TEST_COMMAND.
func check(t *testing.T, dir string) (output string, green bool) {
	t.Helper()
	cmd := exec.Command("sh", "tests/run.sh")
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	return string(out), err == nil
}

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	out, err := command(t.Context(), dir, "git", args...).CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func read(t *testing.T, dir, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestAgent_wholeScriptWithRalphsAnswers_worksThePlanOff(t *testing.T) {
	dir := newProject(t)
	prompt := read(t, dir, ".ralph/PROMPT.md")
	if out, green := check(t, dir); !green {
		t.Fatalf("the fresh project is red:\n%s", out)
	}
	turns := []struct {
		green, exit bool
		open        int // tasks under "## Tasks"
		commits     int
	}{
		{true, false, 3, 2},
		{false, false, 2, 3}, // the bug, claimed to be tested
		{true, false, 2, 4},  // repaired
		{true, true, 2, 5},   // claims to be finished
		{true, true, 0, 7},   // two tasks at once: ralph opens the second again
		{true, true, 0, 7},
	}
	feedback := ""
	var paused time.Duration
	sessions := map[string]bool{}
	for i, want := range turns {
		r := playTurn(t, dir, prompt+feedback)
		out, green := check(t, dir)
		if green != want.green {
			t.Errorf("turn %d: check green = %t, want %t:\n%s", i+1, green, want.green, out)
		}
		feedback = ""
		if !green {
			feedback = "\nYour last turn failed this check:\n> " + out
		}
		if got := strings.Contains(r.final.Result, "EXIT_SIGNAL: true"); got != want.exit {
			t.Errorf("turn %d: exit signal %t, want %t", i+1, got, want.exit)
		}
		if got := openTasks(read(t, dir, plan)); got != want.open {
			t.Errorf("turn %d: %d open tasks, want %d", i+1, got, want.open)
		}
		if got := len(strings.Split(git(t, dir, "log", "--format=%H"), "\n")); got != want.commits {
			t.Errorf("turn %d: %d commits, want %d", i+1, got, want.commits)
		}
		if got := git(t, dir, "status", "--porcelain"); got != "" {
			t.Errorf("turn %d left the tree dirty: %s", i+1, got)
		}
		if i == 4 {
			openAgain(t, dir, "todo count")
		}
		paused += r.paused
		sessions[r.final.SessionID] = true
	}
	if !strings.Contains(read(t, dir, plan), "- [ ] `todo list --color`") {
		t.Error("the optional task is not open any more")
	}
	if paused > 12*time.Second || paused < 3*time.Second {
		t.Errorf("the script pauses for %v: too long to wait for or too short to watch", paused)
	}
	if len(sessions) != len(turns) {
		t.Errorf("%d sessions in %d turns", len(sessions), len(turns))
	}
}

// openAgain takes a tick back, as ralph does.
func openAgain(t *testing.T, dir, task string) {
	t.Helper()
	unticked := strings.Replace(read(t, dir, plan), "- [x] `"+task, "- [ ] `"+task, 1)
	if err := os.WriteFile(filepath.Join(dir, plan), []byte(unticked), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestAgent_bugWithoutTheFailureInThePrompt_repairsNothing(t *testing.T) {
	dir := newProject(t)
	prompt := read(t, dir, ".ralph/PROMPT.md")
	playTurn(t, dir, prompt)
	playTurn(t, dir, prompt)
	head := git(t, dir, "rev-parse", "HEAD")
	r := playTurn(t, dir, prompt)
	if _, green := check(t, dir); green || git(t, dir, "rev-parse", "HEAD") != head {
		t.Error("the agent repaired a failure that nobody told it")
	}
	if strings.Contains(r.final.Result, "EXIT_SIGNAL: true") {
		t.Error("the agent claims to be finished")
	}
}

func TestAgent_boxUntickedAfterTheFailure_ticksItAgain(t *testing.T) {
	dir := newProject(t)
	prompt := read(t, dir, ".ralph/PROMPT.md")
	playTurn(t, dir, prompt)
	playTurn(t, dir, prompt)
	openAgain(t, dir, "todo list")
	out, _ := check(t, dir)
	playTurn(t, dir, prompt+out)
	if !strings.Contains(read(t, dir, plan), "- [x] `todo list --open`") {
		t.Error("the box is still open")
	}
}

func TestAgent_finishedProject_changesNothing(t *testing.T) {
	dir := newProject(t)
	for range 6 {
		out, _ := check(t, dir)
		playTurn(t, dir, "go on\n"+out)
	}
	head := git(t, dir, "rev-parse", "HEAD")
	if r := playTurn(t, dir, "go on"); !strings.Contains(r.final.Result, "EXIT_SIGNAL: true") || git(t, dir, "rev-parse", "HEAD") != head {
		t.Errorf("a turn with nothing to do: %s", r.final.Result)
	}
}

func TestAgent_records_haveTheShapeOfTheRealCLI(t *testing.T) {
	r := playTurn(t, newProject(t), "go on")
	first := r.records[0]
	if first.Type != "system" || first.Subtype != "init" || r.final.Type != "result" || r.final.Subtype != "success" {
		t.Errorf("first record %s/%s, last %s/%s", first.Type, first.Subtype, r.final.Type, r.final.Subtype)
	}
	if r.final.IsError || r.final.Cost <= 0 || r.final.Usage.Input == 0 || r.final.Usage.Output == 0 || r.final.Usage.CacheRead == 0 {
		t.Errorf("result record without usage or cost: %+v", r.final)
	}
	calls := map[string]bool{}
	red, trap := 0, false
	for _, rec := range r.records {
		for _, block := range rec.Message.Content {
			switch {
			case block.Type == "tool_use":
				calls[block.ID] = true
			case block.Type == "tool_result" && !calls[block.CallID]:
				t.Errorf("result of the unknown call %q", block.CallID)
			case block.Type == "tool_result":
				delete(calls, block.CallID)
				trap = trap || strings.Contains(block.Content, "usage limit reached")
				if block.IsError {
					red++
					if !strings.Contains(block.Content, "not ok - done") {
						t.Errorf("a tool call failed: %s", block.Content)
					}
				}
			}
		}
	}
	if len(calls) != 0 || red != 1 || !trap {
		t.Errorf("%d calls without result, %d red test runs (want 1), limit words in a tool result: %t", len(calls), red, trap)
	}
}

func TestAgent_emptyPrompt_failsOnStderr(t *testing.T) {
	var out, errs bytes.Buffer
	if code := Agent([]string{"-p", "--verbose"}, strings.NewReader(" \n"), &out, &errs); code != 1 || out.Len() != 0 || errs.Len() == 0 {
		t.Errorf("exit %d, stdout %q, stderr %q", code, &out, &errs)
	}
}

func TestAgent_version_printsOneLine(t *testing.T) {
	var out bytes.Buffer
	if code := Agent([]string{"--version"}, nil, &out, nil); code != 0 || !strings.Contains(out.String(), "demo agent") {
		t.Errorf("exit %d, stdout %q", code, &out)
	}
}

func TestCreate_brokenGitConfiguration_isNotRead(t *testing.T) {
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, ".gitconfig"), []byte("[commit]\n\tgpgsign = true\n[user\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", home)
	t.Setenv("GIT_DIR", filepath.Join(home, "elsewhere"))
	dir := newProject(t)
	if got := git(t, dir, "log", "--format=%an %s"); got != "Ralph Demo A list of things to do" {
		t.Errorf("log: %q", got)
	}
	if got := git(t, dir, "ls-files"); !strings.Contains(got, ".ralph/fix_plan.md") || !strings.Contains(got, ".ralphrc") {
		t.Errorf("not everything was committed:\n%s", got)
	}
}

// openTasks counts the boxes under Tasks; those in other sections are optional.
func openTasks(plan string) int {
	_, tasks, _ := strings.Cut(plan, "## Tasks\n")
	tasks, _, _ = strings.Cut(tasks, "\n## ")
	return strings.Count(tasks, "- [ ]")
}
