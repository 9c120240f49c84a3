package view_test

import (
	"strings"
	"testing"
	"time"

	"ralph/internal/sample"
	"ralph/state"
	"ralph/state/view"
)

// What is settled, and what asks for nothing, is no news for a person. The fold and the look back agree.
func TestNotes_ofTasksThatAreDoneAndOfNoConcern_areLeftOut(t *testing.T) {
	var events []state.Event
	add := func(n int, task string, p state.Payload) {
		events = append(events, state.NewEvent(state.Origin{Run: "r", Iteration: n, Task: task}, time.Unix(int64(len(events)), 0), p))
	}
	add(0, "", state.RunStart{Total: 3})
	add(1, "", state.Finding{Source: state.FoundByChecks, Name: state.FoundUnread, Text: "test: its output does not say which tests ran"})
	add(1, "T1", state.IterationStart{Title: "one"})
	add(1, "T1", state.TaskChange{ID: "T1", State: "in review", Why: "phase qa"})
	add(1, "T1", state.TaskChange{ID: "T2", State: "in review", Why: "phase qa"})
	add(1, "T1", state.TaskChange{ID: "T1", State: "changed", Why: "ann", Person: true})
	add(1, "T1", state.IterationEnd{TaskDone: true})
	s := view.Snapshot{Status: state.Status{RunID: "r", Status: state.StatusRunning}}
	var folded, recalled view.Model
	folded.Apply(view.Update{Snapshot: s, Events: events})
	recalled.Snapshot = s
	recalled.Recall(sample.New(t, s, events).Reader())
	const want = "task T2 is now in review: phase qa|task T1 is now changed: ann"
	for name, m := range map[string]*view.Model{"folded": &folded, "recalled": &recalled} {
		var got []string
		for _, n := range m.Run.Notes {
			got = append(got, n.Text)
		}
		if strings.Join(got, "|") != want {
			t.Errorf("%s: %q", name, got)
		}
	}
	if folded.Run.Iterations[0].Found != 0 {
		t.Error("there is something to look at")
	}
}
