package runner

import (
	"slices"

	"ralph/runner/audit"
	"ralph/runner/task"
	"ralph/runner/turn"
	"ralph/state"
)

// ledger is what a run knows about tasks besides what the plan says, by id.
type ledger map[string]*taskNotes

type taskNotes struct {
	skipped  bool   // a person put it off
	aside    string // why it was put aside; empty: it was not
	tries    int    // failed checks in a row
	attempts int    // turns that counted
	worked   bool   // something was done for it, so its tick needs no more
	refusals int    // ticks without work
}

// of are the notes on a task. A task that nothing is known about gets empty ones.
func (l ledger) of(id string) *taskNotes {
	n := l[id]
	if n == nil {
		n = &taskNotes{}
		l[id] = n
	}
	return n
}

// choose takes the next task that was not put aside and that no person has put
// off. When only those that were put off are left, they come back.
func (l ledger) choose(list task.List) (task.Task, bool) {
	list = without(list, func(t task.Task) bool { return l.of(t.ID).aside != "" && !t.Done })
	if t, ok := without(list, func(t task.Task) bool { return l.of(t.ID).skipped }).Next(); ok {
		return t, true
	}
	for _, n := range l {
		n.skipped = false
	}
	return list.Next()
}

func without(list task.List, out func(task.Task) bool) task.List {
	list.Tasks = slices.DeleteFunc(slices.Clone(list.Tasks), out)
	return list
}

// asideTitles names the open tasks that were put aside.
func (l ledger) asideTitles(list task.List) []string {
	var titles []string
	for _, t := range list.Tasks {
		if l.of(t.ID).aside != "" && !t.Done {
			titles = append(titles, t.Title)
		}
	}
	return titles
}

// learn takes over what a turn says about the tasks.
func (l ledger) learn(r turn.Result) {
	own, p := l.of(r.Task.ID), r.Proof
	own.worked, own.tries = p.Worked, p.Tries
	if p.Refused {
		own.refusals++
	}
	if p.GiveUp != "" && own.aside == "" {
		own.aside = p.GiveUp
	}
	for _, f := range p.Findings {
		if f.Kind == audit.KindForeignTick && p.Unearned && !p.OnlyTicks {
			n := l.of(f.Task)
			n.worked, n.aside = true, ""
		}
	}
}

// settled forgets what the tick of a task that is done was worth.
func (l ledger) settled(id string) {
	n := l.of(id)
	n.worked, n.refusals, n.attempts = false, 0, 0
}

// kept is what the next run has to know.
func (l ledger) kept() map[string]state.TaskMemory {
	kept := map[string]state.TaskMemory{}
	for id, n := range l {
		if m := (state.TaskMemory{Worked: n.worked, Refused: n.refusals, Skipped: n.skipped, Attempts: n.attempts}); m != (state.TaskMemory{}) {
			kept[id] = m
		}
	}
	return kept
}

func (l ledger) recall(kept map[string]state.TaskMemory) {
	for id, m := range kept {
		n := l.of(id)
		n.worked, n.refusals, n.skipped, n.attempts = m.Worked, m.Refused, m.Skipped, m.Attempts
	}
}
