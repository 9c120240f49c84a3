package console

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ralph/runner"
	"ralph/runner/rules"
	"ralph/state"
)

// shown is what a console of 80 columns prints of events.
func shown(c *Console, iteration int, all ...state.Payload) string {
	out := &strings.Builder{}
	c.out, c.width, c.dir = out, func() int { return 80 }, "/home/ann/todo"
	for _, p := range all {
		c.Show(state.NewEvent(state.Origin{Run: "r", Iteration: iteration, Task: "T1"}, time.Now(), p))
	}
	return out.String()
}

const failure = "ok - add\nnot ok - open\n    want: 2. [ ] bake bread"

func TestConsole_iterationWhoseCheckFails_saysNothingTwice(t *testing.T) {
	title := "`todo list --open` prints only what is still open, one line each"
	got := shown(&Console{}, 2,
		state.RunStart{Agent: "claude"},
		state.IterationStart{Title: title, Total: 3},
		state.Feedback{Items: []string{"The required check \"lint\" fails. Reproduce it with:\n\n    make lint", "Another thing."}},
		state.Tool{Name: "Edit", Arg: "/home/ann/todo/bin/todo", Hunk: "- a\n+ b"},
		state.Tool{Name: "Bash", Arg: "git add bin tests README.md .ralph/fix_plan.md && git commit -q -m 'List'"},
		state.Text{Text: "done"},
		state.Check{Name: "test", Seconds: 1, Says: "not ok - open", Output: failure},
		state.Check{Name: "test", Run: state.CheckAgain, Seconds: 1, Says: "not ok - open", Output: failure},
		state.TaskChange{ID: "T2", Title: "another task of the same plan", State: "open", Why: "it gets an iteration of its own"},
		state.IterationEnd{Decision: state.Decision{Action: "retry", Rule: "gate_failed", Reason: "required check failed: test"},
			Title: title, Outcome: "completed-turn", Files: 2, Seconds: 61, Total: 3},
	)
	want := "\n--- iteration 2 · `todo list --open` prints only what is still open, one line…\n" +
		`= told the agent: The required check "lint" fails.
> Edit bin/todo
> Bash git add bin tests README.md .ralph/fix_plan.md && git commit -q -m…
! check test: failed in 1.0s: not ok - open
! second run of check test: failed in 1.0s
= "another task of the same plan" is open again: it gets an iteration of its own
--- iteration 2 not done yet after 1m 01s · 2 files changed
= retrying: required check failed: test (rule gate_failed)
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestConsole_longFailures_areTheirFirstLine(t *testing.T) {
	long := strings.Repeat("a word and ", 12)
	got := shown(&Console{}, 2,
		state.Check{Name: "test", Seconds: 1, Says: "TestAdd: " + long, Output: "--- FAIL: TestAdd\n" + long},
		state.AgentError{Text: "first\n\nsecond"},
		state.Denied{Tool: state.Tool{Name: "Bash", Arg: "git push"}, Reason: "not allowed"},
		state.Finding{Source: state.FoundByAudit, File: "a.go", Text: "a.go: it is a stub:\nreturn nil"},
	)
	want := `! check test: failed in 1.0s: TestAdd: a word and a word and a word and a word
    and a word and a word and a word and a word and a word and a word and a
    word and a word and
| ! first
! denied: Bash git push: not allowed
! audit: a.go: it is a stub:
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestConsole_onATerminal_breaksNoWordAndColorsByRole(t *testing.T) {
	long := state.Decision{Action: "retry", Rule: "gate_failed", Reason: strings.Repeat("wonderful /home/ann/todo/bin ", 5)}
	for _, l := range strings.Split(strings.TrimSpace(shown(&Console{}, 2, long)), "\n") {
		if rest := strings.NewReplacer("wonderful", "", "bin", "", "= retrying:", "", "(rule gate_failed)", "").Replace(l); strings.TrimSpace(rest) != "" {
			t.Errorf("a word is broken: %q", l)
		}
	}
	got := shown(&Console{color: true}, 2, state.Check{Name: "test", Passed: true}, state.Tool{Name: "Bash", Arg: "\x1b[1mls"},
		state.Finding{Source: state.FoundByAudit, Text: "x"})
	want := "\x1b[32m= check test: passed in 0.0s\x1b[0m\n\x1b[36m> Bash ls\x1b[0m\n\x1b[31m! audit: x\x1b[0m\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestConsole_command_staysInOneLine(t *testing.T) {
	c, out := &Console{}, &strings.Builder{}
	shown(c, 0)
	c.out = out
	command := "  gh pr create --title " + strings.Repeat("word ", 30)
	if c.Command("%s", command); out.String() != command+"\n" {
		t.Errorf("%q", out)
	}
}

// The monitor beside it shows the rest.
func TestConsole_besideTheMonitor_printsHeadlinesOnly(t *testing.T) {
	red := state.Decision{Action: "retry", Rule: "gate_failed", Reason: "required check failed: test"}
	limit := state.Decision{Action: "wait", Rule: "usage_limit", Reason: "a limit", WakeAt: time.Now().Add(time.Hour)}
	got := shown(&Console{watched: true, plain: func(string) bool { return true }}, 2,
		state.Check{Name: "test", Run: state.CheckBaseline, Passed: true}, state.IterationStart{Title: "one", Total: 3},
		state.Tool{Name: "Bash", Arg: "ls"}, state.Text{Text: "I begin."}, state.Denied{Reason: "no"}, state.AgentError{Text: "oh"},
		state.Feedback{Items: []string{"first"}}, state.Check{Name: "test", Seconds: 1, Output: failure},
		state.Check{Name: "test", Run: state.CheckAgain}, state.Finding{Source: state.FoundByAudit, Text: "x"},
		state.TaskChange{ID: "T1", Title: "one", State: "open"},
		state.IterationEnd{Decision: red, Title: "one", Outcome: "completed-turn", Files: 2, Seconds: 61, Total: 3},
		state.Question{ID: "q1", Ask: state.Ask{Text: "which?"}}, state.Decision{Action: "continue", Rule: "question"}, limit)
	want := "\n--- iteration 2 · one\n! check test: failed in 1.0s\n--- iteration 2 not done yet after 1m 01s · 2 files changed\n" +
		"= the agent asks q1: which?\n= waiting until " + limit.WakeAt.Local().Format("15:04") + ": a limit (rule usage_limit)\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	out := &strings.Builder{}
	(&Console{out: out, watched: true}).End(runner.Ending{Decision: rules.Decision{Reason: "why", Next: "ralph resume"}})
	if !strings.HasSuffix(out.String(), "\nralph: next: ralph resume\n") {
		t.Errorf("%q", out)
	}
}

// The last lines of a run say why it stopped; so nothing above them does.
func TestConsole_stop_isGivenItsReasonOnceAtTheEnd(t *testing.T) {
	const why = "not logged in: Please run /login"
	c := &Console{}
	stop := state.Decision{Action: "stop", Rule: "agent_unusable", Reason: why}
	got := shown(c, 1, state.IterationStart{Title: "one", Total: 1},
		state.IterationEnd{Decision: stop, Title: "one", Outcome: "auth", Detail: why, Failed: true, Total: 1}, stop,
		state.RunEnd{Decision: stop, Exit: 6})
	if want := "\n--- iteration 1 · one\n--- iteration 1 failed: auth · no files changed\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	out := &strings.Builder{}
	c.out = out
	c.End(runner.Ending{Decision: rules.Decision{Rule: "agent_unusable", Reason: why, Exit: 6}})
	if strings.Count(out.String(), why) != 1 {
		t.Errorf("%q", out)
	}
}

func TestConsole_end_saysWhatIsNotCommitted(t *testing.T) {
	out := &strings.Builder{}
	(&Console{out: out}).End(runner.Ending{Unproved: true, Decision: rules.Decision{Rule: "complete", Reason: "done"},
		Uncommitted: []state.Refusal{{File: "a.go", Why: "too large"}, {File: "mine.go", Why: "it was changed before the run"}}})
	for _, want := range []string{"ralph: not committed: mine.go (it was changed before the run) and 1 more; see: git status\n",
		"ralph: the latest work is not committed, because a check that must pass fails; see: git status\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q, want %q", out, want)
		}
	}
}

func TestConsole_review_namesEachItemOnce(t *testing.T) {
	out := &strings.Builder{}
	item := state.ReviewItem{N: 1, Text: "a_test.go: the test file was deleted", Show: "ralph diff 1"}
	(&Console{out: out}).End(runner.Ending{Findings: 1, Decision: rules.Decision{
		Rule: "review", Reason: "1 of 1 tasks are done, but it needs your review: " + item.Text, Exit: state.ExitReview,
		ExitReason: "review", Status: state.StatusReview, Review: []state.ReviewItem{item}, Next: "ralph diff 1, then: ralph accept"}})
	want := `ralph: needs your review after 0 iterations
ralph: next: ralph diff 1, then: ralph accept
ralph: why: everything is done, but it needs your review (rule review, exit code 9)
ralph: look 1: a_test.go: the test file was deleted; show: ralph diff 1; accept: ralph accept 1
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
}

// Without a terminal there is no countdown, and the event has said how long it takes.
func TestConsole_waitWithoutATerminal_isSaidOnce(t *testing.T) {
	c := &Console{}
	until := time.Now().Add(time.Hour)
	before := shown(c, 1, state.Decision{Action: "wait", Rule: "usage_limit", Reason: "limit", WakeAt: until}, state.Paused{})
	if strings.Count(before, "\n") != 2 {
		t.Errorf("%q", before)
	}
	out := &strings.Builder{}
	c.out = out
	for range 3 {
		c.Tick(0, rules.Decision{}) // paused
	}
	if out.Len() > 0 {
		t.Errorf("a pause: %q", out)
	}
	for range 3 {
		c.Tick(time.Hour, rules.Decision{Until: until, Rule: "usage_limit"})
	}
	if got := out.String(); got != "continue now with: ralph resume\n" {
		t.Errorf("a wait: %q", got)
	}
	out.Reset()
	for range 3 {
		c.Tick(time.Second, rules.Decision{Until: until.Add(1), Rule: "transient"})
	}
	if out.Len() > 0 {
		t.Errorf("a short wait: %q", out)
	}
}

func TestConsole_live_showsEverything(t *testing.T) {
	got := shown(&Console{live: true}, 1,
		state.Text{Text: "I begin."},
		state.Feedback{Items: []string{"first\nsecond"}},
		state.Check{Name: "test", Run: state.CheckAgain, Output: failure},
		state.IterationEnd{Title: "one", TaskDone: true})
	for _, want := range []string{"I begin.", "second", "not ok - open", `"one" done`} {
		if !strings.Contains(got, want) {
			t.Errorf("lacks %q:\n%s", want, got)
		}
	}
}

// Iterations that a person aborted are not among those that are counted.
func TestConsole_stoppedByAPerson_countsWhatFinished(t *testing.T) {
	out := &strings.Builder{}
	c := &Console{out: out}
	for exitReason, want := range map[string]string{"interrupted": "stopped after 0 finished iterations,", "aborted": "stopped after 0 finished iterations,",
		"max_cost": "stopped after 0 iterations,"} {
		out.Reset()
		if c.End(runner.Ending{Decision: rules.Decision{Status: state.StatusStopped, ExitReason: exitReason}, Total: 2}); !strings.Contains(out.String(), want) {
			t.Errorf("%s: %s", exitReason, out)
		}
	}
}
