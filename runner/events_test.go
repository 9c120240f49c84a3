package runner

import (
	"os"
	"strings"
	"testing"

	"ralph/internal/world"
	"ralph/state"
)

// Keys are hidden in every event that carries text of a plan or a command.
func TestEvents_keysInTitlesAndCommands_areHidden(t *testing.T) {
	t.Parallel()
	const key = "ghp_0123456789abcdefghijklmnopqrstuvwxyzAB"
	b := newBench(t, "busy", "[ ] use "+key+" here")
	b.check("true " + key)
	b.o.MaxPerTask = 1
	b.run(t.Context())
	data, err := os.ReadFile(b.w.EventsPath())
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.SplitSeq(string(data), "\n") {
		if strings.Contains(line, key) {
			t.Errorf("%.300s", line)
		}
	}
}

// An event belongs to the iteration that it is about.
func TestEvents_ofTheRun_nameTheirIteration(t *testing.T) {
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
