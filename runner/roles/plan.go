package roles

import (
	"cmp"
	"slices"

	"ralph/runner/task"
)

// Asking is what decides who is asked about a task.
type Asking struct {
	Task    task.Task  // without an id, nobody is asked
	Named   []string   // judges that the plan gave it when work on it began
	Rows    []Reviewer // judges of config.yaml
	Project bool       // the project's own conventions ask for QA
}

// Plan says which phases a task goes through: a step for each role that reviews, in the order of the table.
type Plan []Step

// Step is a phase and its reviewers; none: the task skips it.
type Step struct {
	Role
	Reviewers []Reviewer
}

// Names are the names of its reviewers, for people.
func (s Step) Names() (all []string) {
	for _, r := range s.Reviewers {
		all = append(all, cmp.Or(s.Title, r.Name))
	}
	return all
}

// For says which phases a task goes through.
func (o Review) For(a Asking) Plan { return o.plan(Table(), a) }

func (o Review) plan(table []Role, a Asking) (p Plan) {
	for _, r := range table {
		if r.Reviews() && a.Task.ID != "" {
			p = append(p, Step{r, r.Who(o, a)})
		}
	}
	return p
}

// Next is the phase after this one; empty: the task is done. The phase before all others is
// empty, and so counts one that the table does not have.
func (p Plan) Next(phase string) string {
	for _, s := range p[p.index(phase)+1:] {
		if len(s.Reviewers) > 0 {
			return s.Phase
		}
	}
	return ""
}

// Of are those who look at a task in a phase.
func (p Plan) Of(phase string) []Reviewer {
	if i := p.index(phase); i >= 0 {
		return p[i].Reviewers
	}
	return nil
}

// All are those who look at a task in any phase.
func (p Plan) All() (all []Reviewer) {
	for _, s := range p {
		all = append(all, s.Reviewers...)
	}
	return all
}

func (p Plan) index(phase string) int {
	return slices.IndexFunc(p, func(s Step) bool { return s.Phase == phase })
}
