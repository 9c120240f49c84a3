package summary

import (
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
