// Package ledger is what a run knows about tasks besides what the plan says.
package ledger

import (
	"slices"

	"ralph/runner/audit"
	"ralph/runner/task"
	"ralph/runner/turn"
	"ralph/state"
)

// Ledger holds the notes of each task, by id.
type Ledger map[string]*Notes

// Notes are those of one task.
type Notes struct {
	Skipped  bool   // a person put it off
	Aside    string // why it was put aside; empty: it was not
	Tries    int    // failed checks in a row
	Attempts int    // turns that counted
	Worked   bool   // something was done for it, so its tick needs no more
	Refusals int    // ticks without work
}

// Of are the notes on a task. A task that nothing is known about gets empty ones.
func (l Ledger) Of(id string) *Notes {
	n := l[id]
	if n == nil {
		n = &Notes{}
		l[id] = n
	}
	return n
}

// Choose takes the next task that was not put aside and that no person has put
// off. When only those that were put off are left, they come back.
func (l Ledger) Choose(list task.List) (task.Task, bool) {
	list = without(list, func(t task.Task) bool { return l.Of(t.ID).Aside != "" && !t.Done })
	if t, ok := without(list, func(t task.Task) bool { return l.Of(t.ID).Skipped }).Next(); ok {
		return t, true
	}
	for _, n := range l {
		n.Skipped = false
	}
	return list.Next()
}

func without(list task.List, out func(task.Task) bool) task.List {
	list.Tasks = slices.DeleteFunc(slices.Clone(list.Tasks), out)
	return list
}

// AsideTitles names the open tasks that were put aside.
func (l Ledger) AsideTitles(list task.List) []string {
	var titles []string
	for _, t := range list.Tasks {
		if l.Of(t.ID).Aside != "" && !t.Done {
			titles = append(titles, t.Title)
		}
	}
	return titles
}

// Learn takes over what a turn says about the tasks.
func (l Ledger) Learn(r turn.Result) {
	own, p := l.Of(r.Task.ID), r.Proof
	own.Worked, own.Tries = p.Worked, p.Tries
	if p.Refused {
		own.Refusals++
	}
	if p.GiveUp != "" && own.Aside == "" {
		own.Aside = p.GiveUp
	}
	for _, f := range p.Findings {
		if f.Kind == audit.KindForeignTick && p.Unearned && !p.OnlyTicks {
			n := l.Of(f.Task)
			n.Worked, n.Aside = true, ""
		}
	}
}

// Settled forgets what the tick of a task that is done was worth.
func (l Ledger) Settled(id string) {
	n := l.Of(id)
	n.Worked, n.Refusals, n.Attempts = false, 0, 0
}

// Kept is what the next run has to know.
func (l Ledger) Kept() map[string]state.TaskMemory {
	kept := map[string]state.TaskMemory{}
	for id, n := range l {
		if m := (state.TaskMemory{Worked: n.Worked, Refused: n.Refusals, Skipped: n.Skipped, Attempts: n.Attempts}); m != (state.TaskMemory{}) {
			kept[id] = m
		}
	}
	return kept
}

func (l Ledger) Recall(kept map[string]state.TaskMemory) {
	for id, m := range kept {
		n := l.Of(id)
		n.Worked, n.Refusals, n.Skipped, n.Attempts = m.Worked, m.Refused, m.Skipped, m.Attempts
	}
}
