package monitor

import (
	"os"
	"strings"
	"testing"
	"time"

	"ralph/internal/sample"
	"ralph/monitor/canvas"
	"ralph/state"
	"ralph/state/view"
)

func TestScreen_aCheckRuns_itsSecondsTickAndTheAgentIsNotSaidToWork(t *testing.T) {
	for _, size := range sizes {
		s, events := sample.States(noon)["checking"]()
		u := still(t, s, events)
		screen := simulate(t, size[0], size[1])
		for _, after := range []int{0, 1, 50} {
			now := noon.Add(time.Duration(after) * time.Second)
			s.Status.Timestamp = now
			u.o.Now = func() time.Time { return now }
			u.apply(view.Update{Snapshot: s})
			u.drawOn(screen)
			got := text(screen)
			lasts := view.Span(time.Duration(12+after) * time.Second)
			for _, want := range []string{"check test is running, " + lasts, "test running " + lasts, "red since 14:25", "lint failed", "pause requested, after this iteration"} {
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
	s, events := sample.States(noon)["checking"]()
	s.Status.Review = []state.ReviewItem{{N: 1, Text: "src/api/list_test.go: 2 tests fewer", Show: "ralph diff 3"}}
	u := still(t, s, events)
	u.theme = canvas.Theme{}
	screen := simulate(t, 80, 24)
	u.run.alone = true
	u.drawOn(screen)
	got := text(screen)
	for _, want := range []string{"» told the agent: The required check \"test\" fails. Reproduce it with:\n", "│     go test ./...\n│ --- FAIL: TestList (0.00s)\n│ --- FAIL: TestPage", "✗ audit: src/api/list_test.go: 2 tests fewer", "! checks: lint: flaky", "! failed before the agent started: test: TestOld"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	for _, query := range []string{"told the agent", "testpage", "taken back", "flaky"} {
		u.run.log.setQuery(query)
		if !u.run.log.search(-1) {
			t.Errorf("%q is not found", query)
		}
	}
	u.run.alone = false
	u.openChecks()
	u.drawOn(screen)
	got = text(screen)
	last := -1
	for _, want := range []string{"● test running 12s, red since 14:25", "✗ lint failed since 13:27", "✓ build passed 3.2s", "1. src/api/list_test.go: 2 tests fewer", "14:29 checks: lint", "14:29 1. audit: src", "taken back", "14:28 told the agent: The required check \"test\" fails.\n", "14:28 failed before the agent"} {
		at := strings.Index(got, want)
		if at <= last {
			t.Errorf("%q is at %d, after %d, in\n%s", want, at, last, got)
		}
		last = at
	}
}

func TestRun_firstIteration_showsItsChecksAndThePauseToCome(t *testing.T) {
	s, _ := sample.Run(time.Now())
	s.Owner.PID = os.Getpid()
	pr := sample.New(t, s, nil)
	s.Status.LoopCount, s.Status.IterationStartedAt = 0, time.Time{}
	s.Status.Checks = []state.CheckStatus{{Name: "test", Result: "running", StartedAt: time.Now()}}
	pr.JSON("status.json", s.Status)
	p := openPane(t, pr.Dir, [2]int{100, 30})
	p.shows("RUNNING", "check test is running, ", " tests ")
	before := p.screen()
	p.wait("the next second", func(s string) bool { return strings.Contains(s, "check test is running, ") && s != before })
	s.Status.IterationStartedAt, s.Status.Checks, s.Status.Pending = time.Now(), nil, state.RequestPause
	pr.JSON("status.json", s.Status)
	p.shows("iteration 1 of 50", "pause requested, after this iteration", "p resume")
	p.keys("p")
	p.shows("resume will act soon")
}
