package intact

import (
	"errors"
	"time"

	"ralph/runner/audit"
	"ralph/runner/task/store"
	"ralph/runner/turn/edits"
)

// Since says what people have changed in a plan since a moment at which it was known: what a watch
// saw, and what they recorded.
type Since func(from store.Plan, at time.Time, watched []edits.Edit[store.Plan]) (store.Plan, bool)

// Around protects the plan, as during a call, while the checks after it run: the call may have written them. It does not
// look at what they can only read: a change there is a person's.
func (p *Plan) Around(readOnly bool, since Since, checks func() error) ([]audit.Finding, error) {
	begun, now := time.Now(), store.Read(p.call.Plan)
	q := Remember(p.inside && !readOnly, p.call, now)
	q.Starts(nil)
	hidden := p.call.Hidden || len(q.files) == 0
	watch := edits.Beside(Watched(p.call.Plan, now), edits.Place{Hidden: hidden}, func() store.Plan { return store.Read(p.call.Plan) })
	err := checks()
	watched := watch.Stop()
	people := func() (store.Plan, bool) { return since(now, begun, watched) }
	o, broken := q.Settle(people)
	if plan, edited := people(); edited && len(q.files) > 0 { // Settle leaves a plan that a person has changed
		left := q.judge(plan, store.Read(p.call.Plan))
		o.Touched, o.back = left.Touched, "it stays, since a person changed the plan meanwhile"
	}
	found := o.Findings(nil)
	for i, f := range found { // nobody else answers these
		if answer := o.Answer(f); answer != "" {
			found[i].Text += "; " + answer
		}
	}
	return found, errors.Join(err, broken)
}
