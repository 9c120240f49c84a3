package view_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ralph/logs/termtext"
	"ralph/state"
	"ralph/state/view"
)

func TestLines_everyKind_isSaidInPlainWords(t *testing.T) {
	tool := state.Tool{ID: "1", Name: "Bash", Arg: "ls"}
	until := noon.Add(time.Hour)
	on := state.Decision{Action: "continue", Rule: "continue"}
	done := state.Decision{Action: "stop", Rule: "complete", Reason: "all 5 tasks are done, checks pass"}
	cost := state.Usage{CostUSD: 0.12}
	seen := map[state.Kind]bool{}
	for _, c := range []struct {
		p    state.Payload
		want string // role: text, one line each
	}{
		{state.RunStart{Agent: "claude", Model: "opus", Done: 1, Total: 5}, "heading: run r · agent claude · opus · 1 of 5 tasks done"},
		{state.RunStart{Agent: "claude", Resumed: true, Killed: "r0", KilledIteration: 7},
			"heading: run r · resumed · agent claude\nwarning: the previous run, r0, crashed in iteration 7"},
		{state.IterationStart{Title: "a\nb"}, "heading: iteration 3 · a b"},
		{state.IterationStart{Why: "no plan: the prompt alone"}, "heading: iteration 3 · no plan: the prompt alone"},
		{state.AgentChange{Name: "codex"}, "note: switched to agent codex"},
		{state.AgentChange{Name: "claude", Model: "haiku", Why: "PACE spread seven_day"}, "note: switched to agent claude, model haiku: PACE spread seven_day"},
		{state.AgentChange{Name: "codex", Instead: "claude", Until: until}, "note: switched to agent codex: claude has reached its usage limit until 15:30"},
		{state.Baseline{Red: []string{"test: TestA", "lint"}}, "warning: failed before the agent started: test: TestA; lint"},
		{state.Feedback{Items: []string{"two lines\nof it", "more"}}, "told: told the agent: two lines\ntold: of it\ntold: \ntold: more"},
		{state.SessionStart{ID: "s1", Model: "m"}, "note: session s1 · m"},
		{state.Text{Text: "\n\none\n\ttwo\n"}, "text: one\ntext:     two"},
		{state.Text{Text: "  "}, ""},
		{state.Phase{Name: "checking"}, ""}, // screens show it beside the lines
		{state.Blocked{Host: "example.com"}, "note: the sandbox refused a connection to example.com (SANDBOX_NET)"},
		{state.Verdict{Name: "qa", Agent: "codex", Verdict: state.VerdictFail}, "warning: verdict of qa (codex): fail"},
		{state.Question{ID: "q1", Ask: state.Ask{Text: "Which one?", Options: []string{"a", "b"}}},
			"warning: the agent asks q1: Which one?\nwarning: a\nwarning: b\nwarning: ralph answer q1"},
		{state.Answer{ID: "q1", By: "cli", Text: "a"}, "told: q1 is answered (cli): a"},
		{tool, "tool: Bash ls"},
		{state.Tool{Name: "Edit", Arg: "/p/src/a.go\n"}, "tool: Edit src/a.go"},
		{state.ToolResult{Tool: tool, Text: "1\n2\n3\n4\n5\n6\n7\n8\n9\n10"}, "answer: 1\nanswer: 2\nanswer: 3\nanswer: 4\nanswer: 5\nanswer: 6\nanswer: 7\nanswer: 8\nanswer: … 2 lines more"},
		{state.ToolResult{Tool: tool, Text: "updated /p/src/a.go"}, "answer: updated src/a.go"},
		{state.Tool{Name: "Edit", Arg: "a.go", Hunk: "- x\n+ y"}, "tool: Edit a.go\nanswer: - x\nanswer: + y"},
		{state.ToolResult{Tool: tool, Error: true}, "error: the tool failed"},
		{state.Usage{InputTokens: 1}, ""},
		{state.Denied{Tool: tool, Reason: "no"}, "error: denied: Bash ls: no"},
		{state.Limit{Name: "five_hour"}, ""},
		{state.Limit{Name: "seven_day_opus", Rejected: true, ResetsAt: until}, "error: 7-day opus usage limit reached; it resets at 15:30"},
		{state.Retry{Text: "retry 3 of 10: 529 overloaded", Codes: []string{"529", "overloaded"}}, "note: the agent retries: retry 3 of 10: 529 overloaded"},
		{state.Retry{Text: "in 2 s", Codes: []string{"529"}}, "note: the agent retries: in 2 s: 529"},
		{state.AgentError{Codes: []string{"429"}}, "error: 429"},
		{state.FinalMessage{Text: "done"}, "result: done"},
		{state.FinalMessage{Text: "failed", Error: true}, "error: result: failed"},
		{state.Finding{Source: state.FoundByAudit, File: "a_test.go", Text: "2 tests fewer", Answer: "the tick was taken back"}, "error: audit: a_test.go: 2 tests fewer; the tick was taken back"},
		{state.Finding{Source: state.FoundByAudit, File: "a_test.go", Text: "a_test.go is gone", Doubt: true}, "warning: audit: a_test.go is gone"},
		{state.Finding{Source: state.FoundByChecks, Text: "test: flaky"}, "warning: checks: test: flaky"},
		{state.Check{Name: "test", Passed: true, Seconds: 1.23}, "good: check test: passed in 1.2s"},
		{state.Check{Name: "test", Seconds: 75, Output: "why\n"}, "error: check test: failed in 1m 15s\nerror: why"},
		{state.Check{Name: "test", Run: state.CheckAgain, Passed: true}, "good: second run of check test: passed in 0.0s"},
		{state.Hook{Point: "pre_task", Seconds: 1, Files: []string{"a", "b"}}, "note: hook pre_task: done in 1.0s · 2 files changed"},
		{state.Hook{Point: "pre_task", Failed: "failed with exit code 3", Then: "ask_agent", Output: "why"}, "error: hook pre_task: failed with exit code 3 (ask_agent)\nerror: why"},
		{state.Hook{Point: "pre_task", Blocks: true, Reason: "no"}, "warning: hook pre_task: blocks: no"},
		{state.Check{Name: "test", Run: state.CheckBaseline}, "error: check test before the work: failed in 0.0s"},
		{state.TaskChange{ID: "T1", State: "open", Why: "a check fails"}, "warning: task T1 is open again: a check fails"},
		{state.TaskChange{ID: "f95a7a4f", Title: "Add login", State: "open", Why: "x"}, `warning: "Add login" is open again: x`},
		{state.TaskChange{ID: "f95a7a4f", State: "open"}, "warning: the task is open again"},
		{state.TaskChange{State: "open"}, "warning: the task is open again"},
		{state.TaskChange{ID: "T1", State: "blocked", Why: "x"}, "warning: task T1 is now blocked: x"},
		{state.Commit{OID: "0123456789abcdef", Files: 2, Refused: []state.Refusal{{File: "x", Why: "too large"}}},
			"note: committed 2 files that were left uncommitted as 0123456789ab\nwarning: not committed: x (too large)"},
		{state.Paused{}, "note: paused; continue with: ralph resume"},
		{on, ""},
		{state.Decision{Action: "continue", Rule: "continue", Reason: "the agent says that it is blocked"}, "note: the agent says that it is blocked"},
		{done, "good: stopped: all 5 tasks are done, checks pass (rule complete)"},
		{state.Decision{Action: "stop", Rule: "same_error", Reason: "five times"}, "warning: stopped: five times (rule same_error)"},
		{state.Decision{Action: "wait", Rule: "usage_limit", Reason: "limit", WakeAt: until}, "note: waiting until 15:30: limit (rule usage_limit)"},
		{state.Decision{Action: "wait", Rule: "hourly"}, "note: waiting (rule hourly)"},
		{state.IterationEnd{Decision: on, Title: "Add login", Outcome: "completed-turn", Files: 4, Seconds: 130, TaskDone: true, Says: "BLOCKED"},
			`warning: iteration 3 · "Add login" done in 2m 10s · the agent is blocked · 4 files changed`},
		{state.IterationEnd{Decision: on, Title: "Add login", Outcome: "completed-turn", Files: 4, Seconds: 130, TaskDone: true, Total: 5, Usage: cost},
			`good: iteration 3 · "Add login" done in 2m 10s · 4 files changed · $0.12`},
		{state.IterationEnd{Decision: done, Title: "Add login", Outcome: "completed-turn", Files: 1, Seconds: 2.34, TaskDone: true, Total: 5},
			"good: iteration 3 · \"Add login\" done in 2.3s · 1 file changed\ngood: stopped: all 5 tasks are done, checks pass (rule complete)"},
		{state.IterationEnd{Decision: state.Decision{Action: "retry", Rule: "gate_failed", Reason: "required check failed: test"}, Title: "Add login", Outcome: "completed-turn", Seconds: 130, Total: 5, Usage: state.Usage{CostUSD: 0.001}},
			"note: iteration 3 · \"Add login\" not done yet after 2m 10s · no files changed · under $0.01\nnote: retrying: required check failed: test (rule gate_failed)"},
		{state.IterationEnd{Decision: on, Title: "Add login", Outcome: "timeout-with-work", Files: 2, Seconds: 900, Total: 5},
			`note: iteration 3 · "Add login" not done yet after 15m 00s · timeout-with-work · 2 files changed`},
		{state.IterationEnd{Decision: on, Title: "Add login", Outcome: "overloaded", Failed: true, Seconds: 12, Total: 5, Detail: "the API is overloaded"},
			`error: iteration 3 · "Add login" failed after 12s: the API is overloaded · no files changed`},
		{state.IterationEnd{Decision: on, Outcome: "completed-turn"}, "note: iteration 3 ended · no files changed"},
		{state.IterationEnd{Decision: on, Title: "Add login", Outcome: "killed-by-signal", Failed: true, Cut: "skip", Seconds: 12, Total: 5},
			`note: iteration 3 · "Add login" skipped after 12s · no files changed`},
		{state.RunEnd{Decision: done, Seconds: 3700, Usage: state.Usage{CostUSD: 3.4}}, "heading: run ended after 1h 01m · exit code 0 · about $3.40"},
		{state.RunEnd{Decision: state.Decision{Rule: "same_error", Reason: "five times"}, Exit: 3, Next: "ralph resume"},
			"heading: run ended · exit code 3\nerror: same_error: five times\nnote: next: ralph resume"},
	} {
		e := state.NewEvent(state.Origin{Run: "r", Iteration: 3}, noon, c.p)
		seen[e.Kind] = true
		var got []string
		lines := view.Lines(e, view.LineOptions{Dir: "/p"})
		for _, l := range lines {
			got = append(got, l.Role.String()+": "+l.Text)
		}
		if strings.Join(got, "\n") != c.want {
			t.Errorf("%s %+v:\n%s\nwant\n%s", e.Kind, c.p, strings.Join(got, "\n"), c.want)
		}
		if len(lines) > 0 && (!lines[0].At.Equal(noon) || !lines[0].First) {
			t.Errorf("%s: the first line is %+v", e.Kind, lines[0])
		}
	}
	for _, row := range state.Kinds() {
		if !seen[row.Kind] {
			t.Errorf("no case of %s", row.Kind)
		}
	}
	if lines := view.Lines(state.Event{Time: noon, Kind: "unknown"}, view.LineOptions{}); lines != nil {
		t.Errorf("an unknown kind gives %+v", lines)
	}
}

func TestLines_ofASubAgentOrALaterAttempt_sayIt(t *testing.T) {
	sub := state.Tool{Name: "Grep", Arg: "x", Parent: "1"}
	for _, p := range []state.Payload{sub, state.ToolResult{Tool: sub, Text: "found"}} {
		if lines := view.Lines(state.NewEvent(state.Origin{}, noon, p), view.LineOptions{}); len(lines) != 1 || !lines[0].Sub {
			t.Errorf("%+v", lines)
		}
	}
	e := state.NewEvent(state.Origin{Iteration: 3, Attempt: 2}, noon, state.IterationStart{Title: "x"})
	if got := view.Lines(e, view.LineOptions{})[0].Text; got != "iteration 3 · x · attempt 2" {
		t.Error(got)
	}
}

func TestLines_longTexts_areCutUnlessTheyAreWantedWhole(t *testing.T) {
	count := func(p state.Payload, whole bool) int {
		return len(view.Lines(state.NewEvent(state.Origin{}, noon, p), view.LineOptions{Whole: whole}))
	}
	many := strings.Repeat("x\n", 1000)
	for _, c := range []struct {
		p          state.Payload
		cut, whole int
	}{
		{state.Text{Text: many}, 401, 1000},
		{state.ToolResult{Text: many}, 9, 9},
		{state.ToolResult{Text: many, Error: true}, 31, 1000},
		{state.Check{Name: "test", Output: many}, 31, 1001},
	} {
		if cut, whole := count(c.p, false), count(c.p, true); cut != c.cut || whole != c.whole {
			t.Errorf("%T: %d and %d lines", c.p, cut, whole)
		}
	}
	e := state.NewEvent(state.Origin{}, noon, state.Text{Text: strings.Repeat("é", 5000)})
	if got := view.Lines(e, view.LineOptions{})[0].Text; !strings.HasSuffix(got, "é… 904 characters more") {
		t.Errorf("a long line ends in %q", got[len(got)-40:])
	}
	if got := view.Lines(e, view.LineOptions{Whole: true})[0].Text; got != strings.Repeat("é", 5000) {
		t.Errorf("%d bytes are kept", len(got))
	}
}

// Tools that run side by side answer in any order.
func TestLog_answers_standBelowTheirCalls(t *testing.T) {
	var l view.Log
	a, b := state.Tool{ID: "1", Name: "Read", Arg: "a.go"}, state.Tool{ID: "2", Name: "Read", Arg: "b.go"}
	var got []string
	for _, p := range []state.Payload{a, b, state.ToolResult{Tool: b, Text: "of b"}, state.ToolResult{Tool: a, Text: "of a"}, b,
		state.ToolResult{Tool: b, Text: "again"}, state.Text{Text: "hm"}, state.ToolResult{Tool: b, Text: "late"}} {
		for _, line := range l.Lines(state.NewEvent(state.Origin{}, noon, p)) {
			got = append(got, line.Role.String()+": "+line.Text)
		}
	}
	want := []string{"tool: Read a.go", "tool: Read b.go", "answer: of b", "tool: answer to Read a.go", "answer: of a", "tool: Read b.go", "answer: again",
		"text: hm", "tool: answer to Read b.go", "answer: late"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestLines_answerOfOneLongLine_isFolded(t *testing.T) {
	for _, c := range []struct {
		text       string
		lines, len int
		last       string
	}{
		{strings.Repeat("x", 5000), 1, 1000, "… 4200 characters more"},
		{strings.Repeat(strings.Repeat("y", 390)+"\n", 6), 4, 1400, "… 3 lines more"},
	} {
		for _, whole := range []bool{false, true} {
			lines := view.Lines(state.NewEvent(state.Origin{}, noon, state.ToolResult{Text: c.text}), view.LineOptions{Whole: whole})
			size := 0
			for _, l := range lines {
				size += len(l.Text)
			}
			if len(lines) != c.lines || size > c.len || !strings.HasSuffix(lines[len(lines)-1].Text, c.last) {
				t.Errorf("%d lines, %d bytes, the last ends in %q", len(lines), size, lines[len(lines)-1].Text[max(len(lines[len(lines)-1].Text)-30, 0):])
			}
		}
	}
}

func TestLog_whatRepeatsWhatWasSaid_isSaidOnce(t *testing.T) {
	var l view.Log
	say := func(p state.Payload) (all []string) {
		for _, line := range l.Lines(state.NewEvent(state.Origin{Iteration: 3}, noon, p)) {
			all = append(all, line.Text)
		}
		return all
	}
	stop := state.Decision{Action: "stop", Rule: "same_error", Reason: "five times"}
	say(state.IterationStart{Title: "Add login"})
	say(state.Text{Text: "all done\n"})
	for _, c := range []struct {
		p    state.Payload
		want []string
	}{
		{state.FinalMessage{Text: "all done"}, []string{"final message, as above"}},
		{state.FinalMessage{Text: "something else"}, []string{"something else"}},
		{state.IterationEnd{Title: "Add login", Decision: stop}, []string{`iteration 3 · "Add login" ended · no files changed`, "stopped: five times (rule same_error)"}},
		{state.RunEnd{Decision: stop, Exit: 3}, []string{"run ended · exit code 3"}},
		{state.RunEnd{Decision: state.Decision{Rule: "error", Reason: "disk full"}, Exit: 1}, []string{"run ended · exit code 1", "error: disk full"}},
	} {
		if diff := cmp.Diff(c.want, say(c.p)); diff != "" {
			t.Errorf("%+v: %s", c.p, diff)
		}
	}
}

// All that a program without records prints is its final message, too.
func TestLog_finalMessageOfAllTexts_isSaidOnce(t *testing.T) {
	var l view.Log
	for range 2 {
		for i, p := range []state.Payload{state.IterationStart{Title: "x"}, state.Text{Text: "I begin."}, state.Text{Text: "I am done."},
			state.FinalMessage{Text: "I begin.\nI am done."}} {
			lines := l.Lines(state.NewEvent(state.Origin{Iteration: 3}, noon, p))
			if i == 3 && (len(lines) != 1 || lines[0].Text != "final message, as above") {
				t.Errorf("%+v", lines)
			}
		}
	}
}

func TestRender_isWhatLiveLogHolds(t *testing.T) {
	tool := state.Tool{Name: "Bash", Arg: "ls"}
	for _, c := range []struct {
		p    state.Payload
		want string
	}{
		{state.RunStart{Agent: "claude"}, "=== run r · agent claude\n"},
		{state.IterationStart{Title: "Add login"}, "\n--- iteration 3 · Add login\n"},
		{state.Text{Text: "one\n\n\x1b[31mtwo\n"}, "| one\n|\n| two\n"},
		{tool, "> Bash ls\n"},
		{state.ToolResult{Tool: tool, Text: "a\nb"}, "  a\n  b\n"},
		{state.ToolResult{Tool: tool, Text: "a\n\nb", Error: true}, "| ! a\n| !\n| ! b\n"},
		{state.Denied{Tool: tool}, "! denied: Bash ls\n"},
		{state.Check{Name: "test", Seconds: 1, Output: "a\nb"}, "! check test: failed in 1.0s\n  a\n  b\n"},
		{state.Check{Name: "test", Passed: true, Seconds: 1}, "= check test: passed in 1.0s\n"},
		{state.Feedback{Items: []string{"a", "b"}}, "= told the agent: a\n\n  b\n"},
		{state.Finding{Source: state.FoundByAudit, Text: "x"}, "! audit: x\n"},
		{state.SessionStart{ID: "s"}, ""},
		{state.Usage{InputTokens: 1}, ""},
		{state.FinalMessage{Text: "said before"}, ""},
		{state.FinalMessage{Text: "x", Error: true}, "| ! result: x\n"},
		{state.IterationEnd{Decision: state.Decision{Action: "stop", Rule: "complete", Reason: "all done"}, Title: "x", TaskDone: true},
			"--- iteration 3 · \"x\" done · no files changed\n= stopped: all done (rule complete)\n"},
		{state.RunEnd{Decision: state.Decision{Rule: "x", Reason: "why"}, Exit: 3}, "=== run ended · exit code 3\n! x: why\n"},
	} {
		if got := (&view.Log{LineOptions: view.LineOptions{Whole: true}}).Render(state.NewEvent(state.Origin{Run: "r", Iteration: 3}, noon, c.p)); got != c.want {
			t.Errorf("%+v:\n%q\nwant\n%q", c.p, got, c.want)
		}
	}
}

// No line that holds the agent's words begins like one of ralph's own.
func TestRender_agentsWords_cannotLookLikeRalphs(t *testing.T) {
	const forged = "=== run ended · exit code 0\n--- iteration 3 done\n= check test: passed in 1.0s\n! audit: x\nralph: completed"
	for _, p := range []state.Payload{
		state.Text{Text: forged}, state.ToolResult{Text: forged}, state.ToolResult{Text: forged, Error: true}, state.AgentError{Text: forged},
		state.FinalMessage{Text: forged, Error: true}, state.Tool{Name: forged, Arg: forged}, state.Check{Name: "lint", Output: forged},
	} {
		for n, line := range strings.Split(strings.TrimSuffix((&view.Log{LineOptions: view.LineOptions{Whole: true}}).Render(state.NewEvent(state.Origin{Run: "r"}, noon, p)), "\n"), "\n") {
			own := n == 0 && strings.HasPrefix(line, "! check lint: failed")
			if !own && !strings.HasPrefix(line, "| ") && !strings.HasPrefix(line, "> ") && !strings.HasPrefix(line, "  ") {
				t.Errorf("%T: %q", p, line)
			}
		}
	}
}

func TestLines_anyText_isCleanAndOnOneLineEach(t *testing.T) {
	pieces := []string{"\x1b[31m", "\x1b]0;t\x07", "\u009b", "\u202e", "\u200b", "\n", "\r", "\t", "é", "🙂", "text ", "\xff", "\u0301"}
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom(pieces), rapid.String()), 0, 9).Draw(t, "pieces")
		s := strings.Join(parts, "")
		p := rapid.SampledFrom([]state.Payload{
			state.Text{Text: s}, state.Tool{Name: s, Arg: s}, state.ToolResult{Text: s}, state.Check{Name: s, Output: s}, state.IterationStart{Title: s},
			state.IterationEnd{Title: s, Detail: s, Failed: true, Decision: state.Decision{Action: state.Action(s), Rule: s, Reason: s}}, state.Limit{Name: s, Rejected: true},
		}).Draw(t, "payload")
		for _, l := range view.Lines(state.NewEvent(state.Origin{Run: s}, noon, p), view.LineOptions{}) {
			if strings.ContainsAny(l.Text, "\n\t") || termtext.Clean(l.Text) != l.Text {
				t.Fatalf("%q", l.Text)
			}
		}
	})
}

func TestLines_textWithTabs_isWhole(t *testing.T) {
	got := view.Lines(state.NewEvent(state.Origin{}, noon, state.Text{Text: "a\tb\tccc"}), view.LineOptions{Whole: true})
	if len(got) != 1 || got[0].Text != "a    b    ccc" {
		t.Errorf("%+v", got)
	}
}

// collect returns a function that makes lines of a developer's event, and adds their texts to got.
func collect(lines func(state.Event) []view.Line, got *[]string) func(n int, d state.Payload) {
	return func(n int, d state.Payload) {
		for _, line := range lines(state.NewEvent(state.Origin{Iteration: n, Role: view.Developer}, time.Time{}, d)) {
			*got = append(*got, line.Text)
		}
	}
}

func TestLines_turnsSideBySide_eachLineNamesItsIteration(t *testing.T) {
	var l view.Log
	var got []string
	event := collect(l.Lines, &got)
	event(1, state.Text{Text: "began before the log"})
	event(2, state.IterationStart{Title: "b"})
	event(1, state.Text{Text: "one\ntwo"})
	event(2, state.Tool{Name: "Read", Arg: "a"})
	event(1, state.IterationEnd{})
	event(2, state.Text{Text: "alone again"})
	want := "began before the log|iteration 2 · b|[1] one|[1] two|[2] Read a|iteration 1 ended · no files changed|alone again"
	if text := strings.Join(got, "|"); text != want {
		t.Errorf("%q\nwant %q", text, want)
	}
}

func TestWithin_worktreeOfASlot_isThePlaceInTheProject(t *testing.T) {
	for text, want := range map[string]string{
		"Write /home/me/.cache/ralph/slots/shop-a6cf299d/1/shop/src/a.go": "Write src/a.go",
		"The file /c/ralph/slots/shop-a6cf299d/12/shop/a.go has been":     "The file a.go has been",
		"in /c/slots/shop-a6cf299d/1/shop; also in /c/x":                  "in /c/slots/shop-a6cf299d/1/shop; also in /c/x",
		"cd /p && cat /p/x":        "cd /p && cat x",
		"/ralph/slots/ is no path": "/ralph/slots/ is no path",
	} {
		if got := view.Within("/p", text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestMarked_turnsSideBySide_eachLineNamesItsIteration(t *testing.T) {
	var l view.Log
	var got []string
	event := collect(l.Marked, &got)
	event(1, state.IterationStart{Title: "a"})
	event(1, state.Text{Text: "alone"})
	event(2, state.IterationStart{Title: "b"})
	event(1, state.Text{Text: "one"})
	event(2, state.Text{Text: "two"})
	event(1, state.IterationEnd{})
	event(2, state.Text{Text: "alone again"})
	want := "|--- iteration 1 · a|| alone||--- iteration 2 · b|| [1] one|| [2] two|--- iteration 1 ended · no files changed|| alone again"
	if text := strings.Join(append([]string{}, got...), "|"); text != want {
		t.Errorf("%q\nwant %q", text, want)
	}
}

// A status block is for ralph. A person reads one line of it.
func TestLines_statusBlock_isOneLine(t *testing.T) {
	block := "---RALPH_STATUS---\nSTATUS: IN_PROGRESS\nTASKS_COMPLETED_THIS_LOOP: 1\nFILES_MODIFIED: 1\nTESTS_STATUS: PASSING\n" +
		"WORK_TYPE: IMPLEMENTATION\nEXIT_SIGNAL: false\nRECOMMENDATION: go on\n---END_RALPH_STATUS---"
	const want = "status IN_PROGRESS · tests status PASSING · exit signal false · recommendation go on"
	for text, want := range map[string]string{"Did it.\n\n" + block: "Did it.||" + want, block + "\nBye": want + "|Bye",
		strings.TrimSuffix(block, "---END_RALPH_STATUS---"): strings.ReplaceAll(strings.TrimSuffix(block, "\n---END_RALPH_STATUS---"), "\n", "|")} {
		var got []string
		for _, l := range view.Lines(state.NewEvent(state.Origin{}, time.Now(), state.Text{Text: text}), view.LineOptions{}) {
			got = append(got, l.Text)
		}
		if strings.Join(got, "|") != want {
			t.Errorf("%q, want %q", strings.Join(got, "|"), want)
		}
	}
}

// The CLI reports a limit as a message, an error and a result; ralph gives it as the reason of two decisions.
func TestLog_limit_isToldOnce(t *testing.T) {
	const hit = "You've hit your session limit · resets 11pm (UTC)"
	why := "a usage window of the subscription is used up: " + hit
	var all []state.Event
	for _, p := range []state.Payload{state.IterationStart{Title: "one"}, state.AgentError{Text: hit}, state.AgentError{Text: hit}, state.FinalMessage{Text: hit, Error: true},
		state.IterationEnd{Decision: state.Decision{Action: "wait", Rule: "usage_limit", Reason: why}, Failed: true, Detail: why}} {
		all = append(all, state.NewEvent(state.Origin{Run: "r", Iteration: 1}, time.Now(), p))
	}
	log, marked := view.Log{}, view.Log{}
	var lines, file string
	for _, e := range all {
		for _, l := range log.Lines(e) {
			lines += l.Text + "\n"
		}
		file += marked.Render(e)
	}
	for _, got := range []string{lines, file} {
		if strings.Count(got, "session limit") != 1 || strings.Count(got, "usage window") != 1 || !strings.Contains(got, "waiting (rule usage_limit)") {
			t.Error(got)
		}
	}
}
