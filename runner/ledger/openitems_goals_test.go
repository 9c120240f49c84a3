package ledger

import (
	"strings"
	"testing"

	"ralph/runner/audit"
	"ralph/runner/task"
	"ralph/runner/task/store"
	"ralph/runner/turn"
	"ralph/state"
)

// step is one turn: the plan before it and after it, and its task.
type step struct{ before, after, task string }

func planIn(t *testing.T, text string) turn.Plan {
	t.Helper()
	if text == "broken" {
		return turn.Plan{Known: true, Error: "broken"}
	}
	list, err := store.Parse("plan.md", []byte(strings.ReplaceAll(text, "; ", "\n")), []string{"Optional"})
	if err != nil {
		t.Fatal(err)
	}
	return turn.Plan{Known: true, Total: list.Total(), Remaining: list.Remaining(), List: list}
}

func TestBook_planOfTheWholeRun_isComparedWithItsBeginning(t *testing.T) {
	const two = "- [ ] A: read; - [ ] B: write it all"
	for name, c := range map[string]struct {
		steps []step
		end   string
		want  string // texts of what is left to look at
	}{
		"nothing changed":                             {[]step{{two, "- [x] A: read; - [ ] B: write it all", ""}}, "- [x] A: read; - [x] B: write it all", ""},
		"weaker after a broken plan":                  {[]step{{two, "broken", ""}, {"broken", "- [x] A: read; - [ ] B: write some", ""}}, "- [x] A: read; - [x] B: write some", `the task "B: write it all" was changed to "B: write some"`},
		"removed after a broken plan":                 {[]step{{two, "broken", ""}}, "- [x] A: read", `the open task "B: write it all" was removed from the plan`},
		"optional after a broken plan":                {[]step{{two, "broken", ""}}, "- [x] A: read; # Optional; - [ ] B: write it all", `the open task "B: write it all" was moved below the optional heading "Optional"`},
		"a person changed it between two turns":       {[]step{{two, "- [x] A: read; - [ ] B: write it all", ""}, {"- [x] A: read; - [ ] B: write some", "- [x] A: read; - [x] B: write some", ""}}, "- [x] A: read; - [x] B: write some", ""},
		"a person added a task, the agent removed it": {[]step{{two, two, ""}, {two + "; - [ ] C: print", "broken", ""}}, "- [x] A: read; - [x] B: write it all", `the open task "C: print" was removed from the plan`},
		"a person removed a task":                     {[]step{{two, two, ""}, {"- [ ] A: read", "- [x] A: read", ""}}, "- [x] A: read", ""},
		"a task asked for it":                         {[]step{{two, "- [x] A: read; - [ ] B: write some", "Review the plan"}}, "- [x] A: read; - [x] B: write some", ""},
		"what is done moves to an archive":            {[]step{{two, "- [x] A: read (see a.txt); - [ ] B: write it all", ""}}, "- [x] B: write it all", ""},
	} {
		t.Run(name, func(t *testing.T) {
			var b OpenItems
			for n, s := range c.steps {
				res := turn.Result{Origin: state.Origin{Run: "r", Iteration: n + 1}, Task: task.Task{Title: s.task},
					Work: turn.Work{Before: planIn(t, s.before), AsAgentLeft: planIn(t, s.after)}}
				res.Proof.After = res.Work.AsAgentLeft
				b.Add(res)
			}
			b.Look(audit.Input{Files: []audit.File{}}, planIn(t, c.end))
			got := ""
			for _, i := range b.Items {
				got += i.Text
				if want := "ralph diff 0.."; !strings.HasPrefix(i.Show, want) {
					t.Errorf("shown by %q", i.Show)
				}
			}
			if got != c.want {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

func TestBook_findingInThePlan_closesWhenThePlanIsRepaired(t *testing.T) {
	was, weaker := planIn(t, "- [ ] A: read; - [ ] B: write it all"), planIn(t, "- [x] A: read; - [ ] B: write some")
	var b OpenItems
	res := turn.Result{Work: turn.Work{Before: was, AsAgentLeft: weaker}}
	res.Proof.After = weaker
	res.Proof.Findings = audit.Compare(audit.Input{PlanBefore: was.List.Tasks, PlanAfter: weaker.List.Tasks})
	b.Add(res)
	if len(b.Items) != 1 {
		t.Fatalf("items %+v", b.Items)
	}
	b.Look(audit.Input{Files: []audit.File{}}, weaker)
	if len(b.Items) != 1 {
		t.Errorf("nothing is repaired, but %+v", b.Items)
	}
	b.Look(audit.Input{Files: []audit.File{}}, planIn(t, "- [x] A: read; - [x] B: write it all"))
	if len(b.Items) != 0 {
		t.Errorf("repaired, but %+v", b.Items)
	}
}

func TestBook_stub_closesWhenItIsWritten(t *testing.T) {
	stub := audit.File{Path: "a.py", After: "def send():\n    raise NotImplementedError\n", Exists: true}
	var b OpenItems
	b.Look(audit.Input{Files: []audit.File{stub}}, turn.Plan{})
	if len(b.Items) != 1 || b.Items[0].File != "a.py" {
		t.Fatalf("items %+v", b.Items)
	}
	stub.After = "def send():\n    return 1\n"
	b.Look(audit.Input{Files: []audit.File{stub}}, turn.Plan{})
	if len(b.Items) != 0 {
		t.Errorf("it is written, but %+v", b.Items)
	}
}
