// Package sample has runs in every state, for tests of screens and texts.
package sample

import (
	"fmt"
	"time"

	"ralph/state"
	"ralph/state/view"
)

// Noon is the fixed time of tests.
var Noon = time.Date(2026, 11, 20, 14, 30, 0, 0, time.UTC)

// Run returns a run in the middle of its seventh iteration.
func Run(now time.Time) (view.Snapshot, []state.Event) {
	st := state.Status{
		Timestamp: now.Add(-time.Second), RunID: "20261120-131810", PID: 4242, StartedAt: now.Add(-72 * time.Minute),
		LoopCount: 6, MaxIterations: 50, CallsThisHour: 43, MaxCallsPerHour: 100,
		TokensThisHour: 1_240_000, MaxTokensPerHour: 10_000_000,
		Status: state.StatusRunning, Agent: "claude", Model: "claude-opus-4-5",
		Task:  state.TaskStatus{ID: "#7", Title: "Add cursor pagination to the list endpoint", Done: 6, Total: 10},
		Phase: "agent", IterationStartedAt: now.Add(-252 * time.Second), LastTool: "Edit src/api/pagination.go",
		Usage:   state.Usage{InputTokens: 1_180_000, OutputTokens: 84_300, CacheReadTokens: 9_950_000, CostUSD: 3.41},
		Breaker: state.BreakerStatus{State: state.BreakerClosed},
		EndsWhen: []state.Bound{
			{Name: "no progress", Most: 3}, {Name: "same error", Have: 1, Most: 5}, {Name: "denials", Most: 2},
			{Name: "claims", Have: 1, Most: 2},
			{Name: "test-only", Most: 3}, {Name: "attempts of this task", Have: 1, Most: 10},
			{Name: "failed checks of this task", Most: 4},
			{Name: "iterations", Have: 6, Most: 50},
			{Name: state.BoundDuration, Most: 8 * 3600, From: now.Add(-72 * time.Minute)},
			{Name: state.BoundCost, Most: 20},
		},
	}
	s := view.Snapshot{
		At: now, Dir: "/home/dev/shop-api", Status: st, Alive: true,
		Owner:   state.Owner{PID: 4242, RunID: st.RunID, StartedAt: st.StartedAt},
		Breaker: state.Breaker{State: state.BreakerClosed, LastProgressLoop: 6, CurrentLoop: 7},
		Calls:   state.Calls{Hour: now.Truncate(time.Hour), Calls: 43, Tokens: 1_240_000},
	}
	return s.Settled(), events(st, now)
}

// teller stamps events, seven seconds apart.
type teller struct {
	all       []state.Event
	at        time.Time
	run       string
	iteration int
	task      string
}

func (t *teller) add(p state.Payload) {
	t.at = t.at.Add(7 * time.Second)
	e := state.NewEvent(state.Origin{Run: t.run, Iteration: t.iteration, Task: t.task}, t.at, p)
	e.Seq = int64(len(t.all) + 1)
	t.all = append(t.all, e)
}

func events(st state.Status, now time.Time) []state.Event {
	t := &teller{at: st.StartedAt, run: st.RunID}
	t.add(state.RunStart{Agent: "claude", Model: "claude-opus-4-5", Plan: "fix_plan.md", Done: 2, Total: 10})
	turned, on := "completed-turn", state.Decision{Action: state.ActionContinue, Rule: "continue"}
	for i, end := range []state.IterationEnd{
		{Decision: on, Outcome: turned, Files: 5, Seconds: 510, TaskDone: true, Done: 3},
		{Decision: state.Decision{Action: state.ActionRetry, Rule: "gate_failed",
			Reason: "required check failed: test"},
			Outcome: turned, Files: 2, Seconds: 204, Done: 3},
		{Decision: on, Outcome: turned, Files: 1, Seconds: 131, TaskDone: true, Done: 4},
		{Decision: state.Decision{Action: state.ActionRetry, Rule: "transient"},
			Outcome: "overloaded", Detail: "the API is overloaded (529)", Failed: true, Seconds: 12, Done: 4},
		{Decision: on, Outcome: turned, Seconds: 95, Done: 4},
		{Decision: on, Outcome: "timeout-with-work", Files: 12, Seconds: 900, Done: 6, TaskDone: true},
	} {
		t.iteration, t.task = i+1, fmt.Sprintf("#%d", i+1)
		end.Title, end.Total = fmt.Sprintf("task %d of the plan", i+1), 10
		end.Usage = state.Usage{InputTokens: 100000, OutputTokens: 9000, CostUSD: 0.2 + float64(i*i%5)*0.17}
		t.add(state.IterationStart{Title: end.Title})
		t.add(end.Usage)
		t.add(end)
	}
	t.iteration, t.task = 7, "#7"
	t.at = now.Add(-252 * time.Second)
	seventh(t, now)
	return t.all
}

func seventh(t *teller, now time.Time) {
	read := state.Tool{ID: "1", Name: "Read", Arg: "src/api/list.go"}
	grep := state.Tool{ID: "3", Name: "Grep", Arg: "list\\(", Parent: "2"}
	bash := state.Tool{ID: "4", Name: "Bash", Arg: "go test ./..."}
	for _, p := range []state.Payload{
		state.IterationStart{Title: "#7 Add cursor pagination to the list endpoint", Done: 6, Total: 10},
		state.SessionStart{ID: "0d9e2c1e", Model: "claude-opus-4-5"},
		state.Limit{Name: "five_hour", Utilization: 0.72, ResetsAt: now.Add(132 * time.Minute)},
		state.Text{Text: "I will look at how the list endpoint reads its parameters, then add a cursor.\n" +
			"The old offset stays for one release."},
		read,
		state.ToolResult{Tool: read, Text: "package api\n\nimport (\n\t\"net/http\"\n)\n\n" +
			"func list(w http.ResponseWriter, r *http.Request) {\n\tm[key] // [ERROR] [red]\n}\n// one\n// two"},
		state.Tool{ID: "2", Name: "Task", Arg: "find all callers of list()"},
		grep,
		state.ToolResult{Tool: grep, Text: "src/api/list.go\nsrc/cmd/export.go"},
		bash,
		state.ToolResult{Tool: bash, Error: true, Text: "--- FAIL: TestList (0.00s)\n" +
			"    list_test.go:31: want 20 items, got 0"},
		state.Denied{Tool: state.Tool{Name: "Bash", Arg: "git push"}, Reason: "not in the allowed tools"},
		state.Blocked{Host: "telemetry.example.com:443"},
		state.Text{Text: "漢字 and 🙂 stay in their cells. The test shows that the cursor is read " +
			"before it is decoded; I move the decoding in front of the query."},
		state.Check{Name: "test", Command: "go test ./...", Passed: true, Seconds: 3.2},
		state.Usage{InputTokens: 80000, OutputTokens: 7000, CostUSD: 0.61},
		state.Tool{ID: "5", Name: "Edit", Arg: "src/api/pagination.go"},
	} {
		t.add(p)
	}
}

// Checking returns a run whose checks are running, with findings and a pause request.
func Checking(now time.Time) (view.Snapshot, []state.Event) {
	s, all := Run(now)
	s.Status.Phase, s.Status.LastTool, s.Status.Pending = "checking", "check test", state.RequestPause
	s.Status.Checks = []state.CheckStatus{
		{Name: "build", Result: "passed", StartedAt: now.Add(-15 * time.Second), Seconds: 3.21},
		{Name: "lint", Result: "failed", StartedAt: now.Add(-14 * time.Second), Seconds: 1,
			RedSince: now.Add(-63 * time.Minute)},
		{Name: "test", Result: "running", StartedAt: now.Add(-12 * time.Second), Seconds: 71.5,
			RedSince: now.Add(-5 * time.Minute)},
	}
	said := func(ago time.Duration, p state.Payload) {
		all = append(all, state.NewEvent(state.Origin{Run: s.Status.RunID, Iteration: 7, Task: "#7"}, now.Add(-ago), p))
	}
	said(100*time.Second, state.Baseline{Red: []string{"test: TestOld"}})
	said(99*time.Second, state.Feedback{Items: []string{
		"The required check \"test\" fails. Reproduce it with:\n\n    go test ./...\n" +
			"--- FAIL: TestList (0.00s)\n--- FAIL: TestPage (0.00s)"}})
	said(13*time.Second, state.Finding{Source: state.FoundByAudit, Name: "fewer tests", File: "src/api/list_test.go",
		Text: "2 tests fewer than before", Answer: "the tick was taken back"})
	said(11*time.Second, state.Finding{Source: state.FoundByChecks,
		Text: "lint: flaky: passed in the second of two runs"})
	return s.Settled(), all
}
