package state

import (
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var eventTime = time.Date(2026, 11, 20, 4, 30, 0, 0, time.UTC)

// samples holds one filled payload of each kind.
func samples() []Payload {
	tool := Tool{ID: "t1", Name: "Bash", Arg: "make", Parent: "t0"}
	d := Decision{Action: "wait", Rule: "usage_limit", Reason: "limit", WakeAt: eventTime}
	u := Usage{InputTokens: 1, OutputTokens: 2, CacheReadTokens: 3, CacheWriteTokens: 4, CostUSD: 0.5}
	return []Payload{
		RunStart{Agent: "claude", Model: "m", Plan: "fix_plan.md", Prompt: "PROMPT.md", Version: "1", Resumed: true, Parallel: 2, Done: 1, Total: 2, Killed: "r0", KilledIteration: 7},
		IterationStart{Title: "Add login", Why: "w", Agent: "claude", Model: "m", Done: 1, Total: 2},
		Phase{Name: PhaseChecking, Check: "test", Run: CheckAgain},
		AgentChange{Name: "codex", Model: "m", Instead: "claude", Until: eventTime},
		Baseline{Red: []string{"test: TestOld"}},
		Feedback{Items: []string{"one", "two\nlines"}},
		SessionStart{ID: "s1", Model: "m"},
		Text{Text: "hello\n", Source: FromCLI},
		tool,
		ToolResult{Tool: tool, Text: "ok", Error: true},
		u,
		Denied{Tool: tool, Reason: "not allowed"},
		Blocked{Host: "example.com:443"},
		Limit{Name: "five_hour", Rejected: true, ResetsAt: eventTime, Utilization: 0.5},
		Retry{Text: "in 2 s", Codes: []string{"529"}},
		AgentError{Text: "overloaded", Codes: []string{"529"}},
		FinalMessage{Text: "done", Error: true, Codes: []string{"x"}, Session: "s1"},
		Finding{Source: FoundByAudit, Name: "removed test", Task: "T1", File: "a_test.go", Text: "gone", Doubt: true, Answer: "the tick was taken back"},
		Check{Name: "test", Command: "make test", Run: CheckAgain, Passed: true, Seconds: 1.5, Output: "FAIL"},
		Verdict{Name: "qa", Agent: "codex", Verdict: "fail", Score: 40, Threshold: 70, Weight: 1, Reasons: []Reason{{"no test", "a.go", 3}},
			Justified: []Justified{{"a.go: stub", "asked for"}}, Changed: []string{"b"}, Seconds: 2, Usage: Usage{InputTokens: 1}},
		Hook{Point: "pre_task", Command: "make", Failed: "failed with exit code 3", Then: "ask_agent", Seconds: 1.5, Output: "x", Files: []string{"a"}, Note: "n"},
		TaskChange{ID: "T1", Title: "Add login", State: "open", Why: "a check fails"},
		Question{ID: "q1", Title: "Add login", Ask: Ask{Text: "Which?", Options: []string{"a", "b"}}},
		Answer{ID: "q1", Text: "a", By: "ntfy"},
		Commit{OID: "abc", Files: 2, Refused: []Refusal{{File: "x", Why: "too large"}}},
		Paused{},
		d,
		IterationEnd{Decision: d, Title: "Add login", Outcome: "completed-turn", Detail: "x", Failed: true, Files: 3, Seconds: 1.5, Done: 1, Total: 2, TaskDone: true, RedBefore: []string{"test"}, Usage: u, Merge: MergeConflict},
		RunEnd{Decision: d, Exit: 3, Seconds: 60, Usage: u, Next: "ralph resume"},
	}
}

func TestEvent_everyKind_survivesJSON(t *testing.T) {
	seen := map[Kind]bool{}
	for i, p := range samples() {
		from := Origin{Run: "r1", Host: "h", Iteration: 3, Task: "T1", Role: "tester", Reviews: true, Attempt: 2}
		want := NewEvent(from, eventTime, p)
		want.Seq = int64(i + 1)
		data, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var got Event
		if err := json.Unmarshal(data, &got); err != nil {
			t.Errorf("%T: %v", p, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%T (-written +read):\n%s", p, diff)
		}
		if reflect.ValueOf(p).IsZero() && want.Kind != KindPaused {
			t.Errorf("the sample of %T is empty", p)
		}
		seen[want.Kind] = true
	}
	for k := range kindTypes() {
		if !seen[k] {
			t.Errorf("kind %s has no sample", k)
		}
	}
}

func TestEvent_ofVersion2_looksAsDocumented(t *testing.T) {
	e := NewEvent(Origin{Run: "r1", Iteration: 3, Task: "T1"}, eventTime, Tool{Name: "Bash", Arg: "make"})
	e.Seq = 7
	data, err := json.Marshal(e)
	want := `{"v":2,"seq":7,"time":"2026-11-20T04:30:00Z","kind":"tool","run":"r1","iteration":3,"task":"T1","data":{"name":"Bash","arg":"make"}}`
	if err != nil || string(data) != want {
		t.Errorf("%s, %v, want\n%s", data, err, want)
	}
}

func TestEvent_unknownKindsAndFields_areSkipped(t *testing.T) {
	for name, c := range map[string]struct {
		line string
		kind Kind
		want Payload
	}{
		"newer kind":   {`{"v":3,"kind":"vote","run":"r","data":{"for":"x"}}`, "vote", nil},
		"newer field":  {`{"v":3,"kind":"tool","new":[1],"data":{"name":"Bash","colour":"red"}}`, KindTool, Tool{Name: "Bash"}},
		"no payload":   {`{"v":2,"kind":"paused"}`, KindPaused, Paused{}},
		"null payload": {`{"v":2,"kind":"finding","data":null}`, KindFinding, Finding{}},
	} {
		var e Event
		if err := json.Unmarshal([]byte(c.line), &e); err != nil || e.Kind != c.kind || !reflect.DeepEqual(e.Data, c.want) {
			t.Errorf("%s: %+v, %v", name, e, err)
		}
	}
	var e Event
	if err := json.Unmarshal([]byte(`{"v":2,"kind":"check","data":{"seconds":"x"}}`), &e); err == nil || !strings.Contains(err.Error(), `"check"`) {
		t.Errorf("a payload of the wrong shape: %v", err)
	}
}

func TestEvent_recordedRun_isKnownThroughout(t *testing.T) {
	data, err := os.ReadFile("testdata/events.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[Kind]int{}
	for line := range strings.Lines(string(data)) {
		e, ok := EventFilter(nil).Decode([]byte(line))
		if !ok || e.Data == nil || e.V != EventVersion {
			t.Errorf("not read: %s", line)
		}
		kinds[e.Kind]++
	}
	for k, n := range map[Kind]int{KindRunStart: 1, KindIterationStart: 6, KindIterationEnd: 6, KindCheck: 8, KindFinding: 2, KindFeedback: 3, KindRunEnd: 1} {
		if kinds[k] != n {
			t.Errorf("%d events of kind %s, want %d", kinds[k], k, n)
		}
	}
}

func TestEventFilter_leavesOutKindsWithoutReadingThem(t *testing.T) {
	tools := EventFilter(func(k Kind) bool { return k == KindTool })
	for line, want := range map[string]bool{
		`{"v":2,"kind":"tool","data":{"name":"Bash"}}`:              true,
		`{"kind":"tool","tool":{"name":"Bash"}}`:                    false,
		`{"v":1,"kind":"tool","data":{"name":"Bash"}}`:              false,
		`{"v":2,"kind":"text","data":{"text":"\"kind\":\"tool\""}}`: false,
		`{"v":2,"kind":"text","data":broken`:                        false,
		`{"v":2,"kind":"tool","data":broken`:                        false,
		`not json "kind":"tool"`:                                    false,
		``:                                                          false,
	} {
		if _, got := tools.Decode([]byte(line)); got != want {
			t.Errorf("%s: %t", line, got)
		}
	}
	if _, ok := EventFilter(nil).Decode([]byte(`{"v":2}`)); ok {
		t.Error("an event without a kind")
	}
}

func FuzzEvent_anyLine_isReadTheSameAfterBeingWritten(f *testing.F) {
	for _, p := range samples() {
		data, err := json.Marshal(NewEvent(Origin{Run: "r", Iteration: 1}, eventTime, p))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	for _, line := range []string{
		``, `{}`, `{"kind":"text","text":"x"}`, `{"kind":"decision","text":"audit: ","end":{"rule":"audit"}}`,
		`{"kind":"decision","end":{"rule":"baseline"}}`, `{"kind":"gate"}`, `{"kind":"run_start","text":"; run "}`, `{"v":-1,"kind":"tool"}`,
		`{"v":2,"kind":"usage","data":{"input_tokens":-9223372036854775808}}`, `{"kind":"iteration_end","end":{"duration_ns":-5}}`,
	} {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		first, ok := EventFilter(nil).Decode(line)
		if !ok {
			return
		}
		if first.Data == nil {
			return // it cannot be written: the payload was not read
		}
		if kind := kindOf()[reflect.TypeOf(first.Data)]; kind != first.Kind {
			t.Fatalf("kind %q with a payload of %q", first.Kind, kind)
		}
		data, err := json.Marshal(first)
		if err != nil {
			return // a time beyond the year 9999
		}
		second, ok := EventFilter(nil).Decode(data)
		if again, _ := json.Marshal(second); !ok || string(again) != string(data) {
			t.Errorf("written %s\nread    %s", data, again)
		}
	})
}

func TestEnding_everyStatus_isOne(t *testing.T) {
	for _, c := range []struct {
		name       string
		s          Status
		want       Ending
		unfinished bool
	}{
		{"nothing ran", Status{}, EndingNone, false},
		{"killed at work", Status{RunID: "r", Status: StatusRunning}, EndingKilled, true},
		{"killed in a wait", Status{RunID: "r", Status: StatusWaiting}, EndingKilled, true},
		{"killed in a pause", Status{RunID: "r", Status: StatusPaused}, EndingKilled, true},
		{"reboot", Status{RunID: "r", Status: StatusStopped, ExitReason: "interrupted", ExitCode: 143}, EndingTerminated, true},
		{"Ctrl-C", Status{RunID: "r", Status: StatusStopped, ExitReason: "interrupted", ExitCode: 130}, EndingInterrupted, true},
		{"abort", Status{RunID: "r", Status: StatusStopped, ExitReason: "aborted", ExitCode: 130}, EndingInterrupted, true},
		{"ceiling", Status{RunID: "r", Status: StatusStopped, ExitReason: "max_iterations", ExitCode: 4}, EndingByRule, true},
		{"breaker", Status{RunID: "r", Status: StatusHalted, ExitReason: "same_error", ExitCode: 3}, EndingByRule, true},
		{"error", Status{RunID: "r", Status: StatusFailed, ExitReason: "error", ExitCode: 1}, EndingByRule, true},
		{"questions", Status{RunID: "r", Status: StatusStopped, ExitReason: "questions", ExitCode: 9}, EndingByRule, true},
		{"complete", Status{RunID: "r", Status: StatusCompleted, ExitReason: "plan_complete"}, EndingComplete, false},
		{"complete, then undone", Status{RunID: "r", Status: StatusCompleted, ExitReason: "plan_complete", Undone: 1}, EndingUndone, true},
		{"in review", Status{RunID: "r", Status: StatusReview, ExitReason: "review", ExitCode: 9}, EndingComplete, false},
		{"halted, then undone", Status{RunID: "r", Status: StatusHalted, ExitReason: "same_error", ExitCode: 3, Undone: 1}, EndingByRule, true},
	} {
		got := c.s.Ending()
		if got != c.want || got.Unfinished() != c.unfinished {
			t.Errorf("%s: %q, unfinished %t", c.name, got, got.Unfinished())
		}
		if want := c.unfinished || c.s.Status == StatusReview; c.s.Unsettled() != want {
			t.Errorf("%s: unsettled %t", c.name, !want)
		}
	}
}

func TestWord_exitCode9_isReview(t *testing.T) {
	for word, s := range map[string]Status{
		StatusReview:  {Status: StatusStopped, ExitReason: "questions", ExitCode: 9},
		StatusStopped: {Status: StatusStopped, ExitReason: "max_iterations", ExitCode: 4},
		StatusRunning: {Status: StatusRunning, ExitCode: 9},
	} {
		if got := s.Word(); got != word {
			t.Errorf("%+v: %s", s, got)
		}
	}
}
