package ledger

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"ralph/runner/audit"
	"ralph/runner/gate"
	"ralph/runner/task"
	"ralph/runner/turn"
	"ralph/state"
	"ralph/state/question"
)

// Records holds the record of each task, by id.
type Records map[string]*Record

// Record is what a run knows about one task.
type Record struct {
	state.TaskMemory             // what the next run has to know, too
	Waits            bool        // for a person's answer
	Report           gate.Report // of the checks after the latest turn
	Said             string      // the final message of the latest turn of its developer
	PreTaskRan       bool        // the hooks at pre_task have run
	// Verdicts are those of all phases of review since the latest turn of its developer, as far as this process knows.
	Verdicts []state.Verdict
}

// Of returns the record of a task. If there is none yet, it adds an empty one.
func (r Records) Of(id string) *Record {
	rec := r[id]
	if rec == nil {
		rec = &Record{}
		r[id] = rec
	}
	return rec
}

// look returns the record of a task for reading only. A large plan has many tasks without one.
func (r Records) look(id string) *Record {
	if rec := r[id]; rec != nil {
		return rec
	}
	return &Record{}
}

const (
	// pastKept bounds Record.Past.
	pastKept = 3
	// feedbackKept bounds a text of Record.Feedback, in bytes: status.json holds
	// those of all open tasks.
	feedbackKept = 2 << 10
)

// Skip puts off a task that a person has skipped.
func (r Records) Skip(id string) {
	r.Of(id).Skipped = true
}

// Choose returns the next task that was neither put aside nor skipped. When only
// skipped tasks are left, they come back, and after them those that were stuck.
func (r Records) Choose(list task.List) (task.Task, bool) {
	r.forgetUndone(list)
	r.takeBack(list)
	t, ok := r.choose(list)
	if !ok && r.unstick() {
		t, ok = r.choose(list)
	}
	return t, ok
}

// unstick ends the rest of the tasks that were put aside because they were stuck. It reports whether there was one.
func (r Records) unstick() (any bool) {
	for _, rec := range r {
		if rec.Aside.Stuck {
			rec.Aside, any = state.Aside{}, true
		}
	}
	return any
}

// Another reports whether another task could be worked on if this one were stuck.
func (r Records) Another(id string, list task.List) bool {
	copied := r.copied()
	copied.Of(id).Aside = state.Aside{Why: "stuck", Stuck: true}
	t, ok := copied.choose(list)
	return ok && t.ID != id
}

func (r Records) choose(list task.List) (task.Task, bool) {
	stuck := func(t task.Task) bool { return r.look(t.ID).Aside.Stuck && t.Pending() }
	if slices.ContainsFunc(list.Tasks, stuck) {
		list.Tasks = slices.Clone(list.Tasks)
		for i, t := range list.Tasks {
			if stuck(t) {
				list.Tasks[i].State = task.Blocked // what depends on it, or is around it, waits
			}
		}
	}
	list = without(list, func(t task.Task) bool {
		rec := r.look(t.ID)
		return (rec.Aside.Why != "" && !rec.Aside.Stuck || rec.Waits) && t.Pending()
	})
	for _, t := range list.Tasks {
		if rec := r.look(t.ID); rec.Review.Phase != "" && t.Pending() && t.State != task.Blocked && !rec.Skipped {
			return t, true // it is finished before the next one begins
		}
	}
	unskipped := without(list, func(t task.Task) bool { return r.look(t.ID).Skipped })
	if t, ok := r.tickedFirst(unskipped).Next(); ok {
		return unskipped.Find(t.ID)
	}
	for _, rec := range r {
		rec.Skipped = false
	}
	return list.Next()
}

// tickedFirst is the list with the tasks before the others that an agent ticked ahead, so that their next turn has to
// check them. An agent whose tick was taken back looks at that task again, whatever it was told to do.
func (r Records) tickedFirst(list task.List) task.List {
	list.Tasks = slices.Clone(list.Tasks)
	for i, t := range list.Tasks {
		rec := r.look(t.ID)
		if t.State == task.Open && (rec.Ticked > 0 || rec.Refused > 0 && rec.Attempts == 0) {
			list.Tasks[i].State = task.Active
		}
	}
	return list
}

// Wait lets these tasks wait for answers, and no others.
func (r Records) Wait(ids map[string]bool) {
	for id := range ids {
		r.Of(id)
	}
	for id, rec := range r {
		rec.Waits = ids[id]
	}
}

// Stuck says why none of the open tasks can be worked on: held are those that somebody has blocked,
// each with its title and the reason in reasons, which is by id; never names those that wait for
// something else than these; aside says what was put aside, and why.
func (r Records) Stuck(list task.List, reasons map[string]string) (held []state.TaskName, never, aside []string) {
	dropped := map[string]bool{}
	list = r.Opened(list)
	free := list
	free.Tasks = slices.Clone(list.Tasks)
	for i, t := range list.Tasks {
		dropped[t.ID] = t.State == task.Dropped
		if a := r.look(t.ID).Aside; a.Why != "" && !a.Stuck && t.Pending() {
			aside = append(aside, fmt.Sprintf("%q: %s", t.Title, a.Why))
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
func (r Records) PutAside(id, why, cause string, list task.List) {
	rec := r.Of(id)
	rec.Feedback = nil
	rec.Aside = state.Aside{Why: why, Cause: cause, Plan: list.Wording()}
	for _, t := range list.Tasks {
		if t.ID == id {
			rec.Aside.Task = t.Wording()
		}
	}
}

// takeBack gives tasks that were put aside a new start if the plan or their text has
// changed since: a person has looked at them.
func (r Records) takeBack(list task.List) {
	wording := ""
	for _, t := range list.Tasks {
		rec := r.look(t.ID)
		if rec.Aside.Why == "" || !t.Pending() {
			continue
		}
		if wording == "" {
			wording = list.Wording()
		}
		if rec.Aside.Plan != wording || rec.Aside.Task != t.Wording() || rec.Aside.Marked && t.State != task.Blocked {
			rec.Aside, rec.Attempts, rec.Tries, rec.Past, rec.Returned, rec.Review = state.Aside{}, 0, 0, nil, false,
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
func (r Records) Opened(list task.List) task.List {
	list.Tasks = slices.Clone(list.Tasks)
	for i, t := range list.Tasks {
		if t.State == task.Blocked && r.look(t.ID).Aside.Marked {
			list.Tasks[i].State = task.Open
		}
	}
	return list
}

// AsideTitles names the open tasks that were put aside until a person has looked at them.
func (r Records) AsideTitles(list task.List) []string {
	var titles []string
	for _, t := range list.Tasks {
		if a := r.look(t.ID).Aside; a.Why != "" && !a.Stuck && t.Pending() {
			titles = append(titles, t.Title)
		}
	}
	return titles
}

// namesKept bounds the tasks that an end names.
const namesKept = 20

// greenKept bounds the tests that a record names.
const greenKept = 5

// NotBegun are the tasks that are left and that nobody has worked on.
func (r Records) NotBegun(list task.List) *state.NotBegun {
	left := &state.NotBegun{}
	for _, t := range list.Tasks {
		if rec := r.look(t.ID); !t.Pending() || !t.Required() || rec.Attempts > 0 || rec.Worked() ||
			rec.Ticked > 0 || rec.Aside.Why != "" {
			continue
		}
		if left.Count++; left.Count <= namesKept {
			left.First = append(left.First, state.TaskName{ID: t.ID, Title: t.Title})
		}
	}
	return left
}

// Ticked are the ids of the tasks that are done, although no turn for them has ended so.
func (r Records) Ticked(list task.List) (ids []string) {
	for _, t := range list.Tasks {
		if t.Done() && r.look(t.ID).Attempts > 0 && len(ids) < namesKept {
			ids = append(ids, t.ID)
		}
	}
	return ids
}

// Learn updates the records with what a turn says about the tasks.
func (r Records) Learn(res turn.Result) {
	own, p := r.Of(res.Task.ID), res.Proof
	own.Tries, own.Report, own.Said = p.Tries, p.Report, cmp.Or(res.Call.Final, own.Said)
	if p.Refused {
		own.Refused++
	}
	if !res.Origin.Reviews { // else they are of its developer's latest turn
		own.ChangedTests = p.ChangedTests
	}
	own.Green = append(own.Green, p.Green[:min(len(p.Green), max(0, greenKept-len(own.Green)))]...)
	r.credit(res)
	r.follow(res)
	if p.GiveUp != "" && own.Aside.Why == "" {
		r.PutAside(res.Task.ID, p.GiveUp, "", p.After.List)
	}
	for _, o := range p.Reopen {
		switch rec := r.Of(o.Task); {
		case o.By == turn.ReopenAudit && o.Task != res.Task.ID && o.Why == audit.NothingChanged:
			rec.Refused++ // its own turn comes next, and counts as the second look
		case o.By != turn.ReopenConfirm:
		case o.Task == res.Task.ID:
			rec.Ticked = res.Origin.Iteration
		case !p.OnlyTicks:
			rec.Ticked = res.Origin.Iteration
			if rec.Aside.Why != "" && !rec.Returned { // one more chance, and only one
				rec.Aside, rec.Returned = state.Aside{}, true
			}
		}
	}
}

// credit records for which tasks a turn did something.
func (r Records) credit(res turn.Result) {
	at := state.Work{Run: res.Origin.Run, Iteration: res.Origin.Iteration}
	if res.Proof.Worked && res.Work.Change.Progress() && !res.Proof.OnlyTicks {
		r.Of(res.Task.ID).add(at, audit.ByTurn, "")
	}
	for _, link := range res.Proof.Links {
		r.Of(link.Task).add(at, link.By, link.What)
	}
}

// add records work of a turn. Of several reasons to connect the two, tests say the most, and the turn alone says the least
// except for words.
func (rec *Record) add(w state.Work, by, what string) {
	w.By, w.What = by, what
	for i, old := range rec.Work {
		if old.Run == w.Run && old.Iteration == w.Iteration {
			if by == audit.ByTests || old.By == audit.ByTurn && by != audit.ByWords {
				rec.Work[i] = w
			}
			return
		}
	}
	rec.Work = append(rec.Work, w)
}

func isAside(rec *Record) bool { return rec.Aside.Plan != "" }

// follow records what the agent changed in the plan while it worked, because only
// a person's changes bring back tasks that were put aside.
func (r Records) follow(res turn.Result) {
	if !res.Work.Before.Usable() || !res.Proof.After.Usable() || !slices.ContainsFunc(slices.Collect(maps.Values(r)), isAside) {
		return
	}
	before, after := res.Work.Before.List.Wording(), res.Proof.After.List.Wording()
	for _, rec := range r {
		if rec.Aside.Plan == before {
			rec.Aside.Plan = after
		}
	}
}

// Bound is the attempt after which the task is put aside: perTask, or an earlier
// one if all further checks fail; 0: no bound. retries 0: no bound of retries.
func (rec *Record) Bound(perTask, retries int) int {
	byChecks := rec.Attempts - rec.Tries + retries + 1
	if rec.Tries == 0 || retries == 0 || perTask > 0 && perTask < byChecks {
		return perTask
	}
	return byChecks
}

// Remember keeps, for its next attempt, what the task's agent has to know.
func (r Records) Remember(id string, feedback []string) {
	rec := r.Of(id)
	rec.Feedback = nil
	for _, text := range feedback {
		rec.Feedback = append(rec.Feedback, bounded(text))
	}
}

func bounded(text string) string {
	if len(text) > feedbackKept {
		return strings.ToValidUTF8(text[:feedbackKept], "") + "\n[...]"
	}
	return text
}

// NotAbout returns the texts that Remember did not keep for a task.
func (r Records) NotAbout(id string, feedback []string) []string {
	own := r.look(id).Feedback
	return slices.DeleteFunc(slices.Clone(feedback), func(text string) bool { return slices.Contains(own, bounded(text)) })
}

// Attempted counts a turn and remembers what it did, in one line.
func (r Records) Attempted(id, line string) {
	rec := r.Of(id)
	rec.Attempts++
	rec.Past = append(rec.Past, line)
	rec.Past = rec.Past[max(0, len(rec.Past)-pastKept):]
}

// Causes are the errors that other tasks were put aside for.
func (r Records) Causes(id string) []string {
	var causes []string
	for other, rec := range r {
		if other != id && rec.Aside.Cause != "" && !rec.Aside.Stuck {
			causes = append(causes, rec.Aside.Cause)
		}
	}
	return causes
}

// Changed names the iterations of a run that changed something, and of the one that it continues (empty: none), for
// turn.History.
func (r Records) Changed(run, continues string) (names []string) {
	var all state.TaskMemory
	for _, rec := range r {
		all.Work = append(all.Work, rec.Work...)
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
func (r Records) Proof(id string, res turn.Result) string {
	rec := r.look(id)
	byTests := slices.ContainsFunc(rec.Work, func(w state.Work) bool { return w.By == audit.ByTests })
	switch {
	case byTests || id == res.Task.ID && len(res.Proof.Green) > 0:
		return state.ProofTests
	case len(rec.Work) == 0 && rec.Ticked > 0: // a later turn confirmed it; the checks pass without it, too
		return state.ProofWord
	case res.Checks.Gated() && res.Proof.Report.Passes():
		return state.ProofChecks
	}
	return state.ProofWord
}

// Reason says in words which work earned a task.
func (r Records) Reason(id string) string {
	var all []string
	for _, w := range r.look(id).Work {
		said := fmt.Sprintf("iteration %d", w.Iteration)
		if w.What != "" {
			said += fmt.Sprintf(" (%s: %s)", w.By, w.What)
		}
		all = append(all, said)
	}
	return cmp.Or(strings.Join(all, ", "), "the agent says so")
}

// Settled closes the record of a task that is done. It keeps only whose work that was, and what shows it.
func (r Records) Settled(id, run, proof string) {
	rec := r.Of(id)
	if len(rec.Work) == 0 && rec.Ticked > 0 { // nobody knows more than what the agent says
		rec.Work = []state.Work{{Run: run, Iteration: rec.Ticked, By: audit.ByConfirm}}
	}
	sure := func(w state.Work) bool { return w.By != audit.ByWords }
	if slices.ContainsFunc(rec.Work, sure) { // words alone connect too much
		rec.Work = slices.DeleteFunc(rec.Work, func(w state.Work) bool { return !sure(w) })
	}
	*rec = Record{TaskMemory: state.TaskMemory{Work: rec.Work, Proof: proof, Done: true, ChangedTests: rec.ChangedTests, Green: rec.Green},
		Verdicts: rec.Verdicts} // for the receipt
}

// forgetUndone begins the record of a task anew that was done and is open again: a person or ralph undo has opened it.
func (r Records) forgetUndone(list task.List) {
	for _, t := range list.Tasks {
		if rec := r.look(t.ID); rec.Done && t.Pending() {
			*rec = Record{}
		}
	}
}

// Others returns the ids of the other open tasks for which turns did something.
func (r Records) Others(id string) (all []string) {
	for other, rec := range r {
		if other != id && len(rec.Work) > 0 && !rec.Done {
			all = append(all, other)
		}
	}
	slices.Sort(all)
	return all
}

// Linked reports whether more than the turn in which it was made connects a change to a task.
func (r Records) Linked(id string) bool {
	return slices.ContainsFunc(r.look(id).Work, func(w state.Work) bool { return w.By != audit.ByTurn })
}

// Kept is what the next run has to know.
func (r Records) Kept() map[string]state.TaskMemory {
	kept := map[string]state.TaskMemory{}
	for id, rec := range r {
		if m := rec.TaskMemory; m.Worked() || m.Ticked > 0 || m.Done || m.Skipped || m.Refused+m.Attempts+m.Tries+len(m.Feedback) > 0 ||
			m.Aside.Why != "" || m.Review.Begun() {
			kept[id] = m
		}
	}
	return kept
}

// Peek is the task that Choose would take. It changes nothing.
func (r Records) Peek(list task.List) (task.Task, bool) { return r.copied().Choose(list) }

func (r Records) copied() Records {
	all := Records{}
	for id, rec := range r {
		record := *rec
		all[id] = &record
	}
	return all
}

// Recall restores what an earlier run has kept.
func (r Records) Recall(kept map[string]state.TaskMemory) {
	for id, m := range kept {
		r.Of(id).TaskMemory = m
	}
}

// Read is what a run that begins now would know about the tasks.
func Read(r *state.Reader) Records {
	l := Records{}
	if s, err := r.Status(); err == nil { // else nothing is known
		l.Recall(s.Tasks)
	}
	waits := map[string]bool{}
	if all, err := question.In(r).List(); err == nil {
		for _, q := range all {
			if q.Open() && q.Task != "" {
				waits[q.Task] = true
			}
		}
	}
	l.Wait(waits)
	return l
}

// Next is the task that a run would begin with.
func Next(r *state.Reader, list task.List) (task.Task, bool) { return Read(r).Choose(list) }
