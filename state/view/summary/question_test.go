package summary

import (
	"strings"
	"testing"

	"ralph/internal/sample"
	"ralph/state"
	"ralph/state/view"
)

// To resume does not help a run that waits for an answer.
func TestNews_waitForAnAnswer_namesTheQuestions(t *testing.T) {
	m := view.Model{}
	m.State, m.Status.Rule = state.StatusWaiting, state.RuleQuestion
	if _, advice := news(&m, sample.Noon); advice != "see what is asked, and answer: ralph questions" {
		t.Error(advice)
	}
	m.Status.Rule = state.RuleHourly
	if _, advice := news(&m, sample.Noon); advice != "" {
		t.Errorf("the hour is used up: %q", advice)
	}
	m.Status.Rule = "usage_limit"
	if _, advice := news(&m, sample.Noon); advice != "continue now with: ralph resume" {
		t.Error(advice)
	}
}

func TestText_findingsThatRepeat_standOnce(t *testing.T) {
	at := sample.Noon
	m := &view.Model{Snapshot: view.Snapshot{State: state.StatusReview, Status: state.Status{RunID: "r", Status: state.StatusReview, ExitCode: 9,
		Review: []state.ReviewItem{{N: 1, Text: "a test was dropped", Show: "ralph diff 1"}}}}}
	for _, text := range []string{"audit: twice", "audit: a test was dropped", "audit: twice"} {
		m.Run.Notes = append(m.Run.Notes, view.Note{At: at, Text: text})
	}
	out := Text(m, at, 0)
	if strings.Count(out, "audit: twice") != 1 || strings.Count(out, "a test was dropped") != 1 {
		t.Error(out)
	}
}
