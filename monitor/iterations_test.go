package monitor

import (
	"strings"
	"testing"
	"time"

	"ralph/internal/sample"
	"ralph/monitor/canvas"
	"ralph/state"
	"ralph/state/view"
)

// model has 12 iterations: 8 that failed alike between others, one with a finding.
func model() *view.Model {
	m := &view.Model{}
	at := sample.Noon.Add(-time.Hour)
	for i := 1; i <= 12; i++ {
		o := state.Origin{Run: "r", Iteration: i, Task: "T1"}
		end := state.IterationEnd{Decision: state.Decision{Action: "retry", Rule: "gate_failed",
			Reason: "required check failed: test, 3 of 4"}, Outcome: view.CompletedTurn, Files: 2, Seconds: 60}
		all := []state.Payload{state.IterationStart{Title: "Add cursors"}, state.Check{Name: "build", Passed: true},
			state.Check{Name: "test"}}
		if i == 1 || i == 11 || i == 12 {
			end = state.IterationEnd{Decision: state.Decision{Action: "continue", Rule: "continue"},
				Outcome: view.CompletedTurn, TaskDone: true, Files: 1, Seconds: 5}
			all = []state.Payload{all[0], all[1]}
		}
		if i == 11 {
			all = append(all, state.Finding{Source: state.FoundByChecks, Text: "test: flaky"})
		}
		if i == 10 {
			all = append(all, state.Finding{Source: state.FoundByAudit, Text: "2 tests fewer"})
		}
		for _, p := range append(all, end) {
			at = at.Add(time.Second)
			m.Run.Add(state.NewEvent(o, at, p))
		}
	}
	return m
}

func iterationsDrawn(t *testing.T, size [2]int) []string {
	t.Helper()
	u := still(t, view.Snapshot{}, nil)
	u.model = *model()
	u.o.Now = func() time.Time { return sample.Noon }
	screen := simulate(t, size[0], size[1])
	u.run.list.Draw(canvas.Canvas{Screen: screen, W: size[0], H: size[1]})
	screen.Show()
	return strings.Split(text(screen), "\n")
}

func TestDraw_rows_newestFirstAsManyAsFit(t *testing.T) {
	rows := iterationsDrawn(t, [2]int{100, 8})
	for y, want := range []string{"─ T Timeline", "12 ✓       5s  Add cursors · done, 1 file", "11 !       5s  Add cursors · done, 1 file",
		"10 !   1m 00s  Add cursors · required check failed", "9 !   1m 00s  Add cursors", "8 !   1m 00s", "7 !   1m 00s"} {
		if !strings.Contains(rows[y], want) {
			t.Errorf("row %d is %q, want %q", y, rows[y], want)
		}
	}
	for y, want := range map[int]string{1: "✓", 2: "✓  1 finding", 3: "✓✗  1 finding", 4: "✓✗"} {
		if !strings.HasSuffix(rows[y], want) {
			t.Errorf("row %d is %q, want it to end with %q", y, rows[y], want)
		}
	}
}

func TestDraw_narrowRows_haveTheTitleBesideAShortOutcome(t *testing.T) {
	rows := iterationsDrawn(t, [2]int{42, 8})
	for y, want := range map[int]string{1: "12 ✓       5s  Add cursors · done", 3: "10 !   1m 00s  Add curs… · re", 5: "8 !   1m 00s  Add cursors · requi"} {
		if !strings.Contains(rows[y], want) {
			t.Errorf("row %d is %q, want %q", y, rows[y], want)
		}
	}
}

func TestScroll_movesFromTheNewestToTheOldest(t *testing.T) {
	u := still(t, view.Snapshot{}, nil)
	u.run.list.Scroll(1) // there is none yet
	u.model = *model()
	for _, step := range []struct{ by, want int }{{1, 10}, {3, 7}, {-1, 8}, {far, 0}, {1, 0}, {-far, 11}} {
		if u.run.list.Scroll(step.by); u.run.index() != step.want {
			t.Errorf("after %d: index %d, want %d", step.by, u.run.index(), step.want)
		}
	}
}
