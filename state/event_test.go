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
		RunStart{Agent: "claude", Model: "m", Plan: "fix_plan.md", Prompt: "PROMPT.md", Version: "1", Resumed: true, Done: 1, Total: 2, Killed: "r0", KilledIteration: 7},
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
		Limit{Name: "five_hour", Rejected: true, ResetsAt: eventTime, Utilization: 0.5},
		Retry{Text: "in 2 s", Codes: []string{"529"}},
		AgentError{Text: "overloaded", Codes: []string{"529"}},
		FinalMessage{Text: "done", Error: true, Codes: []string{"x"}, Session: "s1"},
		Finding{Source: FoundByAudit, Name: "removed test", Task: "T1", File: "a_test.go", Text: "gone", Doubt: true, Answer: "the tick was taken back"},
		Check{Name: "test", Command: "make test", Run: CheckAgain, Passed: true, Seconds: 1.5, Output: "FAIL"},
		TaskChange{ID: "T1", Title: "Add login", State: "open", Why: "a check fails"},
		Commit{OID: "abc", Files: 2, Refused: []Refusal{{File: "x", Why: "too large"}}},
		Paused{},
		d,
		IterationEnd{Decision: d, Title: "Add login", Outcome: "completed-turn", Detail: "x", Failed: true, Files: 3, Seconds: 1.5, Done: 1, Total: 2, TaskDone: true, Usage: u},
		RunEnd{Decision: d, Exit: 3, Seconds: 60, Usage: u, Next: "ralph resume"},
	}
}

func TestEvent_everyKind_survivesJSON(t *testing.T) {
	seen := map[Kind]bool{}
	for i, p := range samples() {
		from := Origin{Run: "r1", Host: "h", Iteration: 3, Task: "T1", Role: "developer", Attempt: 2}
		want := NewEvent(from, eventTime, p)
		want.Seq = int64(i + 1)
		data, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var got Event
		if err := json.Unmarshal(data, &got); err != nil {
			t.Errorf("%s: %v", p.kind(), err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-written +read):\n%s", p.kind(), diff)
		}
		if reflect.ValueOf(p).IsZero() && p.kind() != KindPaused {
			t.Errorf("the sample of %s is empty", p.kind())
		}
		seen[p.kind()] = true
	}
	for k := range payloadTypes() {
		if !seen[k] {
			t.Errorf("kind %s has no sample", k)
		}
	}
}

func TestEvent_written_looksAsDocumented(t *testing.T) {
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

func TestEventFilter_recordedRun_everyEventIsKnown(t *testing.T) {
	data, err := os.ReadFile("testdata/events.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		if e, ok := EventFilter(nil).Decode([]byte(line)); !ok || e.Data == nil || e.V != EventVersion {
			t.Errorf("not read: %s", line)
		}
	}
}

func TestEventFilter_leavesOutKindsWithoutReadingThem(t *testing.T) {
	tools := EventFilter(func(k Kind) bool { return k == KindTool })
	for line, want := range map[string]bool{
		`{"v":2,"kind":"tool","data":{"name":"Bash"}}`:              true,
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
		``, `{}`, `{"kind":"vote","data":{}}`, `{"v":-1,"kind":"tool"}`,
		`{"v":2,"kind":"usage","data":{"input_tokens":-9223372036854775808}}`,
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
		if first.Data.kind() != first.Kind {
			t.Fatalf("kind %q with a payload of %q", first.Kind, first.Data.kind())
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
