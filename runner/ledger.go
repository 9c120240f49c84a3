package runner

import "ralph/state"

// ledger is what a run knows about tasks besides what the plan says, by id.
type ledger map[string]*taskNotes

type taskNotes struct {
	skipped  bool   // a person put it off
	aside    string // why it was given up; empty: it was not
	tries    int    // failed checks
	worked   bool   // something was done for it; its tick needs no more
	refusals int    // ticks without work
}

// of are the notes on a task; of one that nothing is known of, empty ones.
func (l ledger) of(id string) *taskNotes {
	n := l[id]
	if n == nil {
		n = &taskNotes{}
		l[id] = n
	}
	return n
}

// noSkips forgets what was put off.
func (l ledger) noSkips() {
	for _, n := range l {
		n.skipped = false
	}
}

// kept is what the next run has to know.
func (l ledger) kept() map[string]state.TaskMemory {
	kept := map[string]state.TaskMemory{}
	for id, n := range l {
		if m := (state.TaskMemory{Worked: n.worked, Refused: n.refusals, Skipped: n.skipped}); m != (state.TaskMemory{}) {
			kept[id] = m
		}
	}
	return kept
}

func (l ledger) recall(kept map[string]state.TaskMemory) {
	for id, m := range kept {
		n := l.of(id)
		n.worked, n.refusals, n.skipped = m.Worked, m.Refused, m.Skipped
	}
}

// settled forgets what the tick of a task that is done was worth.
func (l ledger) settled(id string) {
	n := l.of(id)
	n.worked, n.refusals = false, 0
}
