package monitor

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ralph/state"
)

// checking is a run whose checks run, with what they and the audit have found,
// and with a pause to come.
func checking(now time.Time) (Snapshot, []state.Event) {
	s, events := runOf(now)
	s.Status.Phase, s.Status.LastTool, s.Status.Pending = "checking", "check test", state.RequestPause
	s.Status.Checks = []state.CheckStatus{
		{Name: "build", Result: "passed", StartedAt: now.Add(-15 * time.Second), Seconds: 3.21},
		{Name: "lint", Result: "failed", StartedAt: now.Add(-14 * time.Second), Seconds: 1, RedSince: now.Add(-63 * time.Minute)},
		{Name: "test", Result: "running", StartedAt: now.Add(-12 * time.Second), Seconds: 71.5, RedSince: now.Add(-5 * time.Minute)},
	}
	said := func(ago time.Duration, rule, text string) {
		events = append(events, state.Event{Time: now.Add(-ago), Run: s.Status.RunID, Iteration: 7, Kind: state.KindDecision, Text: text, Error: rule == "audit",
			End: &state.End{Action: "continue", Rule: rule}})
	}
	said(100*time.Second, "baseline", "red before the agent did anything: test: TestOld")
	said(99*time.Second, "feedback", "The required check \"test\" fails. Reproduce it with:\n\n    go test ./...\n--- FAIL: TestList (0.00s)\n--- FAIL: TestPage (0.00s)")
	said(13*time.Second, "audit", "audit: src/api/list_test.go: 2 tests fewer than before; the tick was taken back")
	said(11*time.Second, "checks", "lint: flaky: passed in the second of two runs")
	s.settle()
	return s, events
}

func TestCheckViews_sayResultTimeAndSinceWhenRed_thoseThatNeedALookFirst(t *testing.T) {
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
		{StateDead, "? lint cut off|? e2e cut off|✗ test failed since 07:30|✓ build passed 1.2s|✓ slow passed 1m 15s"},
	} {
		var got []string
		for _, v := range checkViews(Snapshot{State: c.status, Status: state.Status{Checks: checks}}, now) {
			got = append(got, v.Mark+" "+v.Text)
		}
		if strings.Join(got, "|") != c.want {
			t.Errorf("%s: %q, want %q", c.status, strings.Join(got, "|"), c.want)
		}
	}
}

func TestScreen_aCheckRuns_itsSecondsTickAndTheAgentIsNotSaidToWork(t *testing.T) {
	for _, size := range sizes {
		s, events := statesOf(noon)["checking"]()
		u := still(s, events, noon)
		screen := simulate(t, size[0], size[1])
		for _, after := range []int{0, 1, 50} {
			now := noon.Add(time.Duration(after) * time.Second)
			s.Status.Timestamp = now
			u.o.Now = func() time.Time { return now }
			u.apply(update{snap: s})
			u.drawOn(screen)
			got := text(screen)
			for _, want := range []string{"check test runs, " + span(time.Duration(12+after)*time.Second), "test running " + span(time.Duration(12+after)*time.Second), "red since 14:25", "lint failed", "pause asked; after this iteration"} {
				if !strings.Contains(got, want) {
					t.Errorf("%v after %d s lacks %q:\n%s", size, after, want, got)
				}
			}
			if strings.Contains(got, "Edit src/api/pagination.go ·") || strings.Contains(strings.Split(got, "\n")[1], "agent") {
				t.Errorf("%v says that the agent works:\n%s", size, got)
			}
		}
	}
}

func TestLog_feedbackAndFindings_areWholeMarkedInWordsAndFound(t *testing.T) {
	s, events := statesOf(noon)["checking"]()
	u := still(s, events, noon)
	u.o.NoColor = true
	screen := simulate(t, 80, 24)
	u.show(panelLog)
	u.drawOn(screen)
	got := text(screen)
	for _, want := range []string{"» told the agent: The required check \"test\" fails. Reproduce it with:\n", "│     go test ./...\n│ --- FAIL: TestList (0.00s)\n│ --- FAIL: TestPage", "✗ audit: src/api/list_test.go: 2 tests fewer", "! checks: lint: flaky", "! baseline: red before"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	for _, query := range []string{"told the agent", "testpage", "taken back", "flaky"} {
		u.log.query, u.log.found.line = query, -1
		if !u.log.search(-1) {
			t.Errorf("%q is not found", query)
		}
	}
	u.show(panelChecks)
	u.drawOn(screen)
	got = text(screen)
	last := -1
	for _, want := range []string{"● test running 12s, red since 14:25", "✗ lint failed since 13:27", "✓ build passed 3.2s", "14:29 checks: lint", "14:29 audit: src", "taken back", "14:28 told the agent: The required check \"test\" fails.\n", "14:28 baseline: red"} {
		at := strings.Index(got, want)
		if at <= last {
			t.Errorf("%q is at %d, after %d, in\n%s", want, at, last, got)
		}
		last = at
	}
}

func TestHistory_notes_areBoundedAndNoIterations(t *testing.T) {
	var h history
	for i := range 3 * maxNotes {
		h.add(state.Event{Time: noon, Run: "r", Iteration: i + 1, Kind: state.KindDecision, Text: fmt.Sprintf("number %d", i), End: &state.End{Rule: "checks"}})
	}
	if len(h.notes) != maxNotes || h.notes[maxNotes-1].text != fmt.Sprintf("checks: number %d", 3*maxNotes-1) || len(h.Rounds) > 0 {
		t.Errorf("%d notes, the last %q, %d iterations", len(h.notes), h.notes[len(h.notes)-1].text, len(h.Rounds))
	}
}

func TestRecall_findingsOfThisRun_areInTheStatusText(t *testing.T) {
	s, events := statesOf(time.Now())["checking"]()
	p := newProject(t, s, nil)
	finding := func(run, rule string, n int) state.Event {
		return state.Event{Time: time.Now(), Run: run, Kind: state.KindDecision, Text: fmt.Sprintf("number %d", n), End: &state.End{Rule: rule}}
	}
	p.add(finding(s.Status.RunID, "audit", 1), finding(s.Status.RunID, "checks", 2))
	p.add(events...) // two findings, and what the agent was told
	p.add(finding("before", "audit", 1))
	p.add(state.Event{Run: s.Status.RunID, Kind: state.KindText, Text: strings.Repeat(`"rule":"audit" `, 100<<10)})
	got := RenderStatus(Gather(state.Open(p.stateDir()), time.Now()).Recall(state.Open(p.stateDir())), 0)
	if n := strings.Count(got, "\nfinding"); n != 3 || !strings.Contains(got, "checks: number 2\n") || strings.Contains(got, "number 1") || strings.Contains(got, "told") {
		t.Errorf("%d findings in\n%s", n, got)
	}
	if err := os.Remove(state.Open(p.stateDir()).EventsPath()); err != nil {
		t.Fatal(err)
	}
	if got := RenderStatus(s.Recall(state.Open(p.stateDir())), 0); strings.Contains(got, "finding") || !strings.Contains(got, "lint failed since") {
		t.Errorf("without events:\n%s", got)
	}
}

func TestRun_firstIteration_showsItsChecksItsRawOutputAndThePauseToCome(t *testing.T) {
	s, _ := runOf(time.Now())
	s.Owner.PID = os.Getpid()
	pr := newProject(t, s, nil)
	s.Status.LoopCount, s.Status.IterationStartedAt = 0, time.Time{}
	s.Status.Checks = []state.CheckStatus{{Name: "test", Result: "running", StartedAt: time.Now()}}
	pr.json("status.json", s.Status)
	p := openPane(t, pr.dir, [2]int{100, 30})
	p.shows("RUNNING", "check test runs, ", "6 Checks")
	before := p.screen()
	p.wait("the next second", func(s string) bool { return strings.Contains(s, "check test runs, ") && s != before })
	p.keys("r")
	p.shows("no iteration has begun yet")

	s.Status.IterationStartedAt, s.Status.Checks, s.Status.Pending = time.Now(), nil, state.RequestPause
	pr.json("status.json", s.Status)
	p.shows("iteration 1 of 50", "pause asked; after this iteration", "p resume")
	p.keys("r")
	p.shows("iteration 1 has printed nothing yet")
	raw := state.Open(pr.stateDir()).RawPath(s.Status.RunID, 1)
	if err := os.MkdirAll(filepath.Dir(raw), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(raw, []byte("the first words\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p.keys("r")
	p.shows("Raw output of iteration 1", "the first words")
	p.keys("p")
	p.shows("resume will act soon")
}
