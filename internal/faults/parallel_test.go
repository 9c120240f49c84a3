//go:build linux

package faults

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"ralph/internal/world"
	"strings"
	"syscall"
	"testing"
	"time"
)

// beside does its task in a worktree, where others work on theirs at the same time.
func (a *actor) beside() int {
	a.listen()
	return a.doneBeside()
}

// doneBeside is beside without the prompt.
func (a *actor) doneBeside() int {
	id, _, _ := strings.Cut(a.task, " ")
	note("try", id+" "+os.Getenv(machineVar))
	thinks := time.Duration(20+len(id)*10) * time.Millisecond
	if os.Getenv(machineVar) == here {
		thinks = time.Second // the workers of a fleet get most of the turns
	}
	time.Sleep(thinks) // sleep: the agent thinks
	_ = os.WriteFile("work-"+id, []byte(a.task+"\n"), 0o644)
	if a.call%2 == 0 {
		_ = git("add", "work-"+id).Run()
		_ = git("commit", "-q", "-m", "do "+id).Run()
	}
	data, _ := os.ReadFile(planName)
	text := strings.Replace(string(data), "- [ ] "+a.task+"\n", "- [x] "+a.task+"\n", 1)
	_ = os.WriteFile(planName, []byte(text), 0o644)
	return a.result(false, nil)
}

// What has landed is in the user's branch once, and what had not is done again.
func TestKill_turnsSideBySide_nothingLeftNothingLostNothingTwice(t *testing.T) {
	world.Long(t, "worktrees")
	t.Parallel()
	const boxes = 24
	w := newProject(t, "beside", boxes)
	w.Env = append(w.Env, "PARALLEL=3", "PARALLEL_ANY=true", "TEST_COMMAND=true")
	r := rand.New(rand.NewPCG(7, 7))
	kills := amount(12, 300)
	for i := range kills {
		var args []string
		if i%3 == 2 {
			args = []string{"resume"}
		}
		if !strings.Contains(w.Read(planName), "- [ ]") {
			w.refill(boxes)
		}
		p := w.ralph(args...)
		time.Sleep(time.Duration(r.IntN(3000)) * time.Millisecond) // sleep: any moment may be the one
		_ = p.Process.Signal(syscall.SIGKILL)
		p.Wait(leftBound * 30)
		p.Forget()
		w.NoneLeft(leftBound)
		if t.Failed() {
			return
		}
	}
	w.refill(3) // what was done before is in git
	w.ralph().Ends(0)
	wantNumbersOnce(t, w)
	landed := map[string]int{}
	for id := range strings.FieldsSeq(w.Git("log", "--format=%(trailers:key=Ralph-Task,valueonly)")) {
		landed[id]++
	}
	for id, times := range landed {
		if times > 1 {
			t.Errorf("task %s landed %d times", id, times)
		}
	}
	for n := w.tasks - 2; n <= w.tasks; n++ {
		if name := fmt.Sprintf("work-T%d", n); w.Read(name) == "" {
			t.Errorf("%s has not landed", name)
		}
	}
	if got := w.Git("status", "--porcelain", "--", ":!.ralph"); got != "" {
		t.Errorf("the checkout: %s", got)
	}
	if got := w.Git("branch", "--list", "ralph/*"); got != "" {
		t.Errorf("branches are left: %s", got)
	}
	locks, _ := filepath.Glob(w.Path(".git/*.lock"))
	more, _ := filepath.Glob(w.Path(".git/worktrees/*/*lock*"))
	if all := append(locks, more...); len(all) > 0 {
		t.Errorf("locks are left: %v", all)
	}
	t.Logf("%d kills, %d tasks landed, %d calls", kills, len(landed), len(w.entries("call")))
}

// wantNumbersOnce checks that no two iterations of a run ended under one number: diff and undo go by it.
func wantNumbersOnce(t *testing.T, w *project) {
	t.Helper()
	files, _ := filepath.Glob(w.Path(".ralph/events*.jsonl*"))
	ended := map[string]int{}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(data)) {
			var e struct {
				Kind, Run string
				Iteration int
			}
			if json.Unmarshal([]byte(line), &e) != nil || e.Kind != "iteration_end" {
				continue
			}
			key := fmt.Sprintf("%s/%d", e.Run, e.Iteration)
			if ended[key]++; ended[key] == 2 {
				t.Errorf("two iterations ended as %s", key)
			}
		}
	}
	if len(ended) == 0 {
		t.Errorf("no iteration ended in %v", files)
	}
}
