package protect

import (
	"errors"
	"time"

	"ralph/runner/audit"
	"ralph/runner/task/store"
	"ralph/runner/turn/edits"
)

// Since returns a plan with what people have changed in it since a moment: what a watch saw, and what they recorded. It
// reports whether there was anything.
type Since func(from store.Plan, at time.Time, watched []edits.Edit[store.Plan]) (store.Plan, bool)

// GuardChecks protects the plan while the checks after a call run, as during the call: the call may have written them.
// If they can only read the plan, every change is a person's.
func (p *Plan) GuardChecks(readOnly bool, since Since, checks func() error) ([]audit.Finding, error) {
	begun, now := time.Now(), store.Read(p.call.Plan)
	q := Remember(!readOnly, p.call, now)
	q.checks = true
	q.CallStarts(nil)
	hidden := p.call.Hidden || len(q.files) == 0
	read := func() store.Plan { return store.Read(p.call.Plan) }
	watch := edits.FollowChecks(Watched(p.call.Plan, now), edits.Place{Hidden: hidden}, read)
	err := checks()
	watched := watch.Stop()
	people := func() (store.Plan, bool) { return since(now, begun, watched) }
	o, broken := q.Settle(people)
	if plan, edited := people(); edited && len(q.files) > 0 { // Settle leaves a plan that a person has changed
		left := q.judge(plan, store.Read(p.call.Plan))
		o.Touched, o.back = left.Touched, "ralph left it, because a person changed the plan meanwhile"
	}
	found := o.Findings(nil)
	for i, f := range found { // the caller adds no answers to these
		if answer := o.Answer(f); answer != "" {
			found[i].Text += "; " + answer
		}
	}
	return found, errors.Join(err, broken)
}
