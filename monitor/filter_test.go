package monitor

import (
	"strings"
	"testing"
	"time"

	"ralph/internal/sample"
	"ralph/state"
)

func TestFilter_showsAPartOfTheLogAndWhatComes(t *testing.T) {
	if testing.Short() {
		t.Skip("long: many screens")
	}
	pr := living(t)
	for _, size := range [][2]int{{60, 15}, {80, 24}, {200, 50}} {
		p := openPane(t, pr.Dir, size)
		p.shows("RUNNING", "line number 199")
		p.keys("F", "f", "i", "n", "d")
		p.wait("what is typed", func(screen string) bool { return strings.HasSuffix(strings.TrimSpace(screen), "find") })
		p.keys("Enter")
		p.shows("F Log: findings")
		s, _ := sample.Run(time.Now())
		pr.Add(state.NewEvent(state.Origin{Run: s.Status.RunID, Iteration: 7}, time.Now(), state.Finding{Source: state.FoundByAudit, Text: "a test is gone"}))
		p.shows("F Log: findings", "a test is gone")
		p.keys("F")
		p.keys("-l", "number 1")
		p.keys("Enter")
		p.shows(`F Log: "number 1"`, "111/111", "line number 199")
		p.keys("n")
		p.shows("110/111")
		p.keys("Escape")
		p.hides("110/111")
		p.keys("Escape")
		p.hides("F Log")
		p.keys("F")
		p.keys("-l", "task cursor")
		p.keys("Enter")
		p.shows("F Log: task cursor", "passed in 3.2s")
		p.keys("Escape")
		p.hides("F Log")
		p.keys("F")
		p.keys("-l", "at 25:99")
		p.keys("Enter")
		p.shows("at what time?")
		p.keys("q")
		p.shows("monitor ended")
	}
}
