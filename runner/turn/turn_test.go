package turn

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"ralph/ptyexec"
	"ralph/runner/agent"
	"ralph/runner/agent/argv"
	"ralph/runner/audit"
	"ralph/runner/gate"
	"ralph/runner/prompt"
	"ralph/runner/task"
	"ralph/state"
)

// This binary is also the agent, and `ralph turn`.
const (
	scriptVar = "RALPH_TEST_SCRIPT" // the scripted agent: a file of steps
	serveVar  = "RALPH_TEST_SERVE"  // serve one assignment
)

func TestMain(m *testing.M) {
	ptyexec.Init()
	if script := os.Getenv(scriptVar); script != "" && os.Getenv(serveVar) == "" {
		os.Exit(playScript(script))
	}
	if os.Getenv(serveVar) != "" {
		_ = os.Unsetenv(serveVar) // not for the agent
		w := &Worker{}
		defer w.Close()
		if err := w.Serve(context.Background(), os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// step is one thing that the scripted agent does.
type step struct {
	Do   string `json:"do"` // say, tool, write, tick, deny, fail, crash, hang
	Text string `json:"text,omitempty"`
}

func playScript(path string) int {
	var steps []step
	data, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(data, &steps)
	}
	if err != nil {
		panic(err)
	}
	show := func(record map[string]any) {
		line, err := json.Marshal(record)
		if err != nil {
			panic(err)
		}
		fmt.Printf("%s\n", line)
	}
	result := map[string]any{"type": "result", "subtype": "success", "is_error": false, "session_id": "s-1", "total_cost_usd": 0.25,
		"usage": map[string]any{"input_tokens": 100, "output_tokens": 20}, "result": "ok"}
	show(map[string]any{"type": "system", "subtype": "init", "session_id": "s-1", "model": "scripted"})
	for n, s := range steps {
		content := map[string]any{"type": "text", "text": s.Text}
		switch s.Do {
		case "tool":
			content = map[string]any{"type": "tool_use", "id": fmt.Sprint("t", n), "name": "Bash", "input": map[string]any{"command": s.Text}}
		case "write":
			put(s.Text, fmt.Sprintf("step %d", n))
			continue
		case "tick":
			plan, _ := os.ReadFile("plan.md")
			put("plan.md", strings.Replace(string(plan), "- [ ] "+s.Text, "- [x] "+s.Text, 1))
			continue
		case "deny":
			result["permission_denials"] = []any{map[string]any{"tool_name": "Bash", "tool_use_id": "t0", "tool_input": map[string]any{"command": s.Text}}}
			continue
		case "final":
			result["result"] = s.Text
			continue
		case "fail":
			result["is_error"], result["result"], result["api_error_status"] = true, "API Error: 529 Overloaded.", 529
			continue
		case "crash":
			return 3
		case "hang":
			put("started", "")
			time.Sleep(time.Minute) // sleep: the agent hangs
			return 0
		}
		show(map[string]any{"type": "assistant", "message": map[string]any{"role": "assistant", "content": []any{content}}})
	}
	show(result)
	return 0
}

func put(path, text string) {
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		panic(err)
	}
}

const planText = "# Plan\n\n- [ ] one\n- [ ] two\n"

// project is a git repository with a plan, and the assignment for its first task.
func project(t testing.TB, steps []step) Assignment {
	dir := t.TempDir()
	put(filepath.Join(dir, "plan.md"), planText)
	put(filepath.Join(dir, "code.go"), "package code\n")
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"-c", "user.name=t", "-c", "user.email=t@example.com", "commit", "-qm", "start"}} {
		if out, err := exec.Command("git", append([]string{"-C", dir}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	script := filepath.Join(t.TempDir(), "script.json")
	data, err := json.Marshal(steps)
	if err != nil {
		t.Fatal(err)
	}
	put(script, string(data))
	spec, err := agent.Find("claude")
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	spec.Env.Set = append(spec.Env.Set, scriptVar+"="+script, "GORACE=atexit_sleep_ms=0")
	plan := PlanFile{Path: filepath.Join(dir, "plan.md"), Name: "plan.md"}
	first := ReadPlan(plan).List.Tasks[0]
	return Assignment{
		V: Version, Origin: state.Origin{Run: "run-1", Iteration: 1, Task: first.ID, Role: "developer", Attempt: 1},
		Dir: dir, LogDir: filepath.Join(t.TempDir(), "logs"), Task: first, Plan: plan,
		Prompt: prompt.Input{Template: "Do it.", Iteration: 1, Total: 2, Remaining: 2, PlanPath: "plan.md"},
		Agent:  Agent{Spec: spec, Program: []string{self}, AllowedTools: []string{"Read"}, PermissionMode: argv.PermitAllowedTools},
		Bounds: Bounds{Timeout: time.Minute},
		Checks: Checks{Rows: []gate.Check{{Name: "test", Command: "test ! -f broken"}}, Mode: gate.ModeGate, FailFast: true},
		Audit:  Audit{Answer: AnswerRevert},
	}
}

// seen is what a turn told and what came of it, without what differs between
// two runs: times, folders, object ids.
type seen struct {
	Events []state.Payload
	Result Result
}

func compare(t *testing.T, a, b seen, dirs [2]string) string {
	t.Helper()
	normal := func(s seen, dir string) any {
		data, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		var v any
		text := strings.ReplaceAll(string(data), dir, "DIR")
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			t.Fatal(err)
		}
		return v
	}
	varies := func(key string) bool {
		switch key {
		case "started", "duration_ns", "seconds", "taken_at", "Duration", "tests":
			return true
		}
		return false
	}
	ignore := cmpopts.IgnoreMapEntries(func(key string, _ any) bool { return varies(key) })
	return cmp.Diff(normal(a, dirs[0]), normal(b, dirs[1]), ignore)
}

func here(t *testing.T, a Assignment) seen {
	t.Helper()
	var s seen
	var err error
	s.Result, err = Run(t.Context(), a, func(e state.Event) { s.Events = append(s.Events, e.Data) })
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// server is another process that serves one assignment.
type server struct {
	in  io.WriteCloser
	out *bufio.Reader
	cmd *exec.Cmd
}

func serve(t *testing.T, a Assignment) *server {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), serveVar+"=1")
	cmd.Stderr = os.Stderr
	in, err1 := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	if err := errors.Join(err1, err2, cmd.Start()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = in.Close(); _ = cmd.Wait() })
	if err := json.NewEncoder(in).Encode(a); err != nil {
		t.Fatal(err)
	}
	return &server{in: in, out: bufio.NewReader(out), cmd: cmd}
}

// read reads to the last line.
func (s *server) read(t *testing.T) seen {
	t.Helper()
	var all seen
	for {
		line, err := s.out.ReadBytes('\n')
		if err != nil {
			t.Fatalf("the server ended without a result: %v", err)
		}
		var last answer
		if json.Unmarshal(line, &last) == nil && last.Result != nil {
			all.Result = *last.Result
			return all
		}
		var e state.Event
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatal(err)
		}
		all.Events = append(all.Events, e.Data)
	}
}

// The same scripted agent leaves the same events and the same Result, whether
// the turn runs in this process or in another one.
func TestServe_anyScript_equalsARunInThisProcess(t *testing.T) {
	steps := rapid.SliceOfN(rapid.SampledFrom([]step{
		{"say", "working on it"}, {"say", "token ghp_abcdefghijklmnopqrstuvwxyz0123456789"}, {"tool", "make"},
		{"write", "code.go"}, {"write", "new.go"}, {"write", "broken"}, {"tick", "one"}, {"tick", "two"},
		{"deny", "rm -rf /"}, {"fail", ""}, {"crash", ""},
		{"final", "done\n---RALPH_STATUS---\nSTATUS: COMPLETE\nEXIT_SIGNAL: true\n---END_RALPH_STATUS---\n"},
	}), 0, 6)
	runs := 24
	if testing.Short() {
		runs = 6
	}
	for seed := range runs {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			script := steps.Example(seed)
			first, second := project(t, script), project(t, script)
			a, b := here(t, first), serve(t, second).read(t)
			if len(a.Events) == 0 {
				t.Error("no events")
			}
			if diff := compare(t, a, b, [2]string{first.Dir, second.Dir}); diff != "" {
				t.Errorf("script %v: in this process (-) and in another one (+):\n%s", script, diff)
			}
		})
	}
}

func TestServe_inputEnds_theAgentEnds(t *testing.T) {
	for name, last := range map[string]string{"closed": "", "abort": `{"do":"abort"}`, "skip": `{"do":"skip"}`} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := project(t, []step{{"write", "new.go"}, {"hang", ""}})
			s := serve(t, a)
			waitFor(t, filepath.Join(a.Dir, "started"))
			if last == "" {
				if err := s.in.Close(); err != nil {
					t.Fatal(err)
				}
			} else if _, err := io.WriteString(s.in, last+"\n"); err != nil {
				t.Fatal(err)
			}
			res := s.read(t).Result
			want := state.RequestAbort
			if name == "skip" {
				want = state.RequestSkip
			}
			if res.Cut != want || res.Work.Change.Count == 0 {
				t.Errorf("cut by %q, %d files changed", res.Cut, res.Work.Change.Count)
			}
		})
	}
}

func waitFor(t *testing.T, path string) {
	t.Helper()
	for range 3000 {
		if _, err := os.Stat(path); err == nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("%s never came", path)
}

func TestServe_badAssignment_isRefusedInOneLine(t *testing.T) {
	for input, want := range map[string]string{
		``:                                  "read assignment: EOF",
		`{"v":`:                             "read assignment: unexpected EOF",
		`{"v":7,"dir":"/tmp"}`:              "assignment has version 7; this ralph speaks version 1",
		`{"v":1}`:                           "assignment names no folder (dir)",
		`{"v":1,"dir":"/tmp","part":"all"}`: `assignment asks for the unknown part "all"; known: "", "baseline", "check"`,
		`{"v":1,"dir":"/tmp"}`:              "assignment names no agent (agent.spec.name)",
	} {
		var out bytes.Buffer
		w := &Worker{}
		err := w.Serve(t.Context(), strings.NewReader(input), &out)
		w.Close()
		if bad := (*BadAssignmentError)(nil); !errors.As(err, &bad) || err.Error() != want || out.Len() > 0 {
			t.Errorf("%s: %v, %q; want %q", input, err, out.String(), want)
		}
	}
}

func TestAssignmentAndResult_throughJSON_stayTheSame(t *testing.T) {
	a := project(t, []step{{"write", "broken"}, {"tick", "one"}, {"tick", "two"}, {"deny", "rm -rf /"}})
	a.Task.Criteria, a.Task.DependsOn = []string{"it works"}, []string{"T0"}
	res := here(t, a).Result
	if len(res.Proof.Findings) == 0 || len(res.Proof.Reopen) != 2 || !res.Proof.Report.Blocked() || len(res.Call.Denied) != 1 {
		t.Errorf("the turn did too little for this test: %+v", res.Proof)
	}
	for _, v := range []any{a, res} {
		data, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		var diff string
		switch v := v.(type) {
		case Assignment:
			var back Assignment
			err = json.Unmarshal(data, &back)
			diff = cmp.Diff(v, back, cmpopts.EquateEmpty())
		case Result:
			var back Result
			err = json.Unmarshal(data, &back)
			diff = cmp.Diff(v, back, cmpopts.EquateEmpty(), cmpopts.EquateApproxTime(0))
		}
		if err != nil || diff != "" {
			t.Errorf("%v after JSON (-want +got):\n%s", err, diff)
		}
	}
}

func TestRun_secretInTheAgentsWords_isHiddenEverywhere(t *testing.T) {
	const key = "ghp_abcdefghijklmnopqrstuvwxyz0123456789"
	s := here(t, project(t, []step{{"say", key}, {"tool", "curl -H " + key}, {"final", "used " + key}}))
	data, err := json.Marshal(s)
	if err != nil || strings.Contains(string(data), key) {
		t.Errorf("%v, the key is in %s", err, data)
	}
}

func TestSettle_ticks_countOnlyWhenTheyWereEarned(t *testing.T) {
	list := task.List{Tasks: []task.Task{{ID: "1", Title: "one", Done: true}, {ID: "2", Title: "two"}}}
	own := audit.Finding{Kind: audit.KindTickWithoutWork, Task: "1", Revert: true}
	red := gate.Report{Results: []gate.Result{{Name: "test", Verdict: gate.VerdictFailed, Blocks: true}}}
	green := gate.Report{Results: []gate.Result{{Name: "test", Passed: true, Verdict: gate.VerdictPassed}}}
	rows := Checks{Rows: []gate.Check{{Name: "test"}}}
	for _, test := range []struct {
		name  string
		f     facts
		by    string // why the tick is taken back; empty: it stands
		tries int
	}{
		{"green", facts{report: green, checks: rows}, "", 0},
		{"red", facts{report: red, checks: rows}, ReopenChecks, 3},
		{"stopped before the checks", facts{unchecked: true, checks: rows}, ReopenUnchecked, 2},
		{"stopped, no check could say anything", facts{unchecked: true}, "", 2},
		{"no work", facts{audit: auditResult{findings: []audit.Finding{own}, reopen: []Reopen{{Task: "1", By: ReopenAudit}}}}, ReopenAudit, 2},
	} {
		f := test.f
		f.left = planOf(list)
		r := settle(Assignment{Task: task.Task{ID: "1"}, Known: History{Tries: 2}}, f)
		by := ""
		if len(r.Proof.Reopen) > 0 {
			by = r.Proof.Reopen[0].By
		}
		if by != test.by || r.Proof.Tries != test.tries || r.Proof.After.IsDone("1") != (test.by == "") || !f.left.IsDone("1") {
			t.Errorf("%s: reopened by %q after %d tries, done %v", test.name, by, r.Proof.Tries, r.Proof.After.IsDone("1"))
		}
	}
}
