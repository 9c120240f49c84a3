package runner

import (
	"testing"

	"ralph/internal/world"
	"ralph/state"
)

// An event belongs to the iteration that it is about.
func TestReview_eventsOfTheRun_nameTheirIteration(t *testing.T) {
	world.Long(t, "a whole run with several calls")
	t.Parallel()
	b := newBench(t, "busy", "[ ] one", "[ ] two")
	b.inGit()
	b.o.MaxPerTask = 1
	b.run(t.Context())
	var tasks []string
	for _, e := range b.seen {
		switch d := e.Data.(type) {
		case state.IterationStart:
			tasks = append(tasks, e.Task)
		case state.TaskChange:
			if d.State == "put aside" && e.Iteration != len(tasks) {
				t.Errorf("task %q was put aside in iteration %d, the event says %d", d.Title, len(tasks), e.Iteration)
			}
		}
	}
	if len(tasks) != 2 {
		t.Errorf("%d iterations", len(tasks))
	}
}
