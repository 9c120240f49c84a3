package summary

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ralph/internal/sample"
	"ralph/logs/termtext"
	"ralph/state"
	"ralph/state/view"
)

var rewrite = flag.Bool("update", false, "rewrite the golden files")

func TestMain(m *testing.M) {
	time.Local = time.UTC
	os.Exit(m.Run())
}

var noon = sample.Noon

func folded(s view.Snapshot, events []state.Event) *view.Model {
	m := &view.Model{}
	m.Apply(view.Update{Snapshot: s, Events: events})
	return m
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *rewrite {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != got {
		t.Errorf("%s differs; got\n%s\nwant\n%s", path, got, want)
	}
}

func TestOf_clockSetBackOrFarAhead_showsNoNonsense(t *testing.T) {
	s, events := sample.Run(noon)
	for _, shift := range []time.Duration{-48 * time.Hour, -time.Minute, 400 * 24 * time.Hour} {
		s.At = noon.Add(shift)
		s = s.Settled()
		v := Of(folded(s, events), noon.Add(shift))
		all := view.Join(" ", v.What, v.Elapsed, v.Gauges[0].Value, v.Gauges[0].Note)
		if strings.Contains(all, "-") && !strings.Contains(all, "sub-agent") || s.Age < 0 {
			t.Errorf("shifted by %v: %q, age %v", shift, all, s.Age)
		}
		for _, g := range v.Gauges {
			if g.Part > 1 {
				t.Errorf("shifted by %v: %+v", shift, g)
			}
		}
	}
}

func TestOf_countersOfAnHourThatIsOver_areZero(t *testing.T) {
	s, _ := sample.Run(noon)
	for at, want := range map[time.Time]string{noon: "43/100", noon.Add(29*time.Minute + 59*time.Second): "43/100", noon.Add(30 * time.Minute): "0/100"} {
		if v := Of(folded(s, nil), at); v.Gauges[0].Value != want {
			t.Errorf("at %v calls are %q, want %q", at, v.Gauges[0].Value, want)
		}
	}
}

func TestOf_taskOfARunThatHasEnded_isTheLastOneOrTheNextOne(t *testing.T) {
	s, events := sample.States(noon)["halted"]()
	if v := Of(folded(s, events), noon); !v.Plan.Last {
		t.Errorf("the run worked on %q, but it is not the last task", v.Plan.Task)
	}
	recalled := view.Model{Snapshot: s} // as ralph status reads it
	recalled.Recall(sample.New(t, s, events).Reader())
	if out := Text(&recalled, noon, 0); !strings.Contains(out, "done · last: #7 ") {
		t.Errorf("ralph status does not say that the task is the last one:\n%s", out)
	}
	s.Status.Task.ID = "#8" // what an undo leaves
	if v := Of(folded(s, events), noon); v.Plan.Last {
		t.Errorf("the run did not work on %q, but it is the last task", v.Plan.Task)
	}
	s, events = sample.Run(noon)
	if v := Of(folded(s, events), noon); v.Plan.Last {
		t.Error("the run works on it")
	}
}

func TestOf_everyPhase_saysWhoIsAtWork(t *testing.T) {
	s, events := sample.Run(noon) // the latest tool has no answer yet
	for phase, want := range map[string]string{
		"agent": "4m 12s in · 1 sub-agent · Edit src/api/pagination.go", "observing": "4m 12s in · looking at the changes", "checking": "checking", "starting": "4m 12s in · starting",
	} {
		s.Status.Phase = phase
		if v := Of(folded(s, events), noon); v.What != want {
			t.Errorf("%s: %q, want %q", phase, v.What, want)
		}
	}
}

// Tools come and go; the file is what a person wants to know.
func TestOf_agentWorks_namesItsFileUntilTheCallIsOver(t *testing.T) {
	s, events := sample.Run(noon)
	at := func(p state.Payload) state.Event {
		return state.NewEvent(state.Origin{Run: s.Status.RunID, Iteration: 7}, noon, p)
	}
	add := func(more ...state.Payload) string {
		for _, p := range more {
			events = append(events, at(p))
		}
		return Of(folded(s, events), noon).What
	}
	edit := state.Tool{ID: "e", Name: "Edit", Arg: s.Dir + "/src/a.go", File: true}
	if got := add(edit); got != "4m 12s in · 1 sub-agent · Edit src/a.go" {
		t.Error(got)
	}
	if got := add(state.ToolResult{Tool: edit}, state.Tool{ID: "b", Name: "Bash", Arg: "go test ./..."}); got != "4m 12s in · 1 sub-agent · Bash go test ./... · file src/a.go" {
		t.Error(got)
	}
	if got := add(state.IterationEnd{Outcome: "completed-turn"}, state.IterationStart{Title: "next"}); strings.Contains(got, "src/a.go") {
		t.Error(got)
	}
}

func TestOf_runnerSilentForLong_saysSo(t *testing.T) {
	s, _ := sample.Run(noon)
	s.Status.Timestamp = noon.Add(-40 * time.Second)
	s = s.Settled()
	if v := Of(folded(s, nil), noon); !strings.Contains(v.What, "been silent for 40s") {
		t.Errorf("news are %q", v.What)
	}
}

func TestOf_waiting_countsDownAndNamesTheWindow(t *testing.T) {
	s, _ := sample.States(noon)["waiting"]()
	for after, want := range map[time.Duration]string{0: "1h 01m left", time.Hour: "1m left", 2 * time.Hour: "0s left"} {
		v := Of(folded(s, nil), noon.Add(after))
		if !strings.HasPrefix(v.What, want) || !strings.Contains(v.What, "5-hour usage limit") {
			t.Errorf("after %v: %q, want %q", after, v.What, want)
		}
	}
	v := Of(folded(s, nil), noon)
	if g := v.Gauges[2]; g.Value != "reached" || g.Part != 1 || g.Tone != Bad {
		t.Errorf("the window is %+v", g)
	}
	if v := Of(folded(s, nil), noon.Add(2*time.Hour)); len(v.Gauges) != 2 {
		t.Errorf("a window that has ended is still shown: %+v", v.Gauges)
	}
}

// The task of the latest iteration may be finished, while others wait for an answer.
func TestOf_waitsForAnAnswer_namesNoTaskAsCurrentAndForecastsNothing(t *testing.T) {
	s, events := sample.Run(noon)
	for _, rule := range []string{state.RuleUsageLimit, state.RuleQuestion} {
		s.State, s.Status.Status, s.Status.Rule = state.StatusWaiting, state.StatusWaiting, rule
		v := Of(folded(s, events), noon)
		if asks := rule == state.RuleQuestion; v.Plan.Last != asks || (v.Plan.Ahead == "") != asks {
			t.Errorf("%s: last %t, ahead %q", rule, v.Plan.Last, v.Plan.Ahead)
		}
	}
}

func TestOf_haltedAndThenReset_doesNotAdviseToResetAgain(t *testing.T) {
	s, events := sample.States(noon)["halted"]()
	m := folded(s, events)
	for breaker, want := range map[string]string{state.BreakerOpen: "then: ralph reset --circuit && ralph resume", state.BreakerClosed: "then: ralph resume"} {
		m.Breaker.State = breaker
		if v := Of(m, noon); !strings.HasSuffix(v.Advice, want) {
			t.Errorf("%s: %q", breaker, v.Advice)
		}
	}
}

func TestText_everyState_saysItInWordsWithinTheWidth(t *testing.T) {
	for name, make := range sample.States(noon) {
		for _, width := range []int{40, 80, 160} {
			s, _ := make()
			got := Text(folded(s, nil), noon, width)
			if width == 80 {
				golden(t, "status-"+name+".txt", got)
			}
			lines := strings.Split(strings.TrimSuffix(got, "\n"), "\n")
			if len(lines) > 22 { // a screen of 24 rows, with the prompt
				t.Errorf("%s has %d lines", name, len(lines))
			}
			for _, l := range lines {
				if termtext.Width(l) > width {
					t.Errorf("%s at %d has %q", name, width, l)
				}
			}
		}
	}
}

func TestOf_newestIterationAndTask_areNamedForPeople(t *testing.T) {
	s, events := sample.Run(noon)
	next := state.Origin{Run: s.Status.RunID, Iteration: 8}
	events = append(events, state.NewEvent(next, noon, state.IterationStart{}))
	s.Status.Task.ID = "f95a7a4f" // computed from the text of a plan without ids
	m := folded(s, events)
	v := Of(m, noon)
	if v.Iteration != "iteration 8 of 50" {
		t.Errorf("the iteration is %q although the events are ahead of the status", v.Iteration)
	}
	if v.Plan.Task != "Add cursor pagination to the list endpoint" {
		t.Errorf("the task is %q", v.Plan.Task)
	}
	if eighth, seventh := Row(m, 7, noon), Row(m, 6, noon); eighth.Tone != Busy || seventh.Text != "cut off, 5 tool calls" {
		t.Errorf("the iterations are %+v, %+v", eighth, seventh)
	}
	for id, want := range map[string]string{"US-001": "US-001 Add", "": "Add", "deadbeef12": "Add", "#7": "#7 Add"} {
		if p := newPlan(state.Status{Task: state.TaskStatus{ID: id, Title: "Add"}}); p.Task != want {
			t.Errorf("the task with id %q is %q, want %q", id, p.Task, want)
		}
	}
}

func TestRow_iterationThatAPersonOrTheAgentCutShort_isNoSuccess(t *testing.T) {
	for _, c := range []struct {
		end        state.IterationEnd
		mark, text string
	}{
		{state.IterationEnd{Outcome: "killed-by-signal", Failed: true, Cut: "skip"}, "»", "skipped, no change"},
		{state.IterationEnd{Outcome: "killed-by-signal", Failed: true, Cut: "abort"}, "»", "aborted, no change"},
		{state.IterationEnd{Outcome: view.CompletedTurn, Says: "BLOCKED", Files: 1}, "!", "the agent is blocked, 1 file"},
		{state.IterationEnd{Outcome: view.CompletedTurn, Says: "ERROR", Files: 1}, "!", "the agent reports an error, 1 file"},
		{state.IterationEnd{Outcome: view.CompletedTurn, Says: "BLOCKED", Files: 1, Decision: state.Decision{Action: "stop", Rule: "plan_complete"}}, "!", "the agent is blocked, plan complete, 1 file"},
		{state.IterationEnd{Outcome: view.CompletedTurn, Says: "BLOCKED", Files: 1, TaskDone: true, Decision: state.Decision{Action: "continue", Rule: "review_passed"}}, "!", "done, the agent is blocked, review passed, 1 file"},
		{state.IterationEnd{Outcome: view.CompletedTurn, Says: "IN_PROGRESS", Files: 1}, "✓", "1 file"},
	} {
		if c.end.Decision.Rule == "" {
			c.end.Decision = state.Decision{Action: "continue", Rule: "continue"}
		}
		m := &view.Model{}
		for _, p := range []state.Payload{state.IterationStart{}, c.end} {
			m.Run.Add(state.NewEvent(state.Origin{Iteration: 1}, noon, p))
		}
		if r := Row(m, 0, noon); r.Mark != c.mark || r.Text != c.text {
			t.Errorf("%+v: %q %q", c.end, r.Mark, r.Text)
		}
	}
}

func TestChecks_sayResultTimeAndSinceWhenRed_thoseThatNeedALookFirst(t *testing.T) {
	now := time.Date(2026, 11, 20, 7, 40, 0, 0, time.Local)
	checks := []state.CheckStatus{
		{Name: "build", Result: "passed", Seconds: 1.25},
		{Name: "slow", Result: "passed", Seconds: 75},
		{Name: "test\x1b[31m", Result: "failed", RedSince: now.Add(-10 * time.Minute)},
		{Name: "lint", Result: "running", StartedAt: now.Add(-3 * time.Second)},
		{Name: "e2e", Result: "running", StartedAt: now.Add(-2 * time.Minute), RedSince: now.Add(-time.Hour)},
	}
	for _, c := range []struct{ status, want string }{
		{state.StatusRunning, "● lint running 3s|● e2e running 2m 00s, red since 06:40|✗ test failed since 07:30|✓ build passed 1.2s|✓ slow passed 1m 15s"},
		{view.StateCrashed, "? lint cut off|? e2e cut off|✗ test failed since 07:30|✓ build passed 1.2s|✓ slow passed 1m 15s"},
	} {
		var got []string
		m := view.Model{Snapshot: view.Snapshot{State: c.status, Status: state.Status{RunID: "r", Status: state.StatusRunning, Checks: checks}}}
		for _, v := range checkLines(&m, now) {
			got = append(got, v.Mark+" "+v.Text)
		}
		if strings.Join(got, "|") != c.want {
			t.Errorf("%s: %q, want %q", c.status, strings.Join(got, "|"), c.want)
		}
	}
}

func TestText_feedback_isNoFinding(t *testing.T) {
	m := &view.Model{Snapshot: view.Snapshot{State: state.StatusRunning}}
	m.Run.Add(state.NewEvent(state.Origin{Run: "r", Iteration: 1}, noon, state.Feedback{Items: []string{"the check fails"}}))
	if got := Text(m, noon, 0); !strings.Contains(got, "\nfeedback  14:30 told the agent: the check fails") || strings.Contains(got, "\nfinding") {
		t.Errorf("%s", got)
	}
}

func TestText_findings_areNamed(t *testing.T) {
	s, events := sample.Checking(noon)
	p := sample.New(t, s, events)
	m := &view.Model{Snapshot: s}
	m.Recall(p.Reader())
	got := Text(m, noon, 0)
	if n := strings.Count(got, "\nfinding"); n != 2 || !strings.Contains(got, "finding   14:29 checks: lint: flaky") || strings.Contains(got, "told") {
		t.Errorf("%d findings in\n%s", n, got)
	}
	if got := Text(&view.Model{Snapshot: s}, noon, 0); strings.Contains(got, "finding") || !strings.Contains(got, "lint failed since") {
		t.Errorf("without events:\n%s", got)
	}
}

func TestCount_tokens_areShort(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0", 999: "999", 1000: "1k", 12_345: "12.3k", 999_499: "999k", 999_500: "1M", 1_240_000: "1.2M", 12_000_000_000: "12G",
	} {
		if got := Count(n); got != want {
			t.Errorf("Count(%d) is %q, want %q", n, got, want)
		}
	}
}

func TestText_chosenAgent_isShownAsNext(t *testing.T) {
	s, events := sample.Run(noon)
	s.Next = state.AgentUse{Agent: "codex", Model: "mini"}
	if got := Text(folded(s, events), noon, 120); !strings.Contains(got, " · next: codex mini · run ") {
		t.Errorf("%s", got)
	}
}

func TestText_whatEndsTheRun_fitsInto80Columns(t *testing.T) {
	s, events := sample.Run(noon)
	got := Text(folded(s, events), noon, 0)
	_, ends, _ := strings.Cut(got, "\nstuck ")
	for _, line := range strings.Split(ends, "\n") {
		if termtext.Width(line) > 80 {
			t.Errorf("%d columns: %s", termtext.Width(line), line)
		}
	}
	for _, want := range []string{"limits    says it is done 1/2", "cost $3.41/$20.00", "iterations 6/50"} {
		if strings.Count(ends, want) != 1 {
			t.Errorf("not once: %s\n%s", want, ends)
		}
	}
}

func TestOf_bounds_standWithTheNearestFirst(t *testing.T) {
	m := &view.Model{Snapshot: view.Snapshot{At: noon, Alive: true, Status: state.Status{Status: state.StatusRunning, Timestamp: noon, StartedAt: noon.Add(-90 * time.Minute),
		Usage: state.Usage{CostUSD: 4.5},
		EndsWhen: []state.Bound{{Name: "no progress", Most: 3}, {Name: "claims", Have: 1, Most: 2}, {Name: "iterations", Have: 7, Most: 7},
			{Name: state.BoundDuration, Most: 6 * 3600, From: noon.Add(-90 * time.Minute)}, {Name: state.BoundCost, Most: 5}, {Name: "torn"},
			{Name: state.BoundUntil, Most: 8*3600 - 0.7000000001, From: noon.Add(-time.Hour + 700*time.Millisecond)}}}}.Settled()}
	want := []End{{"iterations 7/7", Bad, false}, {"cost $4.50/$5.00", Warn, false}, {"says it is done 1/2", Warn, false}, {"time 1h 30m/6h 00m", Calm, false}, {"until 21:30, 7h 00m left", Calm, false}, {"no progress 0/3", Calm, true}}
	if diff := cmp.Diff(want, Of(m, noon).Ends, cmp.AllowUnexported(End{})); diff != "" {
		t.Error(diff)
	}
}

func TestRow_reviewers_sayWhatTheyThink(t *testing.T) {
	for _, c := range []struct {
		rule, mark, text string
		verdicts         []state.Verdict
	}{
		{"review_passed", "✓", "review: qa: pass", []state.Verdict{{Name: "qa", Verdict: state.VerdictPass}}},
		{"review_refused", "!", "review: Security Auditor: fail, UX Designer: 60 of 100, needs 70",
			[]state.Verdict{{Name: "Security Auditor", Verdict: state.VerdictFail, Weight: 1}, {Name: "UX Designer", Verdict: state.VerdictPass, Score: 60, Threshold: 70, Weight: 3}}},
	} {
		m := &view.Model{}
		all := []state.Payload{state.IterationStart{}}
		for _, v := range c.verdicts {
			all = append(all, v)
		}
		for _, p := range append(all, state.IterationEnd{Outcome: view.CompletedTurn, Decision: state.Decision{Action: "continue", Rule: c.rule}}) {
			m.Run.Add(state.NewEvent(state.Origin{Iteration: 1}, noon, p))
		}
		if r := Row(m, 0, noon); r.Mark != c.mark || r.Text != c.text {
			t.Errorf("%s: %q %q", c.rule, r.Mark, r.Text)
		}
		m.Status.Verdicts = c.verdicts
		if text := Text(m, noon, 0); !strings.Contains(text, "\nreview    "+c.verdicts[0].Line()) {
			t.Errorf("ralph status does not say it:\n%s", text)
		}
		score, of := state.PanelScore(c.verdicts)
		panel := fmt.Sprintf("\n          the panel, by weight: %d of 100", score)
		if text := Text(m, noon, 0); strings.Contains(text, panel) != (of > 1) {
			t.Errorf("the score of all in ralph status:\n%s", text)
		}
	}
}

func TestOf_agentReportsNoTokens_noneAreShown(t *testing.T) {
	for _, c := range []struct {
		alive       bool
		loops       int
		hour        int64 // tokens
		state, want string
	}{
		{true, 0, 0, state.StatusRunning, "0 this hour"}, {true, 2, 0, state.StatusRunning, "-"},
		{false, 0, 0, state.StatusFailed, "-"}, {false, 1, 0, state.StatusFailed, "-"},
		{false, 1, 950, state.StatusFailed, "950 this hour"}, // of an earlier run
	} {
		m := &view.Model{Snapshot: view.Snapshot{At: noon, Alive: c.alive, State: c.state, Status: state.Status{RunID: "r1", Status: c.state,
			Timestamp: noon, LoopCount: c.loops}, Calls: state.Calls{Hour: noon, Tokens: c.hour}}}
		if got := Of(m, noon).Gauges[1].Value; got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
}
