package ledger

import (
	"testing"

	"ralph/runner/audit"
	"ralph/runner/gate"
	"ralph/runner/git"
	"ralph/runner/task"
	"ralph/runner/turn"
	"ralph/state"
)

func found(f audit.Finding, reopen ...turn.Reopen) turn.Result {
	return turn.Result{Origin: state.Origin{Run: "r", Iteration: 3}, Proof: turn.Proof{Findings: []audit.Finding{f}, Reopen: reopen}}
}

func TestBook_findings_stayOpenUnlessTheirTickWasTakenBack(t *testing.T) {
	tick := audit.Finding{Kind: audit.KindTickWithoutWork, Task: "T1", Text: "this run has changed no file", Revert: true}
	deleted := audit.Finding{Kind: audit.KindTestsRemoved, File: "a_test.go", Text: "deleted"}
	for name, c := range map[string]struct {
		res  turn.Result
		open int
	}{
		"a tick that was taken back": {found(tick, turn.Reopen{Task: "T1", By: turn.ReopenAudit}), 0},
		"a tick that stands":         {found(tick), 1},
		"a deleted file":             {found(deleted), 1},
		"a question":                 {found(audit.Finding{Doubt: true}), 0},
	} {
		var b OpenItems
		b.Add(c.res)
		b.Add(c.res) // the same once more is not a second item
		if items := b.Open("", turn.Checks{}, gate.Report{}); len(items) != c.open {
			t.Errorf("%s: %+v", name, items)
		}
	}
}

// A plan may begin with tasks that are done already. Which comes first says nothing about the others.
func TestBook_tickWithoutAChange_isClosedOnceTheRunHasWorked(t *testing.T) {
	var b OpenItems
	b.Add(found(audit.TickWithoutWork(task.Task{ID: "T1", Title: "empty lists"}, audit.NothingChanged)))
	onlyTicks := turn.Result{Proof: turn.Proof{OnlyTicks: true}}
	onlyTicks.Work.Change.Count = 1
	b.Add(onlyTicks)
	if items := b.Open("", turn.Checks{}, gate.Report{}); len(items) != 1 {
		t.Errorf("after another tick: %+v", items)
	}
	work := turn.Result{}
	work.Work.Change.Count = 1
	b.Add(work)
	if items := b.Open("", turn.Checks{}, gate.Report{}); len(items) != 0 {
		t.Errorf("after work: %+v", items)
	}
}

// What was found stays open until a person accepts it, or its file changes again: another task may excuse the like.
func TestBook_anyKindOfFinding_staysOpenWhileItsFileIsAsItWas(t *testing.T) {
	for _, row := range audit.Kinds() {
		if row.Doubt {
			continue
		}
		for _, f := range []audit.Finding{{Kind: row.Kind, File: "a_test.go", Text: "x"}, {Kind: row.Kind, Task: "T1", Text: "x"}} {
			if row.Kind == audit.KindFewerTests || f.File == "" && (row.Kind == audit.KindTaskChanged || aboutGit(string(row.Kind))) {
				continue // the report of the checks shows it, the plan, or git
			}
			var b OpenItems
			res := found(f)
			res.Work.Change.Files = []string{"a_test.go"}
			b.Add(res)
			b.Add(turn.Result{Task: task.Task{ID: "T2"}, Origin: state.Origin{Run: "r", Iteration: 4}})
			b.Look(audit.Input{Files: []audit.File{{Path: "a_test.go", After: "1", Exists: true}}}, turn.Plan{})
			if items := b.Open("", turn.Checks{}, gate.Report{}); len(items) != 1 {
				t.Errorf("%+v: nobody repaired it, but %+v", f, items)
			}
		}
	}
}

func TestBook_fileChangedAgain_mayCloseItsFinding(t *testing.T) {
	for name, change := range map[string]func(*OpenItems, *audit.Input){
		"by a turn": func(b *OpenItems, _ *audit.Input) {
			b.Add(turn.Result{Work: turn.Work{Change: git.Change{Files: []string{"a_test.go"}}}})
		},
		"by a person": func(_ *OpenItems, in *audit.Input) { in.Edited = []string{"a_test.go"} },
	} {
		var b OpenItems
		res := found(audit.Finding{Kind: audit.KindTestsRemoved, File: "a_test.go", Text: "deleted"})
		res.Work.Change.Files = []string{"a_test.go"}
		b.Add(res)
		in := audit.Input{Files: []audit.File{}}
		change(&b, &in)
		if b.Look(in, turn.Plan{}); len(b.Items) != 0 {
			t.Errorf("%s: %+v", name, b.Items)
		}
	}
}

func TestBook_acceptedOnce_saysNothingAboutLaterWork(t *testing.T) {
	deleted := audit.Finding{Kind: audit.KindTestsRemoved, File: "a_test.go", Text: "deleted"}
	var b OpenItems
	b.Recall(state.Status{Accepted: []string{"a_test.go: deleted"}})
	if items := b.Open("", turn.Checks{}, gate.Report{}); len(items) != 0 {
		t.Errorf("nothing happened, but %+v", items)
	}
	b.Add(found(deleted))
	if items := b.Open("", turn.Checks{}, gate.Report{}); len(items) != 1 {
		t.Errorf("the same was done again and nobody has to look: %+v", items)
	}
}

func TestBook_testsTriedAnew_closeWhatTheyShowed(t *testing.T) {
	bent := audit.Finding{Kind: audit.KindGreenByTests, Task: "T1", Text: "still fails"}
	var b OpenItems
	b.Add(found(bent))
	b.Look(audit.Input{Files: []audit.File{}}, turn.Plan{})
	if len(b.Items) != 1 {
		t.Fatalf("no later turn finished the task, but %+v", b.Items)
	}
	if want := "ralph diff T1 --run r"; b.Items[0].Show != want { // an attempt before may have changed the test
		t.Errorf("show: %s, want %s", b.Items[0].Show, want)
	}
	later := turn.Result{Task: task.Task{ID: "T1"}}
	later.Proof.After.List.Tasks = []task.Task{{ID: "T1", State: task.Done}}
	b.Add(later)
	if len(b.Items) != 0 {
		t.Errorf("the tests pass as they were, but %+v", b.Items)
	}
}

func TestBook_goneFromGit_isOpenInTheNextRunUntilItIsBack(t *testing.T) {
	lost := git.Lost{What: git.LostTag, Name: "v1", OID: "1234", Text: "the tag v1 is gone"}
	res := found(audit.Finding{Kind: audit.KindLost, Text: lost.Text})
	res.Work.Gone = []git.Lost{lost}
	var first, next OpenItems
	first.Add(res)
	next.Recall(state.Status{Status: state.StatusReview, Review: first.Open("", turn.Checks{}, gate.Report{})})
	if gone := next.Gone(); len(gone) != 1 || gone[0].OID != lost.OID {
		t.Fatalf("recalled %+v", gone)
	}
	var in audit.Input
	in.Lost = []git.Lost{lost}
	if next.Look(in, turn.Plan{}); len(next.Items) != 1 {
		t.Errorf("while it is gone: %+v", next.Items)
	}
	if next.Look(audit.Input{}, turn.Plan{}); len(next.Items) != 0 {
		t.Errorf("when it is back: %+v", next.Items)
	}
}

func TestBook_leftUnfinished_isClosedInTheNextRunOnceItIsFinished(t *testing.T) {
	var b OpenItems
	b.Recall(state.Status{Status: state.StatusReview, Review: []state.ReviewItem{{Name: string(audit.KindUnfinished), Text: "a merge is in progress"}}})
	if b.Look(audit.Input{}, turn.Plan{}); len(b.Items) != 0 {
		t.Errorf("%+v", b.Items)
	}
}

// A task keeps its tick, but a person has to look: the agent may have taken the work back for a reason.
func TestBook_doneTaskOfWhoseWorkNothingIsLeft_isOpenUntilTheWorkIsBack(t *testing.T) {
	turnOf := func(iteration int, asked task.Task, links ...audit.Link) turn.Result {
		r := turn.Result{Origin: state.Origin{Run: "r", Iteration: iteration}, Task: asked, Proof: turn.Proof{Worked: true, Links: links}}
		r.Work.Change.Count = 1
		return r
	}
	add, other := task.Task{ID: "T1", Title: "Add --quiet", State: task.Done}, task.Task{ID: "T2", Title: "Exit with 3", State: task.Done}
	for name, c := range map[string]struct {
		turns  []turn.Result
		undone []int
		open   int
	}{
		"taken back":               {[]turn.Result{turnOf(1, add), turnOf(2, other)}, []int{1}, 1},
		"still there":              {[]turn.Result{turnOf(1, add), turnOf(2, other)}, nil, 0},
		"done anew":                {[]turn.Result{turnOf(1, add), turnOf(2, other), turnOf(3, add)}, []int{1}, 0},
		"another task asks for it": {[]turn.Result{turnOf(1, add), turnOf(2, task.Task{ID: "T2", Title: "Remove --quiet"})}, []int{1}, 0},
		"its test is green":        {[]turn.Result{turnOf(1, add, audit.Link{Task: "T1", By: audit.ByTests}), turnOf(2, other)}, []int{1}, 0},
	} {
		var b OpenItems
		for _, r := range c.turns {
			b.Add(r)
		}
		plan := turn.Plan{Known: true, List: task.List{Tasks: []task.Task{add, other}}}
		b.Look(audit.Input{Undone: c.undone}, plan)
		if items := b.Open("", turn.Checks{}, gate.Report{}); len(items) != c.open {
			t.Errorf("%s: %+v", name, items)
		}
		if b.Look(audit.Input{}, plan); len(b.Open("", turn.Checks{}, gate.Report{})) != 0 {
			t.Errorf("%s: the work is back, but it is open", name)
		}
	}
}

// Status.json has the numbers from the start, not only at the end.
func TestShow_findingsDuringTheRun_haveTheNumbersOfTheEnd(t *testing.T) {
	l := &Ledger{}
	l.Items.Add(found(audit.Finding{Kind: audit.KindTestsRemoved, File: "a_test.go", Text: "deleted"}))
	l.Items.Add(found(audit.Finding{Kind: audit.KindTestsRemoved, File: "b_test.go", Text: "deleted"}))
	var s state.Status
	l.Show(&s)
	end := l.Items.Open("", turn.Checks{}, gate.Report{})
	if len(s.Review) != 2 || len(end) != 2 {
		t.Fatalf("%+v, %+v", s.Review, end)
	}
	for i := range end {
		if s.Review[i].N != i+1 || s.Review[i].N != end[i].N || s.Review[i].Text != end[i].Text {
			t.Errorf("%+v, at the end %+v", s.Review[i], end[i])
		}
	}
}
