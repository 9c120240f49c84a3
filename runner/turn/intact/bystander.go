package intact

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"ralph/runner/audit"
	"ralph/runner/task"
	"ralph/runner/task/store"
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

// Settle puts back what the bystander changed in tasks, and returns a finding for each of them. own has the tasks that
// ralph itself has changed since Watch. could reports whether the bystander can have written at a time; nil: always.
// Call it while nothing else of ralph writes the plan.
func (b *Bystander) Settle(since Since, own func(time.Time) []string, could func(time.Time) bool) ([]audit.Finding, error) {
	f := b.plan.call.Plan
	now := store.Read(f)
	if len(b.plan.files) == 0 || len(others(b.plan.before.List.Tasks, now.List.Tasks, nobody, false)) == 0 {
		return nil, nil
	}
	if could != nil && !slices.ContainsFunc(b.plan.files, func(f file) bool { return could(written(f.path)) }) {
		return nil, nil // a person has saved it
	}
	people := func() (store.Plan, bool) { return since(b.plan.before, b.begun, nil) }
	var mine []string
	if own != nil {
		mine = own(b.begun)
	}
	if len(mine) == 0 {
		o, err := b.plan.settle(people)
		if len(o.Touched) > 0 || err != nil {
			return answered(o), err
		}
	}
	// Others have changed the plan as well: take back one task after the other.
	expected, _ := people()
	now = store.Read(f)
	var o Outcome
	var stay []string
	for _, was := range others(expected.List.Tasks, now.List.Tasks, nobody, false) {
		is, there := now.List.Find(was.ID)
		if slices.Contains(mine, was.ID) {
			continue
		}
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
		o.back += "; the text of these was left, because somebody else changed the plan, too: " + strings.Join(stay, ", ")
	}
	return answered(o), nil
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

// written returns when a path last changed: its ctime, which no program can set.
func written(path string) time.Time {
	var st unix.Stat_t
	if unix.Stat(path, &st) != nil {
		return time.Now()
	}
	return time.Unix(st.Ctim.Unix())
}
