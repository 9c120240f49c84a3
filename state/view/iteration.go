package view

import (
	"cmp"
	"slices"
	"time"

	"ralph/logs/termtext"
	"ralph/state"
)

// Developer is the role of the agent that works on a task.
const Developer = "developer"

// Iteration is one iteration of a run, with all its tries. A try is repeated when its call failed for a reason
// that has nothing to do with the task.
type Iteration struct {
	Run       string    `json:"run"`
	Number    int       `json:"iteration"`
	StartedAt time.Time `json:"started,omitzero"`
	Ended     time.Time `json:"ended"` // zero: running or cut off
	TaskID    string    `json:"task_id,omitempty"`
	Task      string    `json:"task"` // its title
	TaskDone  bool      `json:"task_done,omitempty"`
	// CutOff is true when the runner died before the iteration ended.
	CutOff bool `json:"cut_off,omitempty"`
	Call
	Verdict
	Checks   map[string]bool `json:"checks"`             // name -> passed, in the latest try
	Findings []string        `json:"findings"`           // of the audit
	Found    int             `json:"-"`                  // findings of all sources
	Role     string          `json:"role,omitempty"`     // who worked; empty: the developer
	Reviews  bool            `json:"-"`                  // that role looks at the work of another
	Verdicts []state.Verdict `json:"verdicts,omitempty"` // of reviewers
	Edits    []string        `json:"edits,omitempty"`    // of the plan, by a person during a call
	Landed   string          `json:"-"`                  // the commit that the work became part of the branch with
	Beside   bool            `json:"-"`                  // it ran in a worktree, beside others
	Kept
}

// Commit is the commit that the iteration added to the user's branch, if head is the one that its folder ended with;
// empty: none.
func (it *Iteration) Commit(head string) string {
	if it.Beside {
		return it.Landed
	}
	return cmp.Or(it.Landed, head)
}

// Call is what the calls of the agent in an iteration came to.
type Call struct {
	Outcome string      `json:"outcome"`          // class of the latest one
	Agent   string      `json:"agent,omitempty"`  // with its model; empty: not known
	Failed  string      `json:"failed,omitempty"` // why that one went wrong, in words; empty: it did not
	Cut     string      `json:"cut,omitempty"`    // skip or abort: a person ended it
	Says    string      `json:"says,omitempty"`   // STATUS of the agent's status block
	Files   int         `json:"files"`            // changed
	Tools   int         `json:"tool_calls,omitempty"`
	Tries   int         `json:"tries,omitempty"` // calls
	Seconds float64     `json:"seconds"`         // of the calls and their checks
	Usage   state.Usage `json:"usage"`
	CostUSD float64     `json:"cost_usd"` // as in Usage
}

// Verdict is what the run decided after an iteration.
type Verdict struct {
	Action state.Action `json:"action,omitempty"`
	Rule   string       `json:"rule"`
	Reason string       `json:"reason"`
}

// Kept is what git keeps of an iteration. Callers set it.
type Kept struct {
	State   string `json:"state"`    // object id of the kept state; empty: not kept, or pruned
	LeftOut int    `json:"left_out"` // files that were too large or too many to keep
	Undone  bool   `json:"undone"`   // by ralph undo
}

// Running reports whether the iteration has not ended and was not cut off.
func (it *Iteration) Running() bool { return it.Ended.IsZero() && !it.CutOff }

func (it *Iteration) found(d state.Finding) {
	if d.Name == state.FoundUnread {
		return
	}
	it.Found++
	if d.Source == state.FoundByAudit && len(it.Findings) < maxFindings {
		it.Findings = append(it.Findings, clip(findingText(d), maxSentence))
	}
}

// known returns the iteration with this number if it is one of the latest, else nil.
func (r *Run) known(number int) *Iteration {
	for i := len(r.Iterations) - 1; i >= max(len(r.Iterations)-maxBeside, 0); i-- {
		if r.Iterations[i].Number == number {
			return &r.Iterations[i]
		}
	}
	return nil
}

// iteration returns the iteration of an event and adds it if it is new. For an event
// outside of iterations it returns a dummy.
func (r *Run) iteration(e state.Event) *Iteration {
	if e.Iteration <= 0 {
		return &Iteration{}
	}
	if it := r.known(e.Iteration); it != nil {
		if it.Ended.IsZero() {
			it.CutOff = false
		}
		return it
	}
	if n := len(r.Iterations); n > 0 && !r.beside && r.Iterations[n-1].Running() {
		r.Iterations[n-1].CutOff = true
	}
	if len(r.Iterations) >= maxIterations {
		r.Iterations = slices.Delete(r.Iterations, 0, maxIterations/10)
	}
	r.Iterations = append(r.Iterations,
		Iteration{Run: r.ID, Number: e.Iteration, StartedAt: e.Time, TaskID: e.Task, Beside: r.beside})
	return &r.Iterations[len(r.Iterations)-1]
}

func (r *Run) begin(e state.Event, d state.IterationStart) {
	it := r.iteration(e)
	it.TaskID, it.Task, it.Verdicts = e.Task, clip(cmp.Or(d.Title, d.Why), maxSentence), nil
	it.Role, it.Reviews = Unless(Developer, e.Role), e.Reviews
	r.Edited = slices.DeleteFunc(r.Edited, func(one Edit) bool {
		other := r.known(one.Iteration)
		return other == it || other == nil || !other.Running()
	})
	it.Tries++
	it.Agent = Join(" ", d.Agent, d.Model)
	// Findings stay, as do the changes that caused them.
	it.Ended, it.CutOff, it.Checks = time.Time{}, false, nil
	r.called(e, it)
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
	it.Action, it.Rule, it.Reason = d.Action, d.Rule, clip(d.Reason, maxSentence)
	it.Failed = ""
	if d.Failed && d.Cut == "" {
		it.Failed = clip(cmp.Or(d.Detail, d.Outcome), maxSentence)
	}
	it.Cut, it.Says = clip(d.Cut, maxSentence), clip(d.Says, maxSentence)
	it.Task = cmp.Or(it.Task, clip(d.Title, maxSentence))
	if d.Usage != (state.Usage{}) {
		r.spend(e, d.Usage)
	}
	r.called(e, it)
	if d.Total > 0 {
		r.Done, r.Total = d.Done, d.Total
	}
	if d.TaskDone {
		r.done[it.TaskID] = true
	}
	if d.TaskDone && e.Task != "" {
		r.Notes = slices.DeleteFunc(r.Notes, func(n Note) bool { return n.Open == e.Task })
	}
	if it.Seconds += d.Seconds; d.Seconds == 0 {
		it.Seconds += max(e.Time.Sub(it.StartedAt), 0).Seconds()
	}
	r.drop()
}

// Settle marks the latest iterations without an end as running or cut off.
func (r *Run) Settle(alive bool) {
	for i := max(len(r.Iterations)-maxBeside, 0); i < len(r.Iterations); i++ {
		it, last := &r.Iterations[i], i == len(r.Iterations)-1
		if it.Ended.IsZero() && (last || !alive || r.End != nil) {
			it.CutOff = !alive || r.End != nil
		}
	}
}

// Counted is the number of iterations without the aborted ones, as the run's bounds count them.
func Counted(all []Iteration) (n int) {
	for i := range all {
		if all[i].Cut != string(state.RequestAbort) {
			n++
		}
	}
	return n
}

// CountIterations says how many there were; cut: others were perhaps aborted, and do not count.
func CountIterations(n int, cut bool) string {
	return termtext.Count(n, map[bool]string{true: "finished iteration", false: "iteration"}[cut])
}

// CutWord says how a person ended an iteration; empty: nobody did.
func CutWord(cut string) string {
	switch cut {
	case "":
		return ""
	case string(state.RequestSkip):
		return "skipped"
	}
	return "aborted"
}
