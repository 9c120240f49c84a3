package protect

import (
	"errors"
	"time"

	"ralph/runner/audit"
	"ralph/runner/task/store"
)

const leftToPerson = "ralph left it, because a person changed the plan meanwhile"

// GuardChecks protects the plan while the checks after a call run, as during the call: the call may have written them.
// If they can only read the plan, every change is a person's. People record theirs with ralph's commands.
func (p *Plan) GuardChecks(readOnly bool, checks func() error) ([]audit.Finding, error) {
	begun := time.Now()
	q := Remember(!readOnly, p.call, store.Read(p.call.Plan))
	if q.checks = true; readOnly {
		q.files = nil
	}
	q.CallStarts(nil)
	err := checks()
	people := (&store.JournalPeople{File: p.call.Plan, From: q.before, Since: begun}).Now
	o, broken := q.Settle(people)
	if plan, edited := people(); edited && len(q.files) > 0 { // Settle leaves a plan that a person has changed
		left := q.judge(plan, store.Read(p.call.Plan))
		o.Touched, o.Broken, o.back = left.Touched, left.Broken, leftToPerson
	}
	found := o.Findings(nil)
	for i, f := range found { // the caller adds no answers to these
		if answer := o.Answer(f); answer != "" {
			found[i].Text += "; " + answer
		}
	}
	return found, errors.Join(err, broken)
}
