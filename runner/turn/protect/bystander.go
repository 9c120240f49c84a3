package protect

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"ralph/runner/audit"
	"ralph/runner/task"
	"ralph/runner/task/store"
	"ralph/runner/turn/edits"
)

// Bystander is a program without a task, such as a reviewer or a hook: nothing that it changes in the plan counts.
type Bystander struct {
	plan  *Plan
	begun time.Time
}

// nobody is the task of a bystander. No plan has it.
const nobody = "\x00"

// Watch reads the plan before a bystander starts. logs and iteration say where the text that it writes is kept.
func Watch(f store.File, logs string, iteration int) *Bystander {
	call := Call{Plan: f, Task: task.Task{ID: nobody}, Logs: logs, Iteration: iteration}
	p := Remember(true, call, store.Read(f))
	p.checks = true
	return &Bystander{p, time.Now()}
}

// Own returns the states that ralph itself has written since a moment, by the id of the task; nil: it took the task out
// of the plan.
type Own func(time.Time) map[string]*task.State

// Settle puts back what the bystander changed in tasks, and returns a finding for each of them. own may be nil. could
// reports whether the bystander can have written at a time; nil: always. Call it while nothing else of ralph writes the
// plan.
func (b *Bystander) Settle(own Own, could func(time.Time) bool) ([]audit.Finding, error) {
	f := b.plan.call.Plan
	now := store.Read(f)
	var mine map[string]*task.State
	if own != nil {
		mine = own(b.begun)
	}
	before := b.plan.before.List.Tasks
	if len(b.plan.files) == 0 || len(mine) == 0 && len(others(before, now.List.Tasks, nobody, false)) == 0 {
		return nil, nil
	}
	wrote := func(f file) bool { at, _ := edits.ChangedAt(f.path); return at.IsZero() || could(at) }
	if could != nil && !slices.ContainsFunc(b.plan.files, wrote) {
		return nil, nil // a person has saved it
	}
	people := (&store.JournalPeople{File: f, From: b.plan.before, Since: b.begun}).Now
	broken := now.Error != "" || len(now.List.Tasks) == 0 && !slices.Contains(slices.Collect(maps.Values(mine)), nil)
	if len(mine) == 0 || broken {
		o, err := b.plan.settle(people)
		switch {
		case o.Broken != "":
			err = errors.Join(err, again(f, mine))
		case broken && o.harmless(): // settle leaves a plan that a person has changed
			o.Broken, o.back = b.plan.judge(b.plan.before, now).Broken, leftToPerson
		}
		if !o.harmless() || err != nil {
			return answered(o), err
		}
	}
	// Others have changed the plan as well: take back one task after the other.
	expected, _ := people()
	now = store.Read(f)
	var o Outcome
	var stay []string
	var tasks []task.Task // as the run and people have left them
	for _, t := range expected.List.Tasks {
		is, there := now.List.Find(t.ID)
		switch to, noted := mine[t.ID]; {
		case noted && to == nil:
			continue
		case noted && there && is.State == *to:
			t = is // the run may have written a reason or verdicts, too
		case noted && !changedBy(t, before, now.List):
			t.State, t.Word = *to, ""
		}
		tasks = append(tasks, t)
	}
	for _, was := range others(tasks, now.List.Tasks, nobody, false) {
		is, there := now.List.Find(was.ID)
		o.Touched = append(o.Touched, was)
		if there && is.State != was.State {
			if err := store.Restore(f, is, was); err != nil {
				return answered(o), fmt.Errorf("restore plan: %w", err)
			}
		}
		if !there || is.Wording() != was.Wording() {
			stay = append(stay, fmt.Sprintf("%q", was.Title))
		}
	}
	o.back = "ralph restored its state"
	if len(stay) > 0 {
		o.back += "; it kept the new text of these tasks, because somebody else edited the plan meanwhile: " + strings.Join(stay, ", ")
	}
	return answered(o), nil
}

// again writes the states that ralph itself had written before the plan was put back.
func again(f store.File, mine map[string]*task.State) (broken error) {
	for id, to := range mine {
		_, err := store.Mark(f, id, *cmp.Or(to, new(task.Done)))
		broken = errors.Join(broken, err)
	}
	for id, to := range mine {
		if t, there := store.Read(f).List.Find(id); there && to == nil {
			broken = errors.Join(broken, store.Remove(f, t, func(string, []task.Task) error { return nil }))
		}
	}
	return broken
}

// changedBy reports whether a person gave a task its state, and it still has that.
func changedBy(person task.Task, before []task.Task, now task.List) bool {
	i := slices.IndexFunc(before, func(t task.Task) bool { return t.ID == person.ID })
	is, there := now.Find(person.ID)
	return there && is.State == person.State && (i < 0 || before[i].State != person.State)
}

// answered returns the findings with what ralph did about them.
func answered(o Outcome) []audit.Finding {
	found := o.Findings(nil)
	for i, f := range found {
		found[i].Text = strings.Replace(f.Text, "the iteration was for another one", "nobody was working on it", 1)
		if answer := o.Answer(f); answer != "" {
			found[i].Text += "; " + answer
		}
	}
	return found
}

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
