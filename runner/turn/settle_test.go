package turn

import (
	"slices"
	"testing"

	"ralph/runner/audit"
	"ralph/runner/gate"
	"ralph/runner/task"
	"ralph/runner/task/store"
)

func TestSettle_ticks_countOnlyWhenTheyWereEarned(t *testing.T) {
	list := task.List{Tasks: []task.Task{{ID: "1", Title: "one", State: task.Done}, {ID: "2", Title: "two"}}}
	own := audit.Finding{Kind: audit.KindTickWithoutWork, Task: "1", Revert: true}
	red := gate.Report{Results: []gate.Result{{Name: "test", Verdict: gate.VerdictFailed, Blocks: true}}}
	green := gate.Report{Results: []gate.Result{{Name: "test", Passed: true, Verdict: gate.VerdictPassed}}}
	rows := Checks{Rows: []gate.Check{{Name: "test"}}}
	for _, test := range []struct {
		name  string
		f     facts
		by    string // why the tick is taken back; empty: it stands
		tries int
	}{
		{"green", facts{report: green, checks: rows}, "", 0},
		{"red", facts{report: red, checks: rows}, ReopenChecks, 3},
		{"stopped before the checks", facts{unchecked: true, checks: rows}, ReopenUnchecked, 2},
		{"stopped, no check could say anything", facts{unchecked: true}, "", 2},
		{"no work", facts{audit: auditResult{Proof: Proof{Findings: []audit.Finding{own}, Reopen: []Reopen{{Task: "1", By: ReopenAudit}}}}}, ReopenAudit, 2},
	} {
		f := test.f
		f.left = store.Of(list)
		r := settle(Assignment{Task: task.Task{ID: "1"}, Known: History{Tries: 2}}, f)
		by := ""
		if len(r.Proof.Reopen) > 0 {
			by = r.Proof.Reopen[0].By
		}
		if by != test.by || r.Proof.Tries != test.tries || r.Proof.After.IsDone("1") != (test.by == "") || !f.left.IsDone("1") {
			t.Errorf("%s: reopened by %q after %d tries, done %v", test.name, by, r.Proof.Tries, r.Proof.After.IsDone("1"))
		}
	}
}

// Only people keep tasks back; the agent may say that its own task is blocked.
func TestSettle_agentMarksTasksAsBlocked_onlyItsOwnStays(t *testing.T) {
	before := store.Of(task.List{Tasks: []task.Task{{ID: "1"}, {ID: "2"}, {ID: "3", State: task.Blocked}}})
	for name, test := range map[string]struct {
		id, word string
		why      string // the mark is taken back; empty: it stays
	}{
		"its own":                  {"1", "", ""},
		"its own, by no such word": {"1", "~", `the agent left this: line 7: unknown mark "[~]"; known: [ ], [x]`},
		"its own, by another word": {"1", "Draft", `the agent marked it "Draft"`},
		"of another iteration":     {"2", "", "it was marked as blocked in the iteration of another task"},
		"blocked before":           {"3", "", ""},
	} {
		left := store.Of(task.List{Tasks: slices.Clone(before.List.Tasks), Warnings: []string{`line 7: unknown mark "[~]"; known: [ ], [x]`}})
		i := slices.IndexFunc(left.List.Tasks, func(t task.Task) bool { return t.ID == test.id })
		left.List.Tasks[i].State, left.List.Tasks[i].Word, left.List.Tasks[i].Line = task.Blocked, test.word, 7
		r := settle(Assignment{Task: task.Task{ID: "1"}}, facts{before: before, left: left})
		why := ""
		if len(r.Proof.Reopen) > 0 {
			why = r.Proof.Reopen[0].Why
		}
		if after, _ := r.Proof.After.List.Find(test.id); why != test.why || (after.State == task.Open) != (why != "") {
			t.Errorf("%s: %q, %v", name, why, after)
		}
		if r.Proof.Blocked != (name == "its own") {
			t.Errorf("%s: blocked %v", name, r.Proof.Blocked)
		}
	}
}
