package report

import (
	"slices"
	"strings"
	"testing"

	"ralph/state"
	"ralph/state/view"
)

// What a person did after the end counts: ralph undo, ralph accept.
func TestBuild_endChangedSince_saysTheSameAsTheStatus(t *testing.T) {
	n := newNight()
	n.after(0, state.RunStart{Total: 4})
	n.after(1, state.RunEnd{Decision: state.Decision{Rule: "complete", Reason: "4 of 4 tasks are done"}})
	st := state.Status{RunID: ranOn, Status: state.StatusCompleted, ExitReason: "plan_complete", Rule: "complete", Undone: 1,
		Reason: "4 of 4 tasks are done; iteration 2 was undone", Next: "ralph resume 3", Task: state.TaskStatus{Done: 3, Total: 4}}
	r := n.f.Build(Source{Project: "/p", Now: n.at, Snapshot: view.Snapshot{Status: st}.Settled(), Changes: map[int]Change{2: {Undone: true}}})
	if r.Exit != 0 || r.Why != st.Reason || r.Advice != st.Next || r.Rule != "complete" || r.Done != 3 || r.Next[len(r.Next)-1] != st.Next ||
		!strings.HasPrefix(r.Result, "Completed, and undone in part since: 3 of 4 tasks done") {
		t.Errorf("%d %q %q %q %d", r.Exit, r.Why, r.Advice, r.Rule, r.Done)
	}
}

// Without its status, the changes tell what was undone.
func TestBuild_olderRunUndoneSince_itsCountsAreLess(t *testing.T) {
	n := newNight()
	n.after(0, state.RunStart{Total: 3})
	for i, task := range []string{"one", "two"} {
		n.iteration, n.task = i+1, task
		n.call(state.IterationEnd{TaskDone: true, Done: i + 1, Total: 3})
	}
	n.iteration, n.task = 0, ""
	n.after(1, state.RunEnd{Decision: state.Decision{Rule: "complete"}})
	later := view.Snapshot{Status: state.Status{RunID: "later", Status: state.StatusCompleted, Undone: 1,
		Task: state.TaskStatus{Done: 1, Total: 3}}}.Settled()
	r := n.f.Build(Source{Now: n.at, Snapshot: later, Changes: map[int]Change{2: {Undone: true}}})
	if r.Done != 1 || !strings.HasPrefix(r.Result, "Completed, and undone in part since: 1 of 3 tasks done") || r.good() != "look" ||
		slices.Contains(r.Next, "ralph resume") {
		t.Errorf("%d %q %q", r.Done, r.Result, r.Next)
	}
	later.Status.RunID = ranOn // now it is the last one, and not its work was undone
	r = n.f.Build(Source{Now: n.at, Snapshot: later.Settled(), Changes: map[int]Change{1: {}, 2: {}}})
	if !strings.HasPrefix(r.Result, "Completed, and an earlier run was undone in part since: 1 of 3 tasks done") {
		t.Error(r.Result)
	}
}

func TestBuild_resumedAfterAnEarlierRunWasUndone_countsWhatItDid(t *testing.T) {
	n := newNight()
	n.after(0, state.RunStart{Done: 3, Total: 3})
	n.after(1, state.RunEnd{})
	n.after(1, state.RunStart{Resumed: true, Done: 2, Total: 3})
	n.iteration, n.task = 1, "three"
	n.call(state.IterationEnd{TaskDone: true, Done: 3, Total: 3})
	if got := n.build().Result; !strings.Contains(got, "3 of 3 tasks done, 1 in this run") {
		t.Error(got)
	}
}
