package cli

import (
	"testing"
	"time"

	"ralph/state/view"
)

func TestOutcome_saysWhatBecameOfTheTask(t *testing.T) {
	for want, row := range map[string]view.Iteration{
		"done":                       {Call: view.Call{Outcome: "completed-turn"}, TaskID: "1", TaskDone: true},
		"not done":                   {Call: view.Call{Outcome: "completed-turn"}, TaskID: "1"},
		"done, timeout-with-work":    {Call: view.Call{Outcome: "timeout-with-work"}, TaskID: "1", TaskDone: true},
		"not done, killed-by-signal": {Call: view.Call{Outcome: "killed-by-signal"}, TaskID: "1"},
		"skipped":                    {Call: view.Call{Outcome: "killed-by-signal", Cut: "skip"}, TaskID: "1"},
		"aborted":                    {Call: view.Call{Outcome: "killed-by-signal", Cut: "abort"}, TaskID: "1"},
		"undone by ralph undo":       {Call: view.Call{Outcome: "completed-turn"}, TaskID: "1", Kept: view.Kept{Undone: true}},
		"completed-turn":             {Call: view.Call{Outcome: "completed-turn"}}, // without a plan, or of version 1
	} {
		row.Ended = time.Unix(1, 0)
		if got := outcome(row); got != want {
			t.Errorf("%+v: %q, want %q", row, got, want)
		}
	}
}

func TestTaskID_markOfATaskThatMayRunBeside_isNoPartOfItsTitle(t *testing.T) {
	p := &past{events: []view.Iteration{{TaskID: "T1", Task: "Write file a"}, {TaskID: "T2", Task: "[P] Write file beta"}}}
	for _, title := range []string{"write file beta", "[P] Write file b"} {
		if id := p.taskID(title); id != "T2" {
			t.Errorf("%s: %q", title, id)
		}
	}
}
