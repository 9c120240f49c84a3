package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ralph/cmd/internal/cmdline"
	"ralph/internal/world"
	"ralph/ptyexec"
	"ralph/runner/git"
	"ralph/state"
	"ralph/state/view"
)

// init: the checks of these tests are children, and this binary is their guard.
func init() { ptyexec.Init() }

// pastWorld is a project with a run of three iterations behind it. Iteration 1
// adds one.txt and commits it, 2 breaks good.txt, 3 adds three.txt without a
// commit. Everything of the user's git is isolated.
type pastWorld struct {
	*cmdline.Factory
	t        *testing.T
	out, err bytes.Buffer
}

const pastRun = "20260102-030405-abcd"

// newEmptyWorld has only an isolated repository without a commit.
func newEmptyWorld(t *testing.T) *pastWorld {
	t.Helper()
	home := t.TempDir()
	for k, v := range map[string]string{"HOME": home, "XDG_CONFIG_HOME": home, "GIT_CONFIG_GLOBAL": filepath.Join(home, "gitconfig"), "GIT_CONFIG_NOSYSTEM": "1"} {
		t.Setenv(k, v)
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = null.Close() })
	w := &pastWorld{t: t}
	dir := filepath.Join(t.TempDir(), "a [b", "c*]") // where every verb must work, too
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	w.Factory = &cmdline.Factory{In: null, Out: &w.out, Err: &w.err, Env: os.Environ(), Dir: dir}
	w.git("init", "-q", "-b", "main")
	w.git("config", "user.name", "Ann")
	w.git("config", "user.email", "ann@example.org")
	w.write(".ralph/.gitignore", state.Gitignore)
	return w
}

func newPastWorld(t *testing.T) *pastWorld {
	t.Helper()
	w := newEmptyWorld(t)
	w.write("good.txt", "good\n")
	w.git("add", "-A")
	w.git("commit", "-q", "-m", "first")

	k, ok := git.NewKeeper(w.Dir)
	if !ok {
		t.Fatal("no repository")
	}
	base := w.keep(k, git.State{Run: pastRun, Iteration: 1, Start: true})
	w.write("one.txt", "one\n")
	w.git("add", "-A")
	w.git("commit", "-q", "-m", "one")
	base = w.keep(k, git.State{Run: pastRun, Iteration: 1, Base: base})
	w.write("good.txt", "bad\n")
	w.git("commit", "-q", "-am", "two")
	base = w.keep(k, git.State{Run: pastRun, Iteration: 2, Base: base})
	w.write("three.txt", "three\n")
	w.keep(k, git.State{Run: pastRun, Iteration: 3, Base: base, Outcome: "completed-turn", Task: "T3 third", Files: 1, CostUSD: 0.5, Checks: map[string]bool{"test": false}})
	w.events()
	return w
}

func (w *pastWorld) keep(k *git.Keeper, s git.State) string {
	w.t.Helper()
	snap, err := git.Observe(context.Background(), w.Dir)
	if err != nil {
		w.t.Fatal(err)
	}
	oid, err := k.Keep(context.Background(), snap, s)
	if err != nil {
		w.t.Fatal(err)
	}
	return oid
}

// events tell of iterations 1, which was tried twice, and 2.
func (w *pastWorld) events() {
	var b strings.Builder
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	finding := func(text string) state.Finding { return state.Finding{Source: state.FoundByAudit, Text: text} }
	turned := func(rule string, u state.Usage, seconds float64) state.IterationEnd {
		return state.IterationEnd{Decision: state.Decision{Rule: rule}, Outcome: "completed-turn", Files: 1, Seconds: seconds, Usage: u}
	}
	for _, told := range []struct {
		run       string
		iteration int
		payload   state.Payload
	}{
		{pastRun, 1, state.IterationStart{Title: "T1 first"}},
		{pastRun, 1, state.Check{Name: "lint"}},
		{pastRun, 1, finding("removed test: a_test.go: TestA")},
		{pastRun, 1, state.IterationStart{Title: "T1 first"}},
		{pastRun, 1, finding("tick without work: T1")},
		{pastRun, 1, state.Finding{Source: state.FoundByChecks, Text: "no finding of the audit"}},
		{pastRun, 1, state.Text{Text: strings.Repeat("x", 100_000) + `"kind":"iteration_end"`}},
		{pastRun, 1, state.Check{Name: "test", Passed: true}},
		{pastRun, 1, turned("continue", state.Usage{CostUSD: 0.25}, 2)},
		{pastRun, 2, state.IterationStart{Title: "T2 second"}},
		{pastRun, 2, state.Check{Name: "test"}},
		{pastRun, 2, turned("gate_failed", state.Usage{}, 1)},
		{"another", 9, turned("continue", state.Usage{}, 1)},
	} {
		data, err := json.Marshal(state.NewEvent(state.Origin{Run: told.run, Iteration: told.iteration}, at, told.payload))
		if err != nil {
			w.t.Fatal(err)
		}
		b.Write(append(data, '\n'))
	}
	w.write(".ralph/events.jsonl", b.String()+`{"torn":`)
}

func (w *pastWorld) write(name, text string) {
	w.t.Helper()
	path := filepath.Join(w.Dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

func (w *pastWorld) git(args ...string) string {
	w.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = w.Dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		w.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimRight(string(out), "\n")
}

// do runs a verb and returns its exit code and all that it printed.
func (w *pastWorld) do(args ...string) (int, string) {
	w.t.Helper()
	w.out.Reset()
	w.err.Reset()
	text, code := execute(w.Factory, args)
	if text != "" {
		text += "\n"
	}
	return code, w.out.String() + w.err.String() + text
}

func (w *pastWorld) want(code int, text string, args ...string) string {
	w.t.Helper()
	got, out := w.do(args...)
	if got != code || !strings.Contains(out, text) {
		w.t.Errorf("ralph %v: exit code %d, want %d with %q\n%s", args, got, code, text, out)
	}
	return out
}

func TestIterations_eventsAndKeptStates_areJoined(t *testing.T) {
	w := newPastWorld(t)
	_, out := w.do("iterations", "--json")
	var rows []view.Iteration
	if err := json.Unmarshal([]byte(out), &rows); err != nil || len(rows) != 3 {
		t.Fatalf("%v\n%s", err, out)
	}
	for i := range rows {
		if rows[i].State != w.git("rev-parse", fmt.Sprintf("refs/ralph/%s/%d", pastRun, i+1)) {
			t.Errorf("state of %d: %q", i+1, rows[i].State)
		}
		rows[i].State, rows[i].Ended, rows[i].StartedAt, rows[i].Usage = "", time.Time{}, time.Time{}, state.Usage{}
	}
	want := []view.Iteration{
		{Run: pastRun, Number: 1, Task: "T1 first", Call: view.Call{Outcome: "completed-turn", Files: 1, Tries: 2, CostUSD: 0.25, Seconds: 2},
			Verdict: view.Verdict{Rule: "continue"}, Checks: map[string]bool{"test": true}, Findings: []string{"removed test: a_test.go: TestA", "tick without work: T1"}},
		{Run: pastRun, Number: 2, Task: "T2 second", Call: view.Call{Outcome: "completed-turn", Files: 1, Tries: 1, Seconds: 1},
			Verdict: view.Verdict{Rule: "gate_failed"}, Checks: map[string]bool{"test": false}, Findings: []string{}},
		{Run: pastRun, Number: 3, Task: "T3 third", Call: view.Call{Outcome: "completed-turn", Files: 1, CostUSD: 0.5},
			Checks: map[string]bool{"test": false}, Findings: []string{}},
	}
	if d := cmp.Diff(want, rows); d != "" {
		t.Error(d)
	}
	text := w.want(0, "failed: test", "iterations")
	if !regexp.MustCompile(`CHECKS +FOUND +FILES(.|\n)*1 passed +2 +1 `).MatchString(text) {
		t.Errorf("the findings are not counted:\n%s", text)
	}
	if lines := strings.Split(strings.TrimSpace(text), "\n"); len(lines) != 5 {
		t.Errorf("%d lines:\n%s", len(lines), text)
	}
}

func TestIterations_nothingKnown_saysSo(t *testing.T) {
	w := newPastWorld(t)
	w.want(2, `no iterations of run "nope" are known`, "iterations", "--run", "nope")
}

func TestDiff_iterationOrRange_isAPatch(t *testing.T) {
	w := newPastWorld(t)
	for _, tc := range []struct {
		arg  string
		has  []string
		not  []string
		code int
	}{
		{"1", []string{"+one"}, []string{"bad"}, 0},
		{"2", []string{"-good", "+bad"}, []string{"one.txt"}, 0},
		{"3", []string{"+three"}, []string{"good.txt"}, 0},
		{"1..3", []string{"+bad", "+three"}, []string{"one.txt"}, 0},
		{"0..2", []string{"+one", "+bad"}, []string{"three"}, 0},
		{"0..0", nil, []string{"one"}, 0},
		{"0", []string{"run " + pastRun + " has no iteration 0; see: ralph iterations"}, nil, state.ExitUsage},
		{"4", []string{"has no iteration 4"}, nil, state.ExitUsage},
		{"x", []string{"no iteration or task"}, nil, state.ExitUsage},
		{"1..", []string{"not the number"}, nil, state.ExitUsage},
		{"3..1", []string{"3..1 goes backwards", "ralph diff 1..3"}, []string{"+three"}, state.ExitUsage},
	} {
		code, out := w.do("diff", tc.arg)
		for _, text := range tc.has {
			if !strings.Contains(out, text) {
				t.Errorf("diff %s: no %q in\n%s", tc.arg, text, out)
			}
		}
		for _, text := range tc.not {
			if strings.Contains(out, text) {
				t.Errorf("diff %s: %q in\n%s", tc.arg, text, out)
			}
		}
		if code != tc.code {
			t.Errorf("diff %s: exit code %d", tc.arg, code)
		}
	}
	w.want(0, "good.txt | 2 +-", "diff", "--stat", "2")
	w.want(state.ExitUsage, "has no iteration -1", "diff", "--", "-1")
	w.want(state.ExitUsage, "is not the number of an iteration", "diff", "--", "-1..2")
}

func TestUndo_committedWork_becomesANewCommitOfItsFilesOnly(t *testing.T) {
	w := newPastWorld(t)
	w.write("mine.txt", "mine\n")
	w.git("add", "mine.txt")
	w.want(state.ExitUsage, "--yes", "undo", "2")
	w.want(state.ExitUsage, "run "+pastRun+" has no iteration 0; see: ralph iterations", "undo", "0", "--yes")
	head := w.git("rev-parse", "HEAD")
	w.want(0, "undone in commit", "undo", "2", "--yes")
	for _, check := range [][2]string{
		{"good", w.git("show", "HEAD:good.txt")},
		{"good.txt", w.git("show", "--format=", "--name-only")},
		{head, w.git("rev-parse", "HEAD^")},
		{"A  mine.txt\n?? three.txt", w.git("status", "--porcelain")},
		{"Ralph-Undo: " + pastRun + "/2", w.git("log", "-1", "--format=%(trailers:only)")},
	} {
		if check[0] != strings.TrimSpace(check[1]) && check[0] != check[1] {
			t.Errorf("got %q, want %q", check[1], check[0])
		}
	}
}

func TestUndo_workThatIsNotCommitted_changesTheWorkTree(t *testing.T) {
	w := newPastWorld(t)
	head := w.git("rev-parse", "HEAD")
	w.want(0, "in the work tree", "undo", "3", "--yes")
	if got := w.git("status", "--porcelain") + w.git("rev-parse", "HEAD"); got != head {
		t.Errorf("got %q", got)
	}
}

func TestUndo_impossible_isRefusedInOneLineAndChangesNothing(t *testing.T) {
	world.Long(t, "many runs of verbs")
	for name, tc := range map[string]struct {
		make func(w *pastWorld)
		arg  string
		want string
	}{
		"user changed the file":  {func(w *pastWorld) { w.write("good.txt", "the user's\n") }, "2", "good.txt"},
		"user changed new file":  {func(w *pastWorld) { w.write("three.txt", "the user's\n") }, "3", "three.txt"},
		"user removed new file":  {func(w *pastWorld) { _ = os.Remove(filepath.Join(w.Dir, "three.txt")) }, "3", "later changes"},
		"later commit stands on": {func(w *pastWorld) { w.write("good.txt", "other\n"); w.git("commit", "-qam", "x") }, "2", "later changes"},
		"base is pruned": {func(w *pastWorld) {
			w.git("update-ref", "-d", "refs/ralph/"+pastRun+"/1-start")
			w.git("gc", "-q", "--prune=now")
		}, "1", "no longer kept"},
		"detached": {func(w *pastWorld) { w.git("checkout", "-q", "--detach") }, "2", "git switch"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newPastWorld(t)
			tc.make(w)
			before := w.git("status", "--porcelain") + w.git("rev-parse", "HEAD")
			out := w.want(2, tc.want, "undo", tc.arg, "--yes")
			if strings.Count(out, "\n") != 1 {
				t.Errorf("%q", out)
			}
			if after := w.git("status", "--porcelain") + w.git("rev-parse", "HEAD"); after != before {
				t.Errorf("changed: %q, before %q", after, before)
			}
		})
	}
}

func TestUndo_runnerAlive_isLocked(t *testing.T) {
	w := newPastWorld(t)
	writer, _, err := state.Acquire(filepath.Join(w.Dir, state.DirName), state.Owner{PID: os.Getpid(), RunID: "x", StartedAt: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	defer writer.Release()
	w.want(state.ExitLocked, "", "undo", "2", "--yes")
}

// Without --run, a verb is about the last run.
func TestPast_ofARunThatIsNamed_adviceNamesItToo(t *testing.T) {
	w := newPastWorld(t)
	w.write(".ralph/status.json", `{"v":1,"run_id":"20260103-030405-abcd","status":"completed"}`)
	named := " --run " + pastRun
	for _, c := range []struct {
		code int
		want string
		args string
	}{
		{2, "agree with: ralph undo 2" + named + " --yes", "undo 2"},
		{2, "has no iteration 9; see: ralph iterations" + named, "diff 9"},
		{2, "ralph diff 1..2" + named, "diff 2..1"},
		{2, "is not the number of an iteration; see: ralph iterations" + named, "diff 1..x"},
		{2, `task "T9"; see: ralph iterations` + named, "undo T9"},
	} {
		verb, rest, _ := strings.Cut(c.args, " ")
		w.want(c.code, c.want, append([]string{verb, "--run", pastRun}, strings.Fields(rest)...)...)
	}
	if out := w.want(0, "ralph diff 0..2"+named+" --stat", "report", pastRun); !strings.Contains(out, "ralph iterations"+named) {
		t.Error(out)
	}
	w.write(".ralph/status.json", `{"v":1,"run_id":"`+pastRun+`","status":"completed"}`)
	if out := w.want(2, "has no iteration 9; see: ralph iterations", "diff", "9"); strings.Contains(out, "--run") {
		t.Error(out)
	}
}

func TestPast_lastRunMadeNoIteration_isAboutTheOneThatDid(t *testing.T) {
	w := newPastWorld(t)
	w.write(".ralph/status.json", `{"v":1,"run_id":"20260103-030405-abcd","status":"completed"}`)
	for args, want := range map[string]string{"iterations": "run " + pastRun, "diff 2 --stat": "changed", "undo 2": "agree with: ralph undo 2 --run " + pastRun + " --yes"} {
		code := 0
		if args == "undo 2" {
			code = 2
		}
		w.want(code, want, strings.Fields(args)...)
		w.want(code, "run 20260103-030405-abcd made no iteration; this is about run "+pastRun, strings.Fields(args)...)
	}
}
