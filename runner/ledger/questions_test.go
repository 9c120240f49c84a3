package ledger

import (
	"testing"

	"ralph/runner/task"
	"ralph/runner/turn"
	"ralph/state"
	"ralph/state/question"
)

// The turn of T1 begins first and ends first. That of T2 is cut off and does not count: it runs again.
func TestSettle_turnsSideBySide_onlyTheTurnThatEndedHadItsAnswers(t *testing.T) {
	w, _, err := state.Acquire(t.TempDir(), state.Owner{PID: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Release()
	store := question.In(w.Reader)
	list := task.List{Tasks: []task.Task{{ID: "T1"}, {ID: "T2"}}}
	for _, one := range list.Tasks {
		q, err := store.Add(question.Question{Task: one.ID, Text: "Which?"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := store.Answered(q.ID, "This for "+one.ID, "a person"); err != nil {
			t.Fatal(err)
		}
	}
	b := openQuestions(&Ledger{State: w, Tasks: Records{}})
	if _, err := b.Waiting(list); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"T1", "T2"} {
		if given := b.Give(id); len(given) != 1 || given[0].Answer != "This for "+id {
			t.Fatalf("%s: %+v", id, given)
		}
	}
	var res turn.Result
	res.Task.ID, res.Origin.Iteration = "T1", 1
	if err := b.Settle(res, false); err != nil {
		t.Fatal(err)
	}
	if given := b.Give("T1"); len(given) != 0 {
		t.Errorf("T1 gets its answer again: %+v", given)
	}
	if given := b.Give("T2"); len(given) != 1 {
		t.Error("T2 lost its answer")
	}
}
