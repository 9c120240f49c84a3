package cli

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ralph/runner/audit"
	"ralph/runner/task/store"
	"ralph/state"
)

// credit gives the tasks of the plan to iterations: work[i] are those of task i.
func (w *planWorld) credit(work [][]int) {
	w.t.Helper()
	list, err := store.Parse(w.plan, []byte(fourBoxes), nil)
	if err != nil {
		w.t.Fatal(err)
	}
	s := state.Status{RunID: pastRun, Status: state.StatusCompleted, Tasks: map[string]state.TaskMemory{}}
	for i, iterations := range work {
		m := state.TaskMemory{Done: true, Proof: state.ProofChecks}
		for _, n := range iterations {
			m.Work = append(m.Work, state.Work{Run: pastRun, Iteration: n, By: audit.ByNames})
		}
		s.Tasks[list.Tasks[i].ID] = m
	}
	text, err := json.Marshal(s)
	if err != nil {
		w.t.Fatal(err)
	}
	w.write(".ralph/status.json", string(text))
}

// ticked are the numbers of the boxes that are ticked.
func (w *planWorld) ticked() (all []int) {
	for i, box := range strings.Split(strings.TrimSpace(fourBoxes), "\n") {
		if strings.Contains(w.read(w.plan), strings.Replace(box, "[ ]", "[x]", 1)+"\n") {
			all = append(all, i+1)
		}
	}
	return all
}

func TestUndo_anyOrder_taskIsTickedIfAndOnlyIfItsWorkIsThere(t *testing.T) {
	times := 12
	if testing.Short() {
		times = 2
	}
	for seed := range times {
		random := rand.New(rand.NewPCG(uint64(seed), 1))
		w := newPlanWorld(t, seed%2 == 0, true)
		work := make([][]int, 4)
		for i := range work {
			for n := 1; n <= 4; n++ {
				if random.IntN(2) == 0 {
					work[i] = append(work[i], n)
				}
			}
			if len(work[i]) == 0 {
				work[i] = []int{i + 1}
			}
		}
		w.credit(work)
		var undone []int
		for _, i := range random.Perm(4)[:1+random.IntN(4)] {
			w.want(0, "undone in", "undo", fmt.Sprint(i+1), "--yes")
			undone = append(undone, i+1)
			var want []int
			for id, all := range work {
				if !slices.ContainsFunc(all, func(n int) bool { return slices.Contains(undone, n) }) {
					want = append(want, id+1)
				}
			}
			if got := w.ticked(); !slices.Equal(got, want) {
				t.Fatalf("seed %d: work %v, undone %v: ticked %v, want %v", seed, work, undone, got, want)
			}
		}
	}
}

func TestUndoAndDiff_task_leadToTheTurnsWithItsWork(t *testing.T) {
	w := newPlanWorld(t, true, true)
	w.credit([][]int{{1}, {2}, {1, 3}, {4}})
	if out := w.want(0, "iteration 3", "diff", "three"); !strings.Contains(out, "f1.txt") || !strings.Contains(out, "f3.txt") || strings.Contains(out, "f2.txt") {
		t.Error(out)
	}
	w.want(0, "undo of iterations 3, 1", "undo", "three", "--yes")
	if got := w.ticked(); !slices.Equal(got, []int{2, 4}) {
		t.Errorf("ticked %v", got)
	}
	s, err := state.Open(filepath.Join(w.Dir, state.DirName)).Status()
	if err != nil {
		t.Fatal(err)
	}
	for id, m := range s.Tasks {
		if gone := len(m.Work) == 0; gone == m.Done {
			t.Errorf("%s: %+v", id, m)
		}
	}
}
