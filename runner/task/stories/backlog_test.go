package stories

import (
	"testing"

	"ralph/runner/task"
)

func TestBacklogWords_wholeWordsSayTheState_andTheLastIsDone(t *testing.T) {
	for config, want := range map[string]map[string]task.State{
		"[To Do, In Progress, Abandoned, Done]": {"To Do": task.Open, "In Progress": task.Active, "Abandoned": task.Dropped, "Done": task.Done},
		"[New, Incomplete, Inactive, Untested, Not started, Complete]": {"Incomplete": task.Open, "Inactive": task.Open, "Untested": task.Open,
			"Not started": task.Open, "Complete": task.Done},
		"[A, Code review, Ready for QA, On-hold, Won't do, Closed, Shipped]": {"Code review": task.Review, "Ready for QA": task.Review,
			"On-hold": task.Blocked, "Won't do": task.Dropped, "Closed": task.Done, "Shipped": task.Done},
	} {
		w, err := backlogWords(task.Input{Files: []task.File{{Name: "config.yml", Data: []byte("statuses: " + config)}}})
		if err != nil {
			t.Fatal(err)
		}
		for name, state := range want {
			if got := w.Read[name]; got != state {
				t.Errorf("%s: %q is read as %s, want %s", config, name, got, state)
			}
		}
		if last := w.Write[task.Done]; last != "Done" && last != "Complete" && last != "Shipped" {
			t.Errorf("%s: done is written as %q", config, last)
		}
	}
}
