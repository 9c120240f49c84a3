package turn

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ralph/runner/gate"
	"ralph/runner/task"
	"ralph/runner/task/store"
	"ralph/state"
)

// amendPlan is a plan of two tasks.
func amendPlan(a, b task.State) Plan {
	return store.Of(task.List{Tasks: []task.Task{{ID: "a", State: a}, {ID: "b", State: b}}})
}

// worked is a turn that has ticked a, and b beside it.
func worked() Result {
	reopen := make([]Reopen, 1, 4) // room for another one, which belongs to whoever appends
	reopen[0] = Reopen{Task: "b", By: ReopenAudit}
	return Result{Task: task.Task{ID: "a"},
		Call: Call{Signalled: true, Asks: []state.Ask{{Text: "1"}, {Text: "2"}}, Session: Session{ID: "s"}},
		Work: Work{Before: amendPlan(task.Open, task.Open), AsAgentLeft: amendPlan(task.Done, task.Done)},
		Proof: Proof{Reopen: reopen, Tries: 1, GiveUp: "it says so", After: amendPlan(task.Done, task.Open),
			Report: gate.Report{Results: []gate.Result{{Name: "mine"}}}}}
}

func TestAll_leaveTheResultAsItIs(t *testing.T) {
	now := amendPlan(task.Active, task.Done)
	for name, f := range map[string]func(Result) Result{
		"refused": func(r Result) Result {
			return Refused(r, Refusal{Merge: state.MergeConflict, Tries: 2, Stopped: true})
		},
		"conflicting":  Conflicting,
		"current plan": func(r Result) Result { return WithCurrentPlan(r, now, true, nobody) },
		"leaving":      func(r Result) Result { return WithFinalPlan(r, now) },
		"returned":     func(r Result) Result { return Returned(r, now) },
		"asking":       func(r Result) Result { return Asking(r, nil, "why") },
		"closed":       func(r Result) Result { return Result{Call: Closed(r.Call)} },
	} {
		r := worked()
		was := text(t, r)
		got := f(r)
		if diff := cmp.Diff(was, text(t, r)); diff != "" || r.Proof.Reopen[:2][1].Task != "" {
			t.Errorf("%s changes the result that it gets: %s %v", name, diff, r.Proof.Reopen[:2])
		}
		if text(t, got) == was {
			t.Errorf("%s returns the same result", name)
		}
	}
}

func nobody(string) bool { return false }

func TestWithCurrentPlan_landed_ticksOfOthersCountUnlessSomebodyWorksOnThem(t *testing.T) {
	for busy, want := range map[bool]bool{false: true, true: false} {
		r := WithFinalPlan(worked(), amendPlan(task.Done, task.Done))
		r.Proof.Reopen = nil
		got := WithCurrentPlan(r, amendPlan(task.Open, task.Open), true, func(id string) bool { return busy && id == "b" })
		if got.Proof.After.IsDone("b") != want || !got.Proof.After.IsDone("a") {
			t.Errorf("busy %t: %+v", busy, got.Proof.After.List.Tasks)
		}
	}
}

func text(t *testing.T, v any) string {
	t.Helper()
	b, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestRefused_takesTheTickBack(t *testing.T) {
	failed := gate.Report{Results: []gate.Result{{Name: "joined"}}}
	got := Refused(worked(), Refusal{Merge: state.MergeChecks, Report: failed, Tries: 4, Why: "w"})
	want := worked().Proof
	want.Merge, want.Report, want.Tries, want.After = state.MergeChecks, failed, 4, amendPlan(task.Open, task.Open)
	want.Reopen = append(want.Reopen, Reopen{Task: "a", By: ReopenChecks, Why: "w"})
	if diff := cmp.Diff(text(t, want), text(t, got.Proof)); diff != "" || got.Call.Signalled {
		t.Errorf("signalled %t %s", got.Call.Signalled, diff)
	}
	stopped := Refused(worked(), Refusal{Stopped: true, Tries: 2}).Proof
	if !stopped.Unchecked || stopped.Merge != "" || stopped.Report.Results[0].Name != "mine" {
		t.Errorf("stopped: %+v", stopped)
	}
}

// Others have begun a and finished b in the meantime. Only the turn's own tick, and what was said about it, count.
func TestWithCurrentPlan_notLanded_onlyItsOwnTickCounts(t *testing.T) {
	now := amendPlan(task.Active, task.Done)
	got := WithCurrentPlan(worked(), now, false, nobody)
	want := worked()
	want.Work.Before, want.Work.AsAgentLeft = now, amendPlan(task.Done, task.Done)
	want.Proof.After, want.Proof.Reopen = want.Work.AsAgentLeft, nil
	if diff := cmp.Diff(text(t, want), text(t, got)); diff != "" {
		t.Error(diff)
	}
	undone := WithFinalPlan(worked(), amendPlan(task.Open, task.Open))
	if got := WithCurrentPlan(undone, now, false, nobody); got.Proof.After.IsDone("a") || got.Work.AsAgentLeft.IsDone("a") {
		t.Errorf("not done: %+v", got.Proof.After)
	}
}

func TestAsking_withoutAReason_keepsThatOfTheTurn(t *testing.T) {
	if got := Asking(worked(), nil, ""); got.Proof.GiveUp != "it says so" || got.Call.Asks != nil {
		t.Errorf("%+v %+v", got.Proof.GiveUp, got.Call.Asks)
	}
	if got := Asking(worked(), nil, "it asks again"); got.Proof.GiveUp != "it asks again" {
		t.Error(got.Proof.GiveUp)
	}
}
