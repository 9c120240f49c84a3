package view

import (
	"testing"
	"time"

	"ralph/state"
)

func TestLines_hints_areShownWhenTheySaySomething(t *testing.T) {
	for want, h := range map[string]state.Hints{
		"":                             {Confidence: 25, Completion: []string{"done"}},
		"it sounds like: done (100 %)": {Confidence: 100, Completion: []string{"done"}},
		"it sounds like: stuck: cannot, unable to":                                                 {Stuck: []string{"cannot", "unable to"}},
		"it sounds like: done (50 %) · nothing to do: nothing to do, already done · stuck: failed": {Confidence: 50, NoWork: []string{"nothing to do", "already done"}, Stuck: []string{"failed"}},
	} {
		end := state.IterationEnd{Outcome: CompletedTurn, Hints: h}
		lines := Lines(state.NewEvent(state.Origin{Run: "r", Iteration: 1}, time.Now(), end), LineOptions{})
		got := ""
		if len(lines) > 1 {
			got = lines[1].Text
		}
		if got != want {
			t.Errorf("%+v: %q, want %q", h, got, want)
		}
	}
}

func TestEntries_hintsBelowATaskThatIsDone_areLeftOut(t *testing.T) {
	d := state.IterationEnd{TaskDone: true, Hints: state.Hints{Stuck: []string{"cannot"}}}
	if got := entries(state.Event{Kind: d.Kind(), Data: d}, LineOptions{}); len(got) != 2 {
		t.Errorf("%+v", got)
	}
	d.TaskDone = false
	if got := entries(state.Event{Kind: d.Kind(), Data: d}, LineOptions{}); len(got) != 3 {
		t.Errorf("%+v", got)
	}
}

func TestLines_endOfATurn_onlyAReviewersIsAReview(t *testing.T) {
	end := state.IterationEnd{Title: "a", Total: 2, Seconds: 2}
	for reviews, want := range map[bool]string{false: "not done yet", true: "reviewed"} {
		from := state.Origin{Run: "r", Iteration: 6, Task: "T1", Role: "tester", Reviews: reviews}
		got := Lines(state.NewEvent(from, time.Now(), end), LineOptions{})[0].Text
		if want = `iteration 6 · "a" ` + want + " after 2.0s · no files changed"; got != want {
			t.Errorf("reviews %t: %q, want %q", reviews, got, want)
		}
	}
}
