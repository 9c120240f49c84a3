package runner

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ralph/runner/turn"
	"ralph/state"
)

var saidFakes = map[string]func(*fake) int{
	"repeater": func(f *fake) int {
		put(fmt.Sprintf("work%d.txt", f.call), "more")
		f.tool("Bash", "go vet ./...")
		f.print(map[string]any{"type": "user", "message": map[string]any{"role": "user", "content": []any{map[string]any{
			"type": "tool_result", "tool_use_id": "t1", "is_error": true, "content": fmt.Sprintf("Exit code 1\ncode.go:%d: undefined: parse", f.call)}}}})
		return f.result("I wrote more."+block(false, ""), nil)
	},
	"boaster": func(f *fake) int {
		f.work()
		return f.result("```json\n"+fmt.Sprintf(`{"status":"IN_PROGRESS","exit_signal":%v,"story_id":"T2","files_modified":1,"tasks_completed_this_loop":9}`,
			!open1(planName))+"\n```", nil)
	},
	"dreamer": func(f *fake) int { return f.result("I wrote it."+block(false, "FILES_MODIFIED: 3\n"), nil) },
	"talker": func(f *fake) int {
		f.work()
		return f.result("All tasks are complete, there was nothing to do. I was unable to reach the host."+block(false, ""), denial("rm x"))
	},
}

func TestRun_sameToolFailureWithOtherFilesChanging_isToldThenEndsTheRun(t *testing.T) {
	t.Parallel()
	b := newBench(t, "repeater", "[ ] one")
	b.o.SameErrorThreshold = 3
	r := b.run(t.Context())
	wantEnd(t, r, "same_error", state.ExitHalted)
	if b.calls() != 3 || !strings.Contains(r.Decision.Reason, "undefined: parse") {
		t.Errorf("%d calls, reason %q", b.calls(), r.Decision.Reason)
	}
	if found := b.found(state.FoundByAudit); len(found) != 2 || !strings.Contains(found[0], "failed in the same way in 2 iterations in a row: bash: code.go") {
		t.Errorf("findings %q", found)
	}
	if p := b.read(".ralph/logs/run-1/2.prompt.md"); strings.Contains(p, "in a row") {
		t.Errorf("one failure is told as a repeat:\n%s", p)
	}
	if p := b.read(".ralph/logs/run-1/3.prompt.md"); !strings.Contains(p, "in 2 iterations in a row: bash: code.go:<n>: undefined: parse") {
		t.Errorf("the agent was not told:\n%s", p)
	}
}

func TestRun_wordsOfTheFinalMessage_areHintsAndDecideNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t, "talker", "[ ] one", "[ ] two", "[ ] three")
	b.o.MaxIterations = 1
	wantEnd(t, b.run(t.Context()), "ceilings", state.ExitCeiling)
	want := state.Hints{Confidence: 20, Completion: []string{"all tasks are complete"}, NoWork: []string{"nothing to do"}, Stuck: []string{"unable to"}}
	text := []byte(b.read(".ralph/.response_analysis"))
	var analysis map[string]any
	var got struct{ Hints state.Hints }
	if err := errors.Join(json.Unmarshal(text, &analysis), json.Unmarshal(text, &got)); err != nil {
		t.Fatal(err)
	}
	st, err := state.Open(filepath.Join(b.dir, ".ralph")).Status()
	if err != nil {
		t.Fatal(err)
	}
	for name, hints := range map[string]state.Hints{".response_analysis": got.Hints, "status.json": st.Hints, "event": payloads[state.IterationEnd](b)[0].Hints} {
		if diff := cmp.Diff(want, hints); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	if log, _ := os.ReadFile(filepath.Join(b.dir, ".ralph/live.log")); strings.Contains(string(log), "it sounds like") {
		t.Errorf("hints stand below a task that is done:\n%s", log)
	}
	snake := regexp.MustCompile(`^[a-z]+(_[a-z]+)*$`)
	if odd := slices.DeleteFunc(keysOf(analysis), snake.MatchString); len(odd) > 0 {
		t.Errorf("keys in another style: %q", odd)
	}
}

// keysOf are the keys of a JSON value and of all in it.
func keysOf(v any) (keys []string) {
	switch v := v.(type) {
	case map[string]any:
		for key, inner := range v {
			keys = append(append(keys, key), keysOf(inner)...)
		}
	case []any:
		for _, inner := range v {
			keys = append(keys, keysOf(inner)...)
		}
	}
	return keys
}

func TestRun_reportThatContradictsThePlan_isShownAndEndsNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t, "boaster", "[ ] T1: one", "[ ] T2: two")
	b.inGit()
	b.o.AntiCheat = turn.AnswerHalt
	wantEnd(t, b.run(t.Context()), "complete", state.ExitComplete)
	want := []string{
		`the agent reports work on "T2", but the iteration was for "T1"`,
		"the agent reports 9 completed tasks, but the plan shows 1",
		"the agent reports 9 completed tasks, but the plan shows 1",
	}
	var got []string
	for _, f := range payloads[state.Finding](b) {
		if f.Name == "report" && f.Doubt && f.Source == state.FoundByAudit {
			got = append(got, f.Text)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("findings: %s", diff)
	}
	if p := b.read(".ralph/logs/run-1/2.prompt.md"); !strings.Contains(p, want[0]) {
		t.Errorf("the agent was not told:\n%s", p)
	}
}

func TestRun_reportOfFilesThatDidNotChange_isShown(t *testing.T) {
	t.Parallel()
	b := newBench(t, "dreamer", "[ ] one")
	b.inGit()
	b.o.MaxIterations = 1
	wantEnd(t, b.run(t.Context()), "ceilings", state.ExitCeiling)
	found := payloads[state.Finding](b)
	if len(found) != 1 || found[0].Text != "the agent reports 3 modified files, but nothing was changed" {
		t.Errorf("findings %+v", found)
	}
}
