package ledger

import (
	"testing"

	"ralph/runner/roles"
	"ralph/runner/task"
	"ralph/state"
)

// A task that is reviewed again needs a person only for what its latest review left open.
func TestBook_Judged_again_replacesWhatTheEarlierReviewLacked(t *testing.T) {
	b := &OpenItems{}
	one, two := task.Task{ID: "1", Title: "one"}, task.Task{ID: "2", Title: "two"}
	said := func(names ...string) roles.Outcome {
		o := roles.Outcome{Missing: names}
		for _, name := range []string{"A", "B"} {
			o.Verdicts = append(o.Verdicts, state.Verdict{Name: name})
		}
		return o
	}
	b.Judged(one, said("A", "B"))
	b.Judged(two, said("A"))
	b.Judged(one, said("B"))
	if len(b.Items) != 2 || b.Items[0].Task != "2" || b.Items[1].Text != `the reviewer B gave no verdict on "one"` {
		t.Errorf("%+v", b.Items)
	}
	b.Judged(one, roles.Outcome{Verdicts: []state.Verdict{{Name: "qa"}}}) // another phase says nothing about B
	if b.Judged(one, said()); len(b.Items) != 1 {
		t.Errorf("%+v", b.Items)
	}
}
