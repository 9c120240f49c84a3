package ledger

import (
	"ralph/runner/task"
	"ralph/state"
	"ralph/state/question"
)

// Read is what a run that begins now would know about the tasks.
func Read(r *state.Reader) Records {
	l := Records{}
	if s, err := r.Status(); err == nil { // else nothing is known
		l.Recall(s.Tasks)
	}
	waits := map[string]bool{}
	if all, err := question.In(r).List(); err == nil {
		for _, q := range all {
			if q.Open() && q.Task != "" {
				waits[q.Task] = true
			}
		}
	}
	l.Wait(waits)
	return l
}

// Next is the task that a run would begin with.
func Next(r *state.Reader, list task.List) (task.Task, bool) { return Read(r).Choose(list) }
