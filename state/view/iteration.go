package view

import (
	"cmp"
	"slices"
	"time"

	"ralph/state"
)

// Iteration is one iteration of a run, over all tries: a call that failed for a
// reason outside of the task is made again under the same number.
type Iteration struct {
	Run       string    `json:"run"`
	Number    int       `json:"iteration"`
	StartedAt time.Time `json:"started,omitzero"`
	Ended     time.Time `json:"ended"` // zero: it runs, or was cut off
	TaskID    string    `json:"task_id,omitempty"`
	Task      string    `json:"task"` // its title
	TaskDone  bool      `json:"task_done,omitempty"`
	// CutOff is true when the runner was killed before the iteration had an end.
	CutOff  bool            `json:"cut_off,omitempty"`
	Outcome string          `json:"outcome"` // class of the latest call
	Action  string          `json:"action,omitempty"`
	Rule    string          `json:"rule"`
	Reason  string          `json:"reason"`
	Checks  map[string]bool `json:"checks"` // name -> passed, in the latest try
	// Findings are what the audit found.
	Findings []string    `json:"findings"`
	Files    int         `json:"files"` // changed
	Tools    int         `json:"tool_calls,omitempty"`
	Tries    int         `json:"tries,omitempty"` // calls of the agent
	Seconds  float64     `json:"seconds"`         // of the calls
	Usage    state.Usage `json:"usage"`
	CostUSD  float64     `json:"cost_usd"` // as in Usage
	// State is the object id of the kept state; empty: not kept, or pruned. The
	// events do not tell it, nor the two below: who knows git fills them in.
	State   string `json:"state"`
	LeftOut int    `json:"left_out"` // files too large or too many to be kept
	Undone  bool   `json:"undone"`   // taken back by ralph undo
}

// Running reports whether the iteration has not ended and was not cut off.
func (it *Iteration) Running() bool { return it.Ended.IsZero() && !it.CutOff }

// known returns the iteration of this number when it is one of the latest two.
func (r *Run) known(number int) *Iteration {
	for i := len(r.Iterations) - 1; i >= max(len(r.Iterations)-2, 0); i-- {
		if r.Iterations[i].Number == number {
			return &r.Iterations[i]
		}
	}
	return nil
}

// iteration returns the iteration of an event, made when it is new. For an event
// outside of iterations it is one that nobody sees.
func (r *Run) iteration(e state.Event) *Iteration {
	if e.Iteration <= 0 {
		return &Iteration{}
	}
	if it := r.known(e.Iteration); it != nil {
		return it
	}
	if n := len(r.Iterations); n > 0 && r.Iterations[n-1].Running() {
		r.Iterations[n-1].CutOff = true
	}
	if len(r.Iterations) >= maxIterations {
		r.Iterations = slices.Delete(r.Iterations, 0, maxIterations/10)
	}
	r.spent, r.tries = r.Usage, state.Usage{}
	r.Iterations = append(r.Iterations, Iteration{Run: r.ID, Number: e.Iteration, StartedAt: e.Time, TaskID: e.Task})
	return &r.Iterations[len(r.Iterations)-1]
}

func (r *Run) begin(e state.Event, d state.IterationStart) {
	it := r.iteration(e)
	it.TaskID, it.Task = e.Task, clip(cmp.Or(d.Title, d.Why), maxTold)
	it.Tries++
	it.Ended, it.CutOff, it.Checks = time.Time{}, false, nil // what was found stays in the files
	r.spent, r.tries = r.Usage, it.Usage
	if d.Agent != "" {
		r.Agent, r.Model = d.Agent, d.Model
	}
	if d.Total > 0 {
		r.Done, r.Total = d.Done, d.Total
	}
	r.drop()
}

func (r *Run) end(e state.Event, d state.IterationEnd) {
	it := r.iteration(e)
	it.Ended, it.CutOff, it.Outcome, it.Files, it.TaskDone = e.Time, false, d.Outcome, d.Files, d.TaskDone
	it.Action, it.Rule, it.Reason = d.Action, d.Rule, clip(d.Reason, maxTold)
	if it.Task == "" {
		it.Task = clip(d.Title, maxTold)
	}
	if d.Usage != (state.Usage{}) {
		r.spend(it, d.Usage)
	}
	r.spent, r.tries = r.Usage, it.Usage
	if d.Total > 0 {
		r.Done, r.Total = d.Done, d.Total
	}
	if it.Seconds += d.Seconds; d.Seconds == 0 {
		it.Seconds += max(e.Time.Sub(it.StartedAt), 0).Seconds()
	}
	r.drop()
}

// settle decides whether the latest iteration without an end runs or was cut off.
func (r *Run) settle(alive bool) {
	if n := len(r.Iterations); n > 0 && r.Iterations[n-1].Ended.IsZero() {
		r.Iterations[n-1].CutOff = !alive || r.End != nil
	}
}

// Task is what the iterations of a run did for one task.
type Task struct {
	ID       string    `json:"id"` // in the plan; empty in events of version 1
	Title    string    `json:"title"`
	Done     bool      `json:"done"`
	Attempts int       `json:"attempts"` // iterations
	Last     int       `json:"last"`     // the latest iteration
	Seconds  float64   `json:"seconds"`  // of agent calls
	CostUSD  float64   `json:"cost_usd"`
	WorkedAt time.Time `json:"worked_at,omitzero"` // begin of the latest iteration
}

// Tasks are the tasks that were worked on, in the order of their first iteration.
func Tasks(iterations []Iteration) []Task {
	var all []Task
	index := map[[2]string]int{}
	for i := range iterations {
		it := &iterations[i]
		key := [2]string{it.TaskID}
		if it.TaskID == "" {
			key[1] = it.Task
		}
		at, known := index[key]
		if !known {
			at = len(all)
			index[key] = at
			all = append(all, Task{ID: it.TaskID})
		}
		t := &all[at]
		t.Title, t.Done, t.Last, t.WorkedAt = it.Task, it.TaskDone && !it.Undone, it.Number, it.StartedAt
		t.Attempts++
		t.Seconds += it.Seconds
		t.CostUSD += it.CostUSD
	}
	return all
}

// Spent is what each of the latest n iterations has spent: US dollars, or tokens
// where the agent names no cost.
func (r *Run) Spent(n int) (values []float64, of string) {
	all := r.Iterations[max(len(r.Iterations)-n, 0):]
	of = "tokens"
	if slices.ContainsFunc(all, func(it Iteration) bool { return it.CostUSD > 0 }) {
		of = "cost"
	}
	for i := range all {
		v := float64(all[i].Usage.Total())
		if of == "cost" {
			v = all[i].CostUSD
		}
		values = append(values, v)
	}
	return values, of
}
