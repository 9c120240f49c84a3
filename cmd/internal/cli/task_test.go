package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ralph/cmd/internal/cmdline"
	"ralph/internal/fakegh"
	"ralph/internal/world"
	"ralph/ptyexec"
	"ralph/runner/task/store"
	"ralph/state"
	"ralph/state/act"
)

func TestMain(m *testing.M) {
	ptyexec.Init()
	fakegh.Init()
	if dir := os.Getenv(initChild); dir != "" {
		f := cmdline.New()
		f.Dir = dir
		os.Exit(cmdline.ExitCode(initRun(&initOptions{Factory: f})))
	}
	os.Exit(m.Run())
}

// project runs the verbs in a project of its own.
type project struct {
	t   *testing.T
	dir string
	env []string
}

func newProject(t *testing.T, files map[string]string) *project {
	t.Helper()
	p := &project{t: t, dir: t.TempDir()}
	home := t.TempDir()
	p.env = []string{"HOME=" + home, "XDG_CONFIG_HOME=" + home, "PATH=/bin:/usr/bin"}
	t.Setenv("HOME", home)
	for name, text := range files {
		path := filepath.Join(p.dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// run runs ralph task with arguments.
func (p *project) run(input string, args ...string) (out string, code int) {
	p.t.Helper()
	in := filepath.Join(p.t.TempDir(), "in")
	if err := os.WriteFile(in, []byte(input), 0o600); err != nil {
		p.t.Fatal(err)
	}
	stdin, err := os.Open(in)
	if err != nil {
		p.t.Fatal(err)
	}
	defer stdin.Close()
	var both bytes.Buffer
	f := &cmdline.Factory{In: stdin, Out: &both, Err: &both, Env: p.env, Dir: p.dir}
	cmd := newTaskCmd(f)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetOut(&both)
	cmd.SetErr(&both)
	cmd.SetArgs(args)
	if err := cmd.Execute(); err != nil {
		return both.String() + err.Error(), cmdline.ExitCode(err)
	}
	return both.String(), 0
}

func (p *project) read(name string) string {
	p.t.Helper()
	data, err := os.ReadFile(filepath.Join(p.dir, name))
	if err != nil {
		p.t.Fatal(err)
	}
	return string(data)
}

const taskmaster = `{"tasks": [
  {"id": 1, "title": "Set up", "status": "done", "priority": "high"},
  {"id": 2, "title": "Log in", "status": "pending", "priority": "low", "dependencies": [1], "category": "auth", "tags": ["web"]},
  {"id": 3, "title": "Log out", "status": "pending", "dependencies": [2]}
]}
`

func TestTask_verbsChangeThePlanInItsOwnWords(t *testing.T) {
	const file = ".taskmaster/tasks/tasks.json"
	for _, c := range []struct {
		args, says string
		code       int
		old, new   string // of the file; empty: nothing changes
	}{
		{args: "done 2", says: "Log in: open -> done", old: `"Log in", "status": "pending"`, new: `"Log in", "status": "done"`},
		{args: "reopen 1", says: "Set up: done -> open", old: `"Set up", "status": "done"`, new: `"Set up", "status": "pending"`},
		{args: "block 2", says: "open -> blocked", old: `"Log in", "status": "pending"`, new: `"Log in", "status": "blocked"`},
		{args: "block 2 --reason design", says: "open -> blocked: design", old: `"Log in", "status": "pending"`, new: `"Log in", "status": "blocked"`},
		{args: "drop 3", says: "open -> dropped", old: `"Log out", "status": "pending"`, new: `"Log out", "status": "cancelled"`},
		{args: "done Set", says: "Set up: done -> done"},
		{args: "edit 3 Leave", says: "now: Leave", old: `"Log out"`, new: `"Leave"`},
		{args: "done log", says: `"log" can mean 2, 3; write the whole id`, code: state.ExitUsage},
		{args: "done 2 9", says: `the plan has no task "9"; see: ralph task list`, code: state.ExitUsage},
		{args: "done", says: "done takes the ids of tasks", code: state.ExitUsage},
		{args: "move 3", says: "move needs one of --before ID, --after ID, --first, --last", code: state.ExitUsage},
		{args: "move 3 --first --last", says: "move needs one of", code: state.ExitUsage},
		{args: "edit 3 <!---->", says: "the title is empty", code: state.ExitError},
		{args: "edit 3", says: "there is no terminal for an editor; give the text as an argument; the plan was not changed", code: state.ExitUsage},
		{args: "add", says: "no terminal for an editor", code: state.ExitUsage},
		{args: "list", says: "✓ 1  Set up\n○ 2  Log in\n○ 3  Log out  (waits for 2)\n1 of 3 tasks done, next: Log in\n"},
		{args: "next", says: "○ 2  Log in\n"},
		{args: "show 2", says: "depends on  1\n"},
		{args: "drop 2", says: "tasks that depend on 2 cannot start now: 3", old: `"Log in", "status": "pending"`, new: `"Log in", "status": "cancelled"`},
	} {
		t.Run(c.args, func(t *testing.T) {
			p := newProject(t, map[string]string{file: taskmaster})
			out, code := p.run("", strings.Fields(c.args)...)
			if code != c.code || !strings.Contains(out, c.says) {
				t.Errorf("exit %d: %q, want %d: %q", code, out, c.code, c.says)
			}
			if want := strings.Replace(taskmaster, c.old, c.new, 1); p.read(file) != want || c.old != "" && want == taskmaster {
				t.Errorf("%s", p.read(file))
			}
		})
	}
}

func TestTask_list_saysWhatARunWould(t *testing.T) {
	for text, want := range map[string]string{
		"- [ ] 1. a\n- [?] 2. b\n":                   `line 2: unknown mark "[?]"`,
		"- [ ] 1. a\n  - _Depends: 9_\n- [ ] 2. b\n": `depends on "9", which the plan does not have`,
	} {
		p := newProject(t, map[string]string{".kiro/specs/x/tasks.md": text})
		if out, code := p.run("", "list"); code != 0 || !strings.Contains(out, want) {
			t.Errorf("exit %d: %s, want %s", code, out, want)
		}
	}
}

func TestTask_reasonForBlocking_isShown(t *testing.T) {
	p := newProject(t, map[string]string{".taskmaster/tasks/tasks.json": taskmaster})
	p.run("", "block", "2", "--reason", "waits for\nthe design")
	for _, args := range [][]string{{"show", "2"}, {"list"}} {
		if out, _ := p.run("", args...); !strings.Contains(out, "waits for the design") {
			t.Errorf("%q: %s", args, out)
		}
	}
	p.run("", "reopen", "2")
	p.run("", "block", "2")
	if out, _ := p.run("", "show", "2", "--json"); strings.Contains(out, "the design") {
		t.Errorf("the reason is an old one: %s", out)
	}
}

func TestTask_wordThatTheFormatLacks_isRefused(t *testing.T) {
	p := newProject(t, map[string]string{"fix_plan.md": "- [ ] a\n"})
	out, code := p.run("", "block", "a")
	if code != state.ExitUsage || !strings.Contains(out, "checkbox plans cannot mark a task as blocked; the plan was not changed") {
		t.Errorf("exit %d: %s", code, out)
	}
	p = newProject(t, map[string]string{"backlog/tasks/task-1 - a.md": "---\nid: task-1\ntitle: a\nstatus: To Do\n---\n"})
	for _, args := range [][]string{{"add", "b"}, {"move", "task-1", "--first"}, {"skip", "task-1"}} {
		if out, code := p.run("", args...); code != state.ExitUsage || !strings.Contains(out, "the plan was not changed") {
			t.Errorf("%q: exit %d: %s", args, code, out)
		}
	}
	p = newProject(t, nil)
	if out, code := p.run("", "list"); code != state.ExitUsage || !strings.Contains(out, "there is no plan") {
		t.Errorf("exit %d: %s", code, out)
	}
}

func TestTask_linesOfStandardInput_becomeTasks(t *testing.T) {
	p := newProject(t, map[string]string{"fix_plan.md": "- [ ] a\n\n## Optional\n- [ ] later\n"})
	if out, code := p.run("one\n\n  two  words\n", "add", "-"); code != 0 || strings.Count(out, "added") != 2 {
		t.Errorf("exit %d: %s", code, out)
	}
	if got, want := p.read("fix_plan.md"), "- [ ] a\n- [ ] one\n- [ ] two words\n\n## Optional\n- [ ] later\n"; got != want {
		t.Errorf("%q", got)
	}
	if out, code := p.run(" \n", "add", "-"); code != state.ExitUsage || !strings.Contains(out, "the new task needs a text") {
		t.Errorf("exit %d: %s", code, out)
	}
}

func TestTask_json_hasTheAgreedFields(t *testing.T) {
	p := newProject(t, map[string]string{".taskmaster/tasks/tasks.json": taskmaster})
	out, _ := p.run("", "list", "--json")
	var all []map[string]any
	if err := json.Unmarshal([]byte(out), &all); err != nil || len(all) != 3 {
		t.Fatalf("%s: %v", out, err)
	}
	for _, key := range []string{"id", "title", "state", "optional", "depends_on", "category", "priority", "agent", "model", "attempts"} {
		if _, has := all[1][key]; !has {
			t.Errorf("%s is missing in %v", key, all[1])
		}
	}
	if all[0]["depends_on"] == nil || all[1]["state"] != "open" || all[2]["priority"] != nil {
		t.Errorf("%s", out)
	}
	for i := range 3 {
		p.run("", "done", all[i]["id"].(string))
	}
	if out, _ := p.run("", "next", "--json"); out != "null\n" {
		t.Errorf("%q", out)
	}
}

func TestTask_changeDuringARun_isRecordedAsAPersons(t *testing.T) {
	p := newProject(t, map[string]string{"fix_plan.md": "- [ ] T1: a\n- [ ] T2: b\n", ".ralph/status.json": "{}"})
	path := (&cmdline.Factory{Env: p.env}).Loader(p.dir, nil).PlanEditsPath()
	if rel, err := filepath.Rel(p.dir, path); err != nil || filepath.IsLocal(rel) {
		t.Fatalf("%q is in the project, where an agent writes", path)
	}
	start := time.Now()
	p.run("", "done", "T1")
	p.run("", "add", "c")
	edits := store.RecordedEdits(path, start)
	if len(edits) != 2 || edits[0].Before.Done != 0 || edits[0].After.Done != 1 || edits[1].Before.Total != 0 || edits[1].After.Total != 1 {
		t.Errorf("%+v", edits)
	}
	if later := store.RecordedEdits(path, time.Now()); later != nil {
		t.Errorf("%+v", later)
	}
	p.env = append(p.env, state.InsideVar+"=r1")
	if p.run("", "done", "T2"); len(store.RecordedEdits(path, start)) != 2 {
		t.Error("what an agent does is not a person's")
	}
	if info, err := os.Stat(path); errors.Is(err, os.ErrNotExist) || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
}

func TestImport_writesAPlanOnce(t *testing.T) {
	p := newProject(t, map[string]string{"docs/prd.md": "# P\n\nWords.\n\n## Tasks\n\n- one\n- two\n", ".ralph/PROMPT.md": "Work.\n"})
	run := func(args ...string) (string, int) {
		var both bytes.Buffer
		f := &cmdline.Factory{In: os.Stdin, Out: &both, Err: &both, Env: p.env, Dir: p.dir}
		cmd := newImportCmd(f)
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		cmd.SetArgs(args)
		if err := cmd.ExecuteContext(t.Context()); err != nil {
			return both.String() + err.Error(), cmdline.ExitCode(err)
		}
		return both.String(), 0
	}
	file := filepath.Join(p.dir, "docs/prd.md")
	if err := os.Symlink(t.TempDir(), filepath.Join(p.dir, "link")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"--list-templates"}, 0, "automation"},
		{[]string{}, state.ExitUsage, "import needs a file, gh:, or --template NAME"},
		{[]string{file, "--template", "api"}, state.ExitUsage, "import needs a file"},
		{[]string{filepath.Join(p.dir, "none.md")}, state.ExitUsage, "no such file"},
		{[]string{file, "--label", "x"}, state.ExitUsage, "are for gh:"},
		{[]string{"gh:"}, state.ExitUsage, "the gh CLI is needed, which is not installed; see: https://cli.github.com; nothing was written"},
		{[]string{file}, 0, "not taken: line 3: it is text outside a task: Words.\n"},
		{[]string{file, "--out", "docs/plan.md"}, 0, "next: PLAN_FILE=docs/plan.md ralph task list, then"},
		{[]string{file, "--out", "c.md"}, 0, "wrote c.md: 2 tasks\nnext: PLAN_FILE=c.md ralph task list, then ralph doctor --plan c.md\n"},
		{[]string{file, "--out", "d e.md"}, 0, "next: PLAN_FILE='d e.md' ralph task list, then ralph doctor --plan 'd e.md'\n"},
		{[]string{file}, state.ExitUsage, ".ralph/fix_plan.md exists, and import never overwrites a file"},
		{[]string{"nosuch.md"}, state.ExitUsage, "nosuch.md: no such file"},
		{[]string{"--template", "saas", "--out", "saas.md"}, 0, "wrote saas.md: 7 tasks"},
		{[]string{file, "--out", "plans/new/a.md"}, 0, "wrote plans/new/a.md: 2 tasks"},
		{[]string{file, "--out", filepath.Join(t.TempDir(), "new/a.md")}, state.ExitUsage, "makes folders only inside the project"},
		{[]string{file, "--out", "../../not-there-before/a.md"}, state.ExitUsage, "makes folders only inside the project"},
		{[]string{file, "--out", "link/new/a.md"}, state.ExitUsage, "link"},
		{[]string{"--template", "nope", "--out", "x.md"}, state.ExitUsage, `unknown template "nope"`},
	} {
		if strings.HasPrefix(strings.Join(c.args, ""), "gh:") {
			t.Setenv("PATH", t.TempDir())
		}
		if out, code := run(c.args...); code != c.code || !strings.Contains(out, c.says) {
			t.Errorf("%q: exit %d: %s, want %d: %s", c.args, code, out, c.code, c.says)
		}
	}
	if got := p.read(".ralph/fix_plan.md"); !strings.HasSuffix(got, "\n\n- [ ] one\n- [ ] two\n") {
		t.Errorf("%q", got)
	}
}

func TestList_taskWhoseAgentHasAsked_waitsForTheAnswer(t *testing.T) {
	p := newProject(t, map[string]string{".taskmaster/tasks/tasks.json": taskmaster,
		".ralph/questions/q1.json": `{"v": 1, "id": "q1", "task": "2", "text": "Which\ndatabase?", "answered_at": "2026-11-20T12:00:00Z", "answer": "x"}`,
		".ralph/questions/q2.json": `{"v": 1, "id": "q2", "task": "2", "text": "Which\nport?"}`,
		".ralph/questions/q3.json": `{"v": 1, "id": "q3", "task": "1", "text": "done meanwhile"}`})
	const why = "waits for your answer to q2: Which port?"
	if out, _ := p.run("", "list"); !strings.Contains(out, "○ 2  Log in  ("+why+")\n") || strings.Contains(out, "q3") {
		t.Error(out)
	}
	if out, _ := p.run("", "show", "2"); !strings.Contains(out, "why         waits for your answer to q2: Which port?") {
		t.Error(out)
	}
	var rows []act.Task
	if out, _ := p.run("", "list", "--json"); json.Unmarshal([]byte(out), &rows) != nil || len(rows) != 3 || rows[1].Why != why {
		t.Error(out)
	}
}

func TestAdd_boxesAndMarkers_areNoPartOfTheTitle(t *testing.T) {
	p := newProject(t, map[string]string{"fix_plan.md": "- [ ] one\n"})
	for in, want := range map[string]string{
		"- [ ] two": "two", "[ ] three": "three", "2. [ ] four": "four", "* five": "five", "[#6] six": "[#6] six", "seven": "seven",
		"e\x1b]0;sc\a\u009bape": "e]0;scape", "a \U0001F469\u200D\U0001F4BB emoji": "a \U0001F469\U0001F4BB emoji",
		"[a](b) eight": "[a](b) eight", "nine <!-- ralph: agent=codex -->": "nine",
	} {
		if out, code := p.run("", "add", "--", in); code != 0 || !strings.HasSuffix(out, ": "+want+"\n") {
			t.Errorf("%q: exit %d: %s", in, code, out)
		}
	}
	if plan := p.read("fix_plan.md"); strings.ContainsAny(plan, "\x1b\a\u009b") || !strings.Contains(plan, "- [ ] a \U0001F469\u200D\U0001F4BB emoji\n") {
		t.Errorf("%q", plan)
	}
	if out, code := p.run("", "edit", "seven", "--", "- [ ] 7"); code != 0 || out != "now: 7\n" {
		t.Errorf("exit %d: %s", code, out)
	}
	before := p.read("fix_plan.md")
	for in, want := range map[string]string{
		"new\n- [x] done": "has the box of another task state", "[?] what": "has the box", "<!-- x -->": "needs a text", "- [ ] ": "needs a text",
	} {
		if out, code := p.run(in, "add", "-"); code != state.ExitUsage || !strings.Contains(out, want) || p.read("fix_plan.md") != before {
			t.Errorf("%q: exit %d: %s", in, code, out)
		}
	}
}

func TestAdd_json_hasTheNewID(t *testing.T) {
	p := newProject(t, map[string]string{".taskmaster/tasks/tasks.json": taskmaster})
	var one act.Task
	if out, _ := p.run("", "add", "New", "--json"); json.Unmarshal([]byte(out), &one) != nil || one.ID != "4" || one.Title != "New" {
		t.Error(out)
	}
	var all []act.Task
	if out, _ := p.run("a\n\nb\n", "add", "-", "--json"); json.Unmarshal([]byte(out), &all) != nil || len(all) != 2 || all[1].ID != "6" {
		t.Error(out)
	}
}

func TestEdit_titleWithTheIDOfAnother_isRefused(t *testing.T) {
	const speckit = "- [ ] T001 one\n- [ ] T009 nine\n"
	for text, edits := range map[string][][]string{
		speckit:                          {{"edit", "T009", "T001 dup"}},
		"- [ ] T1: one\n- [ ] two\n":     {{"edit", "two", "T1: dup"}, {"add", "T1: again"}},
		"- [ ] T1: one\n- [ ] T2: two\n": {{"edit", "T2", "T1: dup"}},
	} {
		name := "fix_plan.md"
		if text == speckit {
			name = ".specify/specs/001-x/tasks.md"
		}
		p := newProject(t, map[string]string{name: text, ".specify/feature.json": `{"feature_directory": ".specify/specs/001-x"}`})
		for _, args := range edits {
			out, code := p.run("", args...)
			if code != state.ExitUsage || !strings.Contains(out, "another task has the id \"T") || p.read(name) != text {
				t.Errorf("%q: exit %d: %s\n%s", args, code, out, p.read(name))
			}
		}
	}
}

func TestTaskList_planWithoutIDs_showsNumbersThatNameTasks(t *testing.T) {
	p := newProject(t, map[string]string{"fix_plan.md": "- [ ] Set up\n- [ ] Log in\n"})
	if out, code := p.run("", "list"); code != 0 || !strings.HasPrefix(out, "1 ○ ") || !strings.Contains(out, "\n2 ○ ") {
		t.Errorf("%d\n%s", code, out)
	}
	if out, code := p.run("", "done", "2"); code != 0 || !strings.Contains(out, "Log in: open -> done") {
		t.Errorf("%d\n%s", code, out)
	}
}

func TestTaskEdit_textThatCannotBeUsed_isKeptInAFile(t *testing.T) {
	p := newProject(t, map[string]string{"fix_plan.md": "- [ ] Set up\n- [ ] Log in\n", "editor": "#!/bin/sh\necho 'an hour of work' >\"$1\"\n"})
	editor := filepath.Join(p.dir, "editor")
	if err := os.Chmod(editor, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("VISUAL", editor)
	t.Setenv("TMPDIR", t.TempDir())
	err := taskEditRun(&cmdline.Factory{In: world.Typed(t, ""), Out: io.Discard, Err: io.Discard, Env: p.env, Dir: p.dir}, "Set", nil)
	if err == nil {
		t.Fatal("the text of a task without a box was taken")
	}
	_, after, _ := strings.Cut(err.Error(), "your text is kept in ")
	file, _, _ := strings.Cut(after, ";")
	if text, _ := os.ReadFile(file); string(text) != "an hour of work\n" {
		t.Errorf("%v: %q", err, text)
	}
}
