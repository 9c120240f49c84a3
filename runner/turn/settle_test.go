package turn

import (
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
