package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ralph/runner/git"
	"ralph/runner/task/store"
	"ralph/state/view"
)

// planWorld has a run of four iterations behind it, and a plan of a box a line:
// iteration N wrote fN.txt and line N of a shared file, and ticked box N.
type planWorld struct {
	*pastWorld
	committed bool // the iterations, the plan with them
	plan      string
}

const fourBoxes = "- [ ] T1: one\n- [ ] two\n- [ ] three\n- [ ] T4: four\n"

func newPlanWorld(t *testing.T, committed, planTracked bool) *planWorld {
	t.Helper()
	w := &planWorld{newEmptyWorld(t), committed, ".ralph/fix_plan.md"}
	w.write("shared.txt", strings.Repeat("line\n", 40))
	if planTracked {
		w.write(w.plan, fourBoxes)
	}
	w.git("add", "-A")
	w.git("commit", "-q", "-m", "first")
	w.write(w.plan, fourBoxes)
	k, _ := git.NewKeeper(w.Dir)
	base := w.keep(k, git.State{Run: pastRun, Iteration: 1, Start: true})
	var events strings.Builder
	list, err := store.Parse(w.plan, []byte(fourBoxes), nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, box := range list.Tasks {
		n := i + 1
		w.write(fmt.Sprintf("f%d.txt", n), "new\n")
		lines := strings.Split(w.read("shared.txt"), "\n")
		lines[10*i] = fmt.Sprintf("line of %d", n)
		w.write("shared.txt", strings.Join(lines, "\n"))
		w.write(w.plan, strings.Replace(w.read(w.plan), "[ ] "+box.Title, "[x] "+box.Title, 1))
		if committed {
			w.git("add", "shared.txt", fmt.Sprintf("f%d.txt", n))
			if planTracked {
				w.git("add", w.plan)
			}
			w.git("commit", "-q", "-m", box.Title)
		}
		base = w.keep(k, git.State{Run: pastRun, Iteration: n, Base: base, Task: box.ID, Plan: w.plan})
		fmt.Fprintf(&events, `{"v":2,"run":%q,"kind":"iteration_start","iteration":%d,"data":{"title":%q}}`+"\n", pastRun, n, box.Title)
	}
	w.write(".ralph/events.jsonl", events.String())
	return w
}

func (w *planWorld) read(name string) string {
	w.t.Helper()
	data, err := os.ReadFile(filepath.Join(w.Dir, name))
	if err != nil {
		w.t.Fatal(err)
	}
	return string(data)
}

// wantUndone looks at the files: those of these iterations are undone, no others.
func (w *planWorld) wantUndone(undone ...int) {
	w.t.Helper()
	boxes := strings.Split(fourBoxes, "\n")
	for n := 1; n <= 4; n++ {
		is := false
		for _, u := range undone {
			is = is || u == n
		}
		_, err := os.Stat(filepath.Join(w.Dir, fmt.Sprintf("f%d.txt", n)))
		if open := strings.Contains(w.read(w.plan), boxes[n-1]+"\n"); os.IsNotExist(err) != is || open != is || strings.Contains(w.read("shared.txt"), fmt.Sprintf("of %d", n)) == is {
			w.t.Errorf("iteration %d: want undone %t, its file %v, plan\n%s", n, is, err, w.read(w.plan))
		}
	}
}

func TestUndo_oneAfterTheOther_everyOrderAndItsBox(t *testing.T) {
	for _, order := range [][]int{{2}, {4, 3, 2, 1}, {1, 2, 3, 4}, {2, 4, 1, 3}} {
		for _, committed := range []bool{true, false} {
			for _, tracked := range []bool{true, false} {
				t.Run(fmt.Sprintf("%v committed=%t planTracked=%t", order, committed, tracked), func(t *testing.T) {
					if testing.Short() && (committed != tracked || order[0] != 4) {
						t.Skip("long: each order in each kind of project")
					}
					w := newPlanWorld(t, committed, tracked)
					for i, n := range order {
						w.want(0, "undone in", "undo", fmt.Sprint(n), "--yes")
						w.wantUndone(order[:i+1]...)
					}
					if status := w.git("status", "--porcelain"); committed && tracked && status != "" {
						t.Errorf("status %q", status)
					}
					_, out := w.do("iterations", "--json")
					var rows []view.Iteration
					if err := json.Unmarshal([]byte(out), &rows); err != nil || len(rows) != 4 {
						t.Fatalf("%v\n%s", err, out)
					}
					for _, row := range rows {
						if want := strings.Contains(fmt.Sprint(order), fmt.Sprint(row.Number)); row.Undone != want {
							t.Errorf("iteration %d: undone %t", row.Number, row.Undone)
						}
					}
					w.want(2, "is undone already", "undo", fmt.Sprint(order[0]), "--yes")
				})
			}
		}
	}
}

// A task is more than one iteration: what it changed is shown and taken back as a whole,
// also where its iterations changed the same file, and others came between.
func TestUndoAndDiff_task_coverAllItsIterations(t *testing.T) {
	for _, committed := range []bool{true, false} {
		w := newPlanWorld(t, committed, true)
		k, _ := git.NewKeeper(w.Dir)
		base := w.keep(k, git.State{Run: pastRun, Iteration: 5, Start: true})
		w.write("f1.txt", "newer\n")
		w.write("more.txt", "more\n")
		if committed {
			w.git("add", "-A")
			w.git("commit", "-qm", "one, again")
		}
		w.keep(k, git.State{Run: pastRun, Iteration: 5, Base: base, Task: "T1", Plan: w.plan})
		out := w.want(0, "iteration 5: ", "diff", "T1")
		if i := strings.Index(out, "+new\n"); i < 0 || !strings.Contains(out[i:], "+newer") || strings.Contains(out, "f2.txt") {
			t.Errorf("diff of the task:\n%s", out)
		}
		w.want(0, "undo of iterations 5, 1 of run", "undo", "T1", "--yes")
		w.wantUndone(1)
		if _, err := os.Stat(filepath.Join(w.Dir, "more.txt")); err == nil {
			t.Error("more.txt is still there")
		}
		if out := w.want(0, "undone", "iterations"); strings.Count(out, "undone") != 2 {
			t.Errorf("iterations says\n%s", out)
		}
		w.want(2, "task T1 is undone already", "undo", "T1", "--yes")
		w.want(2, `no iteration or task "T9"`, "undo", "T9", "--yes")
	}
}

func TestUndo_dirtyPlan_isChangedAndNotCommitted(t *testing.T) {
	w := newPlanWorld(t, true, true)
	w.write(w.plan, w.read(w.plan)+"- [ ] five\n")
	w.want(0, "undone in commit", "undo", "3", "--yes")
	w.wantUndone(3)
	if got := w.git("show", "--format=", "--name-only"); got != "f3.txt\nshared.txt" {
		t.Errorf("committed %q", got)
	}
	if !strings.Contains(w.read(w.plan), "five") {
		t.Error("the user's task is gone")
	}
}

func TestUndo_ignoredPlan_isNotCommitted(t *testing.T) {
	w := newPlanWorld(t, true, false)
	w.write(".git/info/exclude", w.plan+"\n")
	w.want(0, "undone in commit", "undo", "3", "--yes")
	w.wantUndone(3)
	if got := w.git("show", "--format=", "--name-only"); got != "f3.txt\nshared.txt" {
		t.Errorf("committed %q", got)
	}
}

func TestUndo_taskNoLongerInThePlan_isSaidAndTheRestUndone(t *testing.T) {
	w := newPlanWorld(t, true, true)
	w.write(w.plan, strings.Replace(w.read(w.plan), "- [x] three\n", "", 1))
	w.git("commit", "-qam", "the user's")
	plan := w.read(w.plan)
	w.want(0, `"three" is not in .ralph/fix_plan.md any more`, "undo", "3", "--yes")
	if _, err := os.Stat(filepath.Join(w.Dir, "f3.txt")); err == nil || w.read(w.plan) != plan {
		t.Errorf("%v, plan\n%s", err, w.read(w.plan))
	}
}

func TestUndo_iterationThatOnlyTicked_opensTheBox(t *testing.T) {
	for _, committed := range []bool{true, false} {
		w := newPlanWorld(t, committed, true)
		k, _ := git.NewKeeper(w.Dir)
		w.write(w.plan, w.read(w.plan)+"- [ ] T5: five\n")
		base := w.keep(k, git.State{Run: pastRun, Iteration: 5, Start: true})
		w.write(w.plan, strings.Replace(w.read(w.plan), "[ ] T5", "[x] T5", 1))
		w.git("commit", "-qam", "five")
		w.keep(k, git.State{Run: pastRun, Iteration: 5, Base: base, Task: "T5", Plan: w.plan})
		w.want(0, "undone in commit", "undo", "5", "--yes")
		if got := w.git("show", "--format=", "--name-only") + w.read(w.plan); !strings.HasPrefix(got, w.plan) || !strings.Contains(got, "[ ] T5") {
			t.Error(got)
		}
		w.want(2, "is undone already", "undo", "5", "--yes")
	}
}

// What the user changed since is never taken for the loop's, also after an undo
// elsewhere.
func TestUndo_userChangedAFileBetweenTwo_isRefused(t *testing.T) {
	w := newPlanWorld(t, false, true)
	w.write("f2.txt", "the user's\n")
	w.want(0, "in the work tree", "undo", "4", "--yes")
	w.want(2, "have changes that the loop did not make; commit or stash them first: f2.txt", "undo", "2", "--yes")
	w.wantUndone(4)
}

func TestUndo_revertOfTheUndo_isNotUndone(t *testing.T) {
	w := newPlanWorld(t, true, true)
	w.want(0, "undone in commit", "undo", "2", "--yes")
	w.want(0, "undone", "iterations")
	w.git("revert", "--no-edit", "HEAD")
	w.wantUndone()
	if out := w.want(0, "two", "iterations"); strings.Contains(out, "undone") {
		t.Error(out)
	}
	w.want(0, "undone in commit", "undo", "2", "--yes")
	w.wantUndone(2)
}

// What docs/proof.md says brings back what was undone without a commit.
func TestUndo_workTreeOnly_comesBackFromThePatchAndTheKeptState(t *testing.T) {
	w := newPlanWorld(t, false, true)
	w.want(0, "in the work tree", "undo", "2", "--yes")
	_, patch := w.do("diff", "2")
	w.write(".git/patch", patch)
	w.git("apply", "--exclude="+w.plan, ".git/patch")
	w.git("restore", "--source=refs/ralph/"+pastRun+"/2", w.plan)
	for _, name := range []string{"f2.txt", "shared.txt", w.plan} {
		if !strings.Contains(w.read(name), map[string]string{"f2.txt": "new", "shared.txt": "line of 2", w.plan: "[x] two"}[name]) {
			t.Errorf("%s is\n%s", name, w.read(name))
		}
	}
}
