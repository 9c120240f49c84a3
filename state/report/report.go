// Package report sums up a run on one page: the result, the proof of each task, where
// time and money went, and what to type next.
package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"ralph/logs/termtext"
	"ralph/state"
	"ralph/state/view"
)

// Report is the summary of a run. Its texts are clean lines. As JSON it is
// .ralph/reports/RUN.json and `ralph report --json`.
type Report struct {
	Run        string           `json:"id"`
	Project    string           `json:"project"`
	Status     string           `json:"status"`
	Result     string           `json:"result"` // one sentence
	Why        string           `json:"reason,omitempty"`
	LastError  string           `json:"last_error,omitempty"` // of a run that crashed
	Rule       string           `json:"rule,omitempty"`
	Exit       int              `json:"exit_code"`          // below zero: the run has not ended, or was killed
	Proven     bool             `json:"proven"`             // it has completed, and its checks prove it
	Unproven   string           `json:"unproven,omitempty"` // why it is complete and not proven
	Agent      string           `json:"agent,omitempty"`
	StartedAt  time.Time        `json:"started_at,omitzero"`
	EndedAt    time.Time        `json:"ended_at,omitzero"`
	Iterations int              `json:"iterations"`
	Done       int              `json:"tasks_done"` // of the plan
	Total      int              `json:"tasks_total"`
	USD        float64          `json:"cost_usd"` // as in Cost
	Time       map[Part]float64 `json:"time"`     // seconds; "total" is the wall clock
	Cost       Cost             `json:"cost"`
	Tasks      []Task           `json:"tasks"` // that were worked on
	NotBegun   NotBegun         `json:"not_begun"`
	Findings   []Finding        `json:"findings"`
	Questions  []string         `json:"questions"`
	Learned    []string         `json:"learned"`
	Advice     string           `json:"advice,omitempty"`
	Next       []string         `json:"next"` // commands to type

	changes map[int]Change
	undone  string // what of it was undone in part since it ended; empty: nothing
	flag    string // --run and its id, for commands; empty: it is the last run
}

// Task is a task that the run worked on, and its proof.
type Task struct {
	ID         string          `json:"id"`
	Title      string          `json:"title"`
	State      string          `json:"state"`   // one of the states of tasks
	Verdict    string          `json:"verdict"` // in words
	Iterations []int           `json:"iterations"`
	Commits    []string        `json:"commits"`
	Checks     map[string]bool `json:"checks"`  // name -> passed, after the last iteration
	Reviews    []string        `json:"reviews"` // of the latest work: who looked, and the verdict
	Said       []string        `json:"said"`    // the verdicts with their reasons, a line each
	Seconds    float64         `json:"seconds"`
	USD        float64         `json:"usd"`
	Work       []int           `json:"work"`  // the iterations whose changes belong to it
	ProofBy    string          `json:"proof"` // tests, review, checks, word or none
	// ChangedTests lists the tests that existed before the task and that it changed.
	ChangedTests []string `json:"changed_tests"`
	TurnedGreen  []string `json:"turned_green"` // tests that failed before it and pass now, the first of them

	redBefore []string // checks that fail, but only as they did before the run
	undone    bool     // its latest work
	lost      bool     // by that: it was done
}

// The states of tasks.
const (
	TaskDone  = "done"
	TaskAside = "aside"
	TaskOpen  = "open"
)

// Finding is something to accept, or that the audit found.
type Finding struct {
	N         int    `json:"n,omitempty"` // for ralph accept; 0: none
	Text      string `json:"text"`
	Iteration int    `json:"iteration,omitempty"`
	Show      string `json:"show,omitempty"`
	Accept    string `json:"accept,omitempty"` // the command; empty if there is nothing to accept
}

// Change is what git knows of one iteration.
type Change struct {
	Commit string // the commit it ended with, where it made one
	Diff   string // a patch
	Undone bool
}

// Source is what a report is made of, besides events.
type Source struct {
	Project string
	// Snapshot counts only if it is about the run of the events.
	Snapshot view.Snapshot
	Changes  map[int]Change // by iteration
	// Questions are those that the run asked, or that were answered while it lived, with their answers.
	Questions []string
	Learned   []string // what its turns taught, and is still known
	LastError string   // of a run that crashed, as the next one found it
	Now       time.Time
}

// Build makes the report of the run whose events were folded.
func (f *Fold) Build(s Source) *Report {
	st, run := s.Snapshot.Status, &f.Run
	current := st.RunID == run.ID && run.ID != ""
	r := &Report{Run: run.ID, Project: line(s.Project), Status: view.StateCrashed, Exit: -1,
		Agent: line(view.Join(" ", run.Agent, run.Model)), flag: map[bool]string{false: " --run " + run.ID}[current],
		StartedAt: f.clock.first, Iterations: view.Counted(run.Iterations), Done: run.Done, Total: run.Total,
		Findings: []Finding{}, Questions: lines(s.Questions), Learned: lines(s.Learned)}
	if current {
		r.Status = s.Snapshot.State
		switch {
		case run.End != nil:
			r.Done, r.Total = st.Task.Done, st.Task.Total
		case s.Snapshot.Alive:
			f.clock.until(s.Now)
		default:
			f.clock.until(st.Timestamp) // the last sign of life
		}
	}
	if end := run.End; end != nil {
		r.Rule, r.Why, r.Exit, r.Advice = line(end.Rule), line(end.Reason), end.Exit, line(end.Next)
		r.Proven, r.Unproven = end.Proven, line(end.Unproven)
		if r.EndedAt = f.clock.now; !current {
			r.Status = state.ExitOf(end.Exit).Status
		}
		if current && !st.Active() && st.Rule != "" && (st.ExitCode != end.Exit || st.Undone > 0 || st.Next != end.Next) { // ralph accept, undo, answer or task since then
			r.Rule, r.Why, r.Exit, r.Advice = line(st.Rule), line(st.Reason), st.ExitCode, line(st.Next)
		}
	} else if r.Status == view.StateCrashed {
		r.EndedAt, r.Why, r.Advice = f.clock.now, "the runner was killed, or the machine went down", "to continue: ralph resume"
		if r.LastError = line(s.LastError); current {
			r.LastError = line(st.LastError)
		}
		r.Why += view.Prefix("; the last error: ", r.LastError)
	}
	r.Attach(s.Changes)
	r.Time, r.Cost = f.clock.sums(), f.cost()
	r.USD = r.Cost.USD
	r.Tasks = f.worked(s.Changes)
	r.credit(st.Tasks, f.elsewhere)
	r.takenBack(s, current)
	r.NotBegun = notBegun(run.End, r)
	if current {
		r.review(st.Review)
	}
	r.audited(run.Iterations)
	r.Result = r.result(f)
	r.Next = r.next()
	return r
}

// Attach adds what git knows now.
func (r *Report) Attach(changes map[int]Change) { r.changes = changes }

// Completed reports whether the run did everything that it was asked for.
func (r *Report) Completed() bool { return r.Status == state.StatusCompleted }

// Running reports whether the run has not ended.
func (r *Report) Running() bool {
	return slices.Contains([]string{state.StatusRunning, state.StatusWaiting, state.StatusPaused, view.StateStarting},
		r.Status)
}

// takenBack says what was undone since the run ended. The status of the last run knows that of all runs.
func (r *Report) takenBack(s Source, current bool) {
	own := false
	for _, t := range r.Tasks {
		if own = own || t.undone; t.lost && !current {
			r.Done = max(0, r.Done-1)
		}
	}
	for _, c := range s.Changes {
		own = own || current && c.Undone
	}
	switch {
	case current && s.Snapshot.Status.Undone == 0, !current && !own:
	case own:
		r.undone = "undone"
	default:
		r.undone = "an earlier run was undone"
	}
	if r.undone != "" && r.Proven {
		r.Proven, r.Unproven = false, state.Undone
	}
}

// credit says whose work the tasks are, and adds those that were done in the iterations of others.
func (r *Report) credit(known map[string]state.TaskMemory, elsewhere []state.TaskChange) {
	for _, c := range elsewhere {
		if !slices.ContainsFunc(r.Tasks, func(t Task) bool { return t.ID == c.ID }) && known[c.ID].Done {
			r.Tasks = append(r.Tasks, Task{ID: c.ID, Title: line(cmp.Or(c.Title, c.ID)), State: TaskDone, Verdict: line(c.Why),
				Iterations: []int{}, Commits: []string{}, Checks: map[string]bool{}, Reviews: []string{}, Said: []string{}})
		}
	}
	for i := range r.Tasks {
		t := &r.Tasks[i]
		t.ChangedTests, t.TurnedGreen = lines(known[t.ID].ChangedTests), lines(known[t.ID].Green)
		t.Work, t.ProofBy = known[t.ID].Iterations(r.Run), known[t.ID].ProofOf(t.State == TaskDone)
	}
}

func (f *Fold) worked(changes map[int]Change) []Task {
	all := []Task{}
	for i := range f.Run.Iterations {
		it := &f.Run.Iterations[i]
		n := slices.IndexFunc(all, func(t Task) bool {
			return t.ID == it.TaskID &&
				(it.TaskID != "" || t.Title == line(it.Task))
		})
		if n < 0 {
			n = len(all)
			all = append(all, Task{ID: it.TaskID, Commits: []string{}, Checks: map[string]bool{}, Reviews: []string{}, Said: []string{}})
		}
		t, change := &all[n], changes[it.Number]
		t.Title, t.State = line(cmp.Or(it.Task, it.TaskID)), TaskOpen
		if !it.Reviews { // else the checks are those of the work that it looks at
			t.Checks, t.Reviews, t.Said, t.redBefore = map[string]bool{}, []string{}, []string{}, lines(f.redBefore[it.Number])
		}
		t.Iterations = append(t.Iterations, it.Number)
		t.Seconds, t.USD = t.Seconds+it.Seconds, t.USD+it.CostUSD
		for name, passed := range it.Checks {
			t.Checks[line(name)] = passed
		}
		for _, v := range it.Verdicts {
			t.Reviews = append(t.Reviews, line(v.Short()))
		}
		t.Said = append(t.Said, lines(state.VerdictLines(it.Verdicts))...)
		if commit := it.Commit(change.Commit); commit != "" {
			t.Commits = append(t.Commits, commit)
		}
		switch why, aside := f.aside[it.TaskID]; {
		case f.ticked[it.TaskID] != "":
			t.State, t.Verdict = TaskDone, f.ticked[it.TaskID]
		case it.TaskDone:
			t.State, t.Verdict = TaskDone, t.proof()
		case aside:
			t.State, t.Verdict = TaskAside, line(why)
		case it.Running():
			t.Verdict = "the agent works on it"
		case it.CutOff:
			t.Verdict = "cut off"
		default:
			t.Verdict = line(cmp.Or(view.CutWord(it.Cut), it.Failed, it.Reason, it.Outcome))
		}
		t.undone = change.Undone || t.undone && it.Reviews
		if t.lost = t.undone && t.State == TaskDone; t.undone {
			t.State, t.Verdict = TaskOpen, "taken back by ralph undo"
		}
	}
	return all
}

// proof says what stands behind a tick.
func (t *Task) proof() string {
	return view.Join(" · ", append([]string{t.checked()}, t.Reviews...)...)
}

func (t *Task) checked() string {
	var red, before []string
	for _, name := range slices.Sorted(maps.Keys(t.Checks)) {
		switch {
		case t.Checks[name]:
		case slices.Contains(t.redBefore, name):
			before = append(before, name)
		default:
			red = append(red, name)
		}
	}
	switch {
	case len(t.Checks) == 0 && len(t.Reviews) > 0:
		return "no check ran"
	case len(t.Checks) == 0:
		return "no check ran: only the agent says so"
	case len(red) > 0:
		return "failed: " + strings.Join(red, ", ")
	case len(before) == len(t.Checks):
		return "red before the run: " + strings.Join(before, ", ")
	}
	return termtext.Count(len(t.Checks)-len(before), "check") + " passed" + view.Prefix("; red before the run: ", strings.Join(before, ", "))
}

func (r *Report) review(items []state.ReviewItem) {
	for _, item := range items {
		f := Finding{N: item.N, Text: line(item.Text), Show: line(item.Show)}
		_, _ = fmt.Sscanf(f.Show, "ralph diff %d", &f.Iteration) // else it is not about a single one

		if r.Status == state.StatusReview && r.Rule != state.RuleQuestion && r.Rule != state.RuleBlocked && r.undone == "" { // else nothing is left to accept
			f.Accept = fmt.Sprintf("ralph accept %d", item.N)
		}
		r.Findings = append(r.Findings, f)
	}
}

// maxFindings bounds the findings of the audit that a page lists.
const maxFindings = 100

func (r *Report) audited(all []view.Iteration) {
	for i := range all {
		for _, text := range all[i].Findings {
			known := slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Text == line(text) })
			if len(r.Findings) < maxFindings && !known {
				r.Findings = append(r.Findings, Finding{Text: line(text), Iteration: all[i].Number})
			}
		}
	}
}

// result says in one sentence how the run went. Only a completed run is called complete.
func (r *Report) result(f *Fold) string {
	word := map[string]string{state.StatusCompleted: "Completed",
		state.StatusReview:  "Not finished, it needs your review",
		state.StatusStopped: "Not finished, stopped", state.StatusHalted: "Failed, halted",
		state.StatusFailed: "Failed",
		view.StateCrashed:  "Crashed, the runner died"}[r.Status]
	if r.Running() {
		word = "Still " + r.Status
	}
	if unproven := state.NotProven(r.Status, r.Unproven); unproven != "" && r.undone == "" {
		word = "C" + unproven[1:]
	}
	if r.undone != "" {
		part := " in part"
		if r.Total > 0 && r.Done == 0 {
			part = ""
		}
		word += ", and " + r.undone + part + " since"
	}
	tasks := "there was no plan"
	switch {
	case r.Total == 0 && f.tasks > 0:
		tasks = "the tasks are gone"
	case r.Total > 0:
		tasks = fmt.Sprintf("%d of %s done", r.Done, termtext.Count(r.Total, "task"))
		if by := r.Done - f.before; f.before > 0 && by >= 0 {
			tasks += fmt.Sprintf(", %d in this run", by)
		}
	}
	text := fmt.Sprintf("%s: %s after %s and %s", cmp.Or(word, "Failed"), tasks, view.Span(r.Took()),
		view.CountIterations(r.Iterations, r.Iterations < len(f.Run.Iterations)))
	return text + view.Prefix(", ", view.Dollars(r.USD)) + "."
}

// line makes one clean row of what an agent, a plan or a file said.
func line(s string) string { return termtext.Line(s) }

// lines makes one of each text; never nil, which is null in JSON.
func lines(texts []string) []string {
	return termtext.Each(texts, line)
}

// Decode reads a report from its JSON. It lies where an agent can write, so its texts are
// made clean again.
func Decode(data []byte) (*Report, error) {
	var found any
	r := &Report{}
	err := json.Unmarshal(data, &found)
	if err == nil {
		data, err = json.Marshal(clean(found))
	}
	if err == nil {
		err = json.Unmarshal(data, r)
	}
	if err != nil {
		return nil, fmt.Errorf("read report: %w", err)
	}
	return r, nil
}

// clean makes a line of each text in a JSON value.
func clean(v any) any {
	switch v := v.(type) {
	case string:
		return line(v)
	case []any:
		for i := range v {
			v[i] = clean(v[i])
		}
	case map[string]any:
		for key, inside := range v {
			delete(v, key)
			v[line(key)] = clean(inside)
		}
	}
	return v
}

// Took is the wall clock from the start to the end, or to now.
func (r *Report) Took() time.Duration { return view.Seconds(r.Time[total]) }
