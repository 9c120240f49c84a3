package preflight

import (
	"ralph/cmd/internal/cmdline"
	"ralph/runner/ledger"
	"ralph/runner/task"
	"ralph/state"
	"ralph/state/question"
)

// Ledger is what a run that begins now would know about the tasks of the plan.
func Ledger(r *state.Reader) ledger.Ledger {
	l := ledger.Ledger{}
	if s, err := r.Status(); err == nil { // without it, nothing is known
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
func (p *Project) Next() (task.Task, bool) {
	return Ledger(cmdline.OpenState(p.Dir)).Choose(p.Tasks)
}

// PutAside says which open tasks of the plan no run works on any more, each with its reason.
func (p *Project) PutAside() []string {
	l := Ledger(cmdline.OpenState(p.Dir))
	l.Choose(p.Tasks) // takes back what has changed since
	_, aside := l.Stuck(p.Tasks)
	return aside
}
