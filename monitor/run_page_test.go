package monitor

import (
	"strings"
	"testing"
	"time"

	"ralph/internal/sample"
	"ralph/state"
	"ralph/state/view"
)

// busy is a run with edits, a commit and checks before the work.
func busy() (view.Snapshot, []state.Event) {
	s, all := sample.Run(noon)
	at := func(n int, ago time.Duration, p state.Payload) {
		all = append(all, state.NewEvent(state.Origin{Run: s.Status.RunID, Iteration: n, Task: "#7"}, noon.Add(-ago), p))
	}
	at(6, 5*time.Minute, state.Commit{OID: "0123456789abcdef", Files: 3})
	at(7, 4*time.Minute, state.Check{Name: "build", Passed: true, Run: state.CheckBaseline})
	at(7, 4*time.Minute, state.Check{Name: "test", Run: state.CheckBaseline})
	at(7, time.Minute, state.Tool{ID: "20", Name: "Edit", Arg: "src/a.go", File: true, Hunk: "-one\n+two\n+three"})
	at(7, time.Minute, state.Tool{ID: "21", Name: "Edit", Arg: "src/b.go", File: true, Hunk: "+four"})
	at(7, time.Minute, state.Tool{ID: "22", Name: "Edit", Arg: "src/a.go", File: true, Hunk: "+five"})
	s.Status.Checks = []state.CheckStatus{{Name: "test", Result: "passed", Seconds: 3.2}}
	return s, all
}

func TestRun_atAGlance_answersWhatAPersonAsks(t *testing.T) {
	s, events := busy()
	for _, c := range []struct {
		size [2]int
		want []string
	}{
		{[2]int{60, 15}, []string{"1 sub-agent · Edit src/a.go", " task ", "cursor pagination", " time   ✓ ! ✓ ! · !", "✓ test passed 3.2s · at the start 1 of 2 failed"}},
		{[2]int{80, 24}, []string{"src/a.go +3 -1 · 2 files · src/b.go +1 -0", "01234567 5m 00s ago · 3 files · task 6 of the plan", "done about"}},
		{[2]int{200, 50}, []string{"claude works on #7 Add cursor pagination to the list endpoint · 4m 12s in", "tokens/min", "budget 167k"}},
	} {
		got := still(t, s, events).picture(t, c.size)
		for _, want := range c.want {
			if !strings.Contains(got, want) {
				t.Errorf("%v lacks %q:\n%s", c.size, want, got)
			}
		}
	}
}

func TestRun_whatNeedsAPerson_standsFirstWithItsKey(t *testing.T) {
	for name, want := range map[string]string{"running": " task ", "paused": "  p  continue with: ralph resume", "halted": "ralph reset --circuit && ralph resume"} {
		s, events := sample.States(noon)[name]()
		for _, size := range sizes {
			u := still(t, s, events)
			if row := strings.Split(u.picture(t, size), "\n")[2]; !strings.Contains(row, want) && (name != "running" || size[0] < twoColumns) {
				t.Errorf("%s at %v: %q", name, size, row)
			}
		}
	}
	s, events := sample.Run(noon)
	u := still(t, s, events)
	u.notes.questions, u.notes.question = 1, "Which database?"
	if row := strings.Split(u.picture(t, [2]int{60, 15}), "\n")[2]; row != "  u  answer 1 question: Which database?" {
		t.Errorf("%q", row)
	}
	u.notes.question = "Which database? " + strings.Repeat("Files are simpler. ", 9)
	if row := strings.Split(u.picture(t, [2]int{60, 15}), "\n")[2]; !strings.HasPrefix(row, "  u  answer 1 question: Which database?") {
		t.Errorf("%q", row)
	}
}

func TestStrip_leftAndRight_showAnIterationInThePlaceOfTheLog(t *testing.T) {
	s, events := sample.Run(noon)
	u := still(t, s, events)
	if got := u.picture(t, [2]int{120, 40}); !strings.Contains(got, "Live log") {
		t.Fatal(got)
	}
	u.types(t, "<left><left>")
	if got := u.picture(t, [2]int{120, 40}); !strings.Contains(got, "Transcript of iteration 5") || strings.Contains(got, "Live log") || u.run.chosen() != 5 {
		t.Errorf("iteration %d:\n%s", u.run.chosen(), got)
	}
	u.types(t, "<right><right><right>")
	if got := u.picture(t, [2]int{120, 40}); !strings.Contains(got, "Live log") || u.run.selected != 0 {
		t.Error(got)
	}
	u.types(t, "<left><esc>")
	if u.run.past != nil {
		t.Error("esc does not go back to the log")
	}
}

func TestStrip_manyIterations_showsTheLatestOrThoseAroundTheSelectedOne(t *testing.T) {
	r := view.Run{}
	for i := range 100 {
		at := noon.Add(time.Duration(i) * time.Second)
		r.Iterations = append(r.Iterations, view.Iteration{Number: i + 1, StartedAt: at, Ended: at})
	}
	r.Iterations[98].Ended = noon.Add(-time.Hour) // a wait comes next
	for _, c := range []struct{ selected, first, last, end int }{{99, 86, 99, 28}, {50, 43, 57, 28}, {0, 0, 14, 28}} {
		all := stripOf(&r, c.selected, 30)
		if first, last := all[len(all)-1], all[0]; first.index != c.first || first.x != 0 || last.index != c.last || last.x != c.end {
			t.Errorf("selected %d: %+v to %+v, want %+v", c.selected, first, last, c)
		}
	}
}
