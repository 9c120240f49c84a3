package ledger

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ralph/runner/audit"
	"ralph/runner/gate"
	"ralph/runner/task"
	"ralph/runner/turn"
	"ralph/state"
)

// Records holds the record of each task, by id.
type Records map[string]*Record

// Record is what a run knows about one task.
type Record struct {
	state.TaskMemory             // what the next run has to know, too
	Waits            bool        // for a person's answer
	Report           gate.Report // of the checks after the latest turn
	PreTaskRan       bool        // the hooks at pre_task have run
}

// Of returns the record of a task. If there is none yet, it adds an empty one.
func (l Records) Of(id string) *Record {
	n := l[id]
	if n == nil {
		n = &Record{}
		l[id] = n
	}
	return n
}

// look returns the record of a task for reading only. A large plan has many tasks without one.
func (l Records) look(id string) *Record {
	if n := l[id]; n != nil {
		return n
	}
	return &Record{}
}

// Used is how often a task was attempted, and how often in a row its checks failed.
func (l Records) Used(id string) (attempts, tries int) {
	n := l.look(id)
	return n.Attempts, n.Tries
}

const (
	// pastKept bounds Record.Past.
	pastKept = 3
	// feedbackKept bounds a text of Record.Feedback, in bytes: status.json holds
	// those of all open tasks.
	feedbackKept = 2 << 10
)

// Skip puts off a task that a person has skipped.
func (l Records) Skip(id string) {
	l.Of(id).Skipped = true
}

// Choose returns the next task that was neither put aside nor skipped. When only
// skipped tasks are left, they come back.
func (l Records) Choose(list task.List) (task.Task, bool) {
	l.forgetUndone(list)
	l.takeBack(list)
	list = without(list, func(t task.Task) bool {
		n := l.look(t.ID)
		return (n.Aside.Why != "" || n.Waits) && t.Pending()
	})
	for _, t := range list.Tasks {
		if n := l.look(t.ID); n.Review.Phase != "" && t.Pending() && t.State != task.Blocked && !n.Skipped {
			return t, true // it is finished before the next one begins
		}
	}
	if t, ok := without(list, func(t task.Task) bool { return l.look(t.ID).Skipped }).Next(); ok {
		return t, true
	}
	for _, n := range l {
		n.Skipped = false
	}
	return list.Next()
}

// Wait lets these tasks wait for answers, and no others.
func (l Records) Wait(ids map[string]bool) {
	for id := range ids {
		l.Of(id)
	}
	for id, n := range l {
		n.Waits = ids[id]
	}
}

// Stuck says why none of the open tasks can be worked on: held are those that somebody has blocked,
// each with its title and the reason in reasons, which is by id; never names those that wait for
// something else than these; aside says what was put aside, and why.
func (l Records) Stuck(list task.List, reasons map[string]string) (held []state.TaskName, never, aside []string) {
	dropped := map[string]bool{}
	list = l.Opened(list)
	free := list
	free.Tasks = slices.Clone(list.Tasks)
	for i, t := range list.Tasks {
		dropped[t.ID] = t.State == task.Dropped
		if why := l.look(t.ID).Aside.Why; why != "" && t.Pending() {
			aside = append(aside, fmt.Sprintf("%q: %s", t.Title, why))
		} else if t.State == task.Blocked && t.Required() {
			why := cmp.Or(reasons[t.ID], fmt.Sprintf("marked %q", list.Word(t)))
			held = append(held, state.TaskName{ID: t.ID, Title: fmt.Sprintf("%q: %s", t.Title, why)})
			free.Tasks[i].State = task.Open
		}
	}
	for _, t := range free.Blocked() {
		name := t.ID
		for _, id := range t.DependsOn {
			if dropped[id] {
				name = fmt.Sprintf("%s (depends on %s, which was dropped)", t.ID, id)
			}
		}
		never = append(never, name)
	}
	return held, never, aside
}

// PutAside gives a task up until it, or the plan, changes. cause is the error
// that it is given up for; empty: none.
func (l Records) PutAside(id, why, cause string, list task.List) {
	n := l.Of(id)
	n.Feedback = nil
	n.Aside = state.Aside{Why: why, Cause: cause, Plan: list.Wording()}
	for _, t := range list.Tasks {
		if t.ID == id {
			n.Aside.Task = t.Wording()
		}
	}
}

// takeBack gives tasks that were put aside a new start if the plan or their text has
// changed since: a person has looked at them.
func (l Records) takeBack(list task.List) {
	wording := ""
	for _, t := range list.Tasks {
		n := l.look(t.ID)
		if n.Aside.Why == "" || !t.Pending() {
			continue
		}
		if wording == "" {
			wording = list.Wording()
		}
		if n.Aside.Plan != wording || n.Aside.Task != t.Wording() || n.Aside.Marked && t.State != task.Blocked {
			n.Aside, n.Attempts, n.Tries, n.Past, n.Returned, n.Review = state.Aside{}, 0, 0, nil, false,
				state.Reviewing{}
		}
	}
}

func without(list task.List, out func(task.Task) bool) task.List {
	if slices.ContainsFunc(list.Tasks, out) {
		list.Tasks = slices.DeleteFunc(slices.Clone(list.Tasks), out)
	}
	return list
}

// Opened is the list with the tasks open that are only blocked because they were put aside.
func (l Records) Opened(list task.List) task.List {
	list.Tasks = slices.Clone(list.Tasks)
	for i, t := range list.Tasks {
		if t.State == task.Blocked && l.look(t.ID).Aside.Marked {
			list.Tasks[i].State = task.Open
		}
	}
	return list
}

// AsideTitles names the open tasks that were put aside.
func (l Records) AsideTitles(list task.List) []string {
	var titles []string
	for _, t := range list.Tasks {
		if l.look(t.ID).Aside.Why != "" && t.Pending() {
			titles = append(titles, t.Title)
		}
	}
	return titles
}

// namesKept bounds the tasks that an end names.
const namesKept = 20

// NotBegun are the tasks that are left and that nobody has worked on.
func (l Records) NotBegun(list task.List) *state.NotBegun {
	left := &state.NotBegun{}
	for _, t := range list.Tasks {
		if n := l.look(t.ID); !t.Pending() || !t.Required() || n.Attempts > 0 || n.Worked() ||
			n.Ticked > 0 || n.Aside.Why != "" {
			continue
		}
		if left.Count++; left.Count <= namesKept {
			left.First = append(left.First, state.TaskName{ID: t.ID, Title: t.Title})
		}
	}
	return left
}

// Ticked are the ids of the tasks that are done, although no turn for them has ended so.
func (l Records) Ticked(list task.List) (ids []string) {
	for _, t := range list.Tasks {
		if t.Done() && l.look(t.ID).Attempts > 0 && len(ids) < namesKept {
			ids = append(ids, t.ID)
		}
	}
	return ids
}

// Learn updates the records with what a turn says about the tasks.
func (l Records) Learn(r turn.Result) {
	own, p := l.Of(r.Task.ID), r.Proof
	own.Tries, own.Report = p.Tries, p.Report
	if p.Refused {
		own.Refused++
	}
	l.credit(r)
	l.follow(r)
	if p.GiveUp != "" && own.Aside.Why == "" {
		l.PutAside(r.Task.ID, p.GiveUp, "", p.After.List)
	}
	for _, o := range p.Reopen {
		switch n := l.Of(o.Task); {
		case o.By != turn.ReopenConfirm:
		case o.Task == r.Task.ID:
			n.Ticked = r.Origin.Iteration
		case !p.OnlyTicks:
			n.Ticked = r.Origin.Iteration
			if n.Aside.Why != "" && !n.Returned { // one more chance, and only one
				n.Aside, n.Returned = state.Aside{}, true
			}
		}
	}
}

// credit records for which tasks a turn did something.
func (l Records) credit(r turn.Result) {
	at := state.Work{Run: r.Origin.Run, Iteration: r.Origin.Iteration}
	if r.Proof.Worked && r.Work.Change.Progress() && !r.Proof.OnlyTicks {
		l.Of(r.Task.ID).add(at, audit.ByTurn, "")
	}
	for _, link := range r.Proof.Links {
		l.Of(link.Task).add(at, link.By, link.What)
	}
}

// add records work of a turn. Of several reasons to connect the two, tests say the most, and the turn alone says the least
// except for words.
func (n *Record) add(w state.Work, by, what string) {
	w.By, w.What = by, what
	for i, old := range n.Work {
		if old.Run == w.Run && old.Iteration == w.Iteration {
			if by == audit.ByTests || old.By == audit.ByTurn && by != audit.ByWords {
				n.Work[i] = w
			}
			return
		}
	}
	n.Work = append(n.Work, w)
}

// follow records what the agent changed in the plan while it worked, because only
// a person's changes bring back tasks that were put aside.
func (l Records) follow(r turn.Result) {
	if !r.Work.Before.Usable() || !r.Proof.After.Usable() {
		return
	}
	before, after := r.Work.Before.List.Wording(), r.Proof.After.List.Wording()
	for _, n := range l {
		if n.Aside.Plan == before {
			n.Aside.Plan = after
		}
	}
}

// Bound is the attempt after which the task is put aside: perTask, or an earlier
// one if all further checks fail; 0: no bound. retries 0: no bound of retries.
func (n *Record) Bound(perTask, retries int) int {
	byChecks := n.Attempts - n.Tries + retries + 1
	if n.Tries == 0 || retries == 0 || perTask > 0 && perTask < byChecks {
		return perTask
	}
	return byChecks
}

// Remember keeps, for its next attempt, what the task's agent has to know.
func (l Records) Remember(id string, feedback []string) {
	n := l.Of(id)
	n.Feedback = nil
	for _, text := range feedback {
		if len(text) > feedbackKept {
			text = strings.ToValidUTF8(text[:feedbackKept], "") + "\n[...]"
		}
		n.Feedback = append(n.Feedback, text)
	}
}

// Attempted counts a turn and remembers what it did, in one line.
func (l Records) Attempted(id, line string) {
	n := l.Of(id)
	n.Attempts++
	n.Past = append(n.Past, line)
	n.Past = n.Past[max(0, len(n.Past)-pastKept):]
}

// Causes are the errors that other tasks were put aside for.
func (l Records) Causes(id string) []string {
	var causes []string
	for other, n := range l {
		if other != id && n.Aside.Cause != "" {
			causes = append(causes, n.Aside.Cause)
		}
	}
	return causes
}

// Changed names the iterations of a run that changed something, and of the one that it continues (empty: none), for
// turn.History.
func (l Records) Changed(run, continues string) (names []string) {
	var all state.TaskMemory
	for _, n := range l {
		all.Work = append(all.Work, n.Work...)
	}
	for _, n := range slices.Backward(all.Iterations(run)) {
		names = append(names, strconv.Itoa(n))
	}
	if continues != "" && continues != run {
		for _, n := range slices.Backward(all.Iterations(continues)) {
			names = append(names, fmt.Sprintf("%d of %s", n, continues))
		}
	}
	return names
}

// Proof says what shows that a task is done which a turn has finished.
func (l Records) Proof(id string, r turn.Result) string {
	n := l.look(id)
	byTests := slices.ContainsFunc(n.Work, func(w state.Work) bool { return w.By == audit.ByTests })
	switch {
	case byTests || id == r.Task.ID && len(r.Proof.Green) > 0:
		return state.ProofTests
	case len(n.Work) == 0 && n.Ticked > 0: // a later turn confirmed it; the checks pass without it, too
		return state.ProofWord
	case r.Checks.Gated() && r.Proof.Report.Passes():
		return state.ProofChecks
	}
	return state.ProofWord
}

// Reason says in words which work earned a task.
func (l Records) Reason(id string) string {
	var all []string
	for _, w := range l.look(id).Work {
		said := fmt.Sprintf("iteration %d", w.Iteration)
		if w.What != "" {
			said += fmt.Sprintf(" (%s: %s)", w.By, w.What)
		}
		all = append(all, said)
	}
	return cmp.Or(strings.Join(all, ", "), "the agent says so")
}

// Settled closes the record of a task that is done. It keeps only whose work that was, and what shows it.
func (l Records) Settled(id, run, proof string) {
	n := l.Of(id)
	if len(n.Work) == 0 && n.Ticked > 0 { // nobody knows more than what the agent says
		n.Work = []state.Work{{Run: run, Iteration: n.Ticked, By: audit.ByConfirm}}
	}
	sure := func(w state.Work) bool { return w.By != audit.ByWords }
	if slices.ContainsFunc(n.Work, sure) { // words alone connect too much
		n.Work = slices.DeleteFunc(n.Work, func(w state.Work) bool { return !sure(w) })
	}
	*n = Record{TaskMemory: state.TaskMemory{Work: n.Work, Proof: proof, Done: true}}
}

// forgetUndone begins the record of a task anew that was done and is open again: a person or ralph undo has opened it.
func (l Records) forgetUndone(list task.List) {
	for _, t := range list.Tasks {
		if n := l.look(t.ID); n.Done && t.Pending() {
			*n = Record{}
		}
	}
}

// Others returns the ids of the other open tasks for which turns did something.
func (l Records) Others(id string) (all []string) {
	for other, n := range l {
		if other != id && len(n.Work) > 0 && !n.Done {
			all = append(all, other)
		}
	}
	slices.Sort(all)
	return all
}

// Linked reports whether more than the turn in which it was made connects a change to a task.
func (l Records) Linked(id string) bool {
	return slices.ContainsFunc(l.look(id).Work, func(w state.Work) bool { return w.By != audit.ByTurn })
}

// Kept is what the next run has to know.
func (l Records) Kept() map[string]state.TaskMemory {
	kept := map[string]state.TaskMemory{}
	for id, n := range l {
		if m := n.TaskMemory; m.Worked() || m.Ticked > 0 || m.Done || m.Skipped || m.Refused+m.Attempts+m.Tries+len(m.Feedback) > 0 ||
			m.Aside.Why != "" || m.Review.Begun() {
			kept[id] = m
		}
	}
	return kept
}

// Peek is the task that Choose would take. It changes nothing.
func (l Records) Peek(list task.List) (task.Task, bool) {
	copied := Records{}
	for id, n := range l {
		record := *n
		copied[id] = &record
	}
	return copied.Choose(list)
}

// Recall restores what an earlier run has kept.
func (l Records) Recall(kept map[string]state.TaskMemory) {
	for id, m := range kept {
		l.Of(id).TaskMemory = m
	}
}
