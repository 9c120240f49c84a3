package runner

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

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

func TestRun_wordsOfTheFinalMessage_decideNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t, "talker", "[ ] one", "[ ] two", "[ ] three")
	b.o.MaxIterations = 1
	wantEnd(t, b.run(t.Context()), "ceilings", state.ExitCeiling)
	text := []byte(b.read(".ralph/.response_analysis"))
	var analysis map[string]any
	if err := json.Unmarshal(text, &analysis); err != nil {
		t.Fatal(err)
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
