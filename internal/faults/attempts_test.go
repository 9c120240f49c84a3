//go:build linux

package faults

import (
	"encoding/json"
	"fmt"
	"syscall"
	"testing"

	"ralph/internal/world"
)

// A killed turn says nothing about its task: it must not use up the attempts of the task.
func TestKill_asOftenAsATaskMayBeTried_noTaskIsPutAside(t *testing.T) {
	world.Long(t, "runs that are killed again and again")
	for _, parallel := range []int{1, 2} {
		t.Run(fmt.Sprintf("parallel=%d", parallel), func(t *testing.T) {
			t.Parallel()
			w := newProject(t, "waiter", 2)
			w.Set("PARALLEL", fmt.Sprint(parallel))
			kills := amount(4, 11)
			w.Set("MAX_ITERATIONS_PER_TASK", fmt.Sprint(kills-1))
			for i := range kills {
				was := len(w.entries("call"))
				verb := "run"
				if i%2 == 1 {
					verb = "resume"
				}
				p := w.ralph(verb)
				w.Until("a call of the agent", func() bool { return len(w.entries("call")) > was || !p.Alive() }, p.Said)
				if !p.Alive() {
					t.Fatalf("start %d ended by itself:\n%s", i, p.Said())
				}
				_ = p.Process.Signal(syscall.SIGKILL)
				p.Wait(world.Patience)
				w.NoneLeft(leftBound)
				p.Forget()
			}
			out, _ := w.Run("ralph", "task", "list", "--json")
			var tasks []struct {
				State    string `json:"state"`
				Attempts int    `json:"attempts"`
			}
			if err := json.Unmarshal([]byte(out), &tasks); err != nil || len(tasks) != 2 {
				t.Fatalf("%v\n%s", err, out)
			}
			for _, task := range tasks {
				if task.State != "open" || task.Attempts != 0 {
					t.Errorf("%+v", task)
				}
			}
		})
	}
}
