package view

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"ralph/state"
)

// Limits on what a Run remembers, however long it lasts.
const (
	maxIterations = 10_000
	maxNotes      = 100
	maxFindings   = 100   // of one iteration
	maxChecks     = 200   // of a run, and of one iteration
	maxOpen       = 1_000 // tool calls without an answer
	maxBeside     = 128   // iterations among which those are that run side by side
	maxEdited     = 100   // files
	maxSentence   = 400   // runes of a reason, a finding, a title
)

// Run is the fold of the events of one run. The zero value is ready for use. It is not
// safe for concurrent use.
type Run struct {
	ID        string    `json:"id"`
	Agent     string    `json:"agent"` // the current one
	Model     string    `json:"model,omitempty"`
	StartedAt time.Time `json:"started_at,omitzero"`
	Done      int       `json:"done"` // tasks of the plan
	Total     int       `json:"total"`
	// Iterations are the latest 10,000, oldest first.
	Iterations []Iteration   `json:"iterations"`
	Usage      state.Usage   `json:"usage"` // of the whole run
	Limits     []state.Limit `json:"limits,omitempty"`
	// Feedback is what the latest prompt told the agent, word for word.
	Feedback []string            `json:"feedback,omitempty"`
	Checks   []state.CheckStatus `json:"checks,omitempty"` // in the order in which they first ran
	// Notes are the latest 100 findings, feedback texts and baselines.
	Notes     []Note          `json:"notes,omitempty"`
	Tool      *ToolCall       `json:"tool,omitempty"`       // the latest; nil between agent calls
	File      string          `json:"file,omitempty"`       // that the agent read or wrote last in this call
	SubAgents []state.Tool    `json:"sub_agents,omitempty"` // the calls that started them
	End       *state.RunEnd   `json:"end,omitempty"`        // nil: running, or killed
	Edited    []Edit          `json:"-"`                    // files that agents have edited in their current turns, latest last
	Commit    Commit          `json:"-"`                    // the latest of this run; zero: none
	AtStart   map[string]bool `json:"-"`                    // name -> passed: checks before the work
	Pace      Pace            `json:"-"`

	beside bool                  // iterations run side by side
	done   map[string]bool       // tasks that an iteration of this run finished, and nobody has reopened
	open   map[string]state.Tool // tool calls without an answer
	spent  state.Usage           // of all calls that are over
	calls  map[int]state.Usage   // of those that are not, by iteration
	tries  map[int]state.Usage   // of an iteration's calls that are over
}

// ToolCall is a tool that the agent called.
type ToolCall struct {
	state.Tool
	At   time.Time `json:"at"`
	Busy bool      `json:"busy"` // it has not answered yet
}

// Edit is what an agent changed in a file, as its tool calls say.
type Edit struct {
	Iteration      int
	File           string
	Added, Deleted int // lines
}

// Commit is a commit of ralph's.
type Commit struct {
	At    time.Time
	OID   string
	Files int
	Task  string // its title
}

// Note is a finding, feedback, a baseline or a reopened task in one line.
type Note struct {
	At   time.Time `json:"at"`
	Text string    `json:"text"`
	Role Role      `json:"role"`
	Task bool      `json:"task,omitempty"` // it says what became of a task; false: it is a finding
	Kept bool      `json:"-"`              // it is among the items of status.json while it holds
	Open string    `json:"-"`              // the task that it is about, until that is done; empty: it stays
}

// Add folds one event. An event of another run starts a new model, which keeps only the
// usage limits: they belong to the account.
func (r *Run) Add(e state.Event) {
	start, starts := e.Data.(state.RunStart)
	if e.Run != r.ID && (starts || e.Run != "") || starts && !start.Resumed {
		r.drop()
		*r = Run{ID: e.Run, Limits: r.Limits}
	}
	if r.tries == nil {
		r.done, r.AtStart, r.open = map[string]bool{}, map[string]bool{}, map[string]state.Tool{}
		r.calls, r.tries = map[int]state.Usage{}, map[int]state.Usage{}
	}
	switch d := e.Data.(type) {
	case state.RunStart:
		r.Settle(false) // the run before may have been killed
		r.drop()
		r.beside = d.Parallel > 1
		r.Agent, r.Model, r.Done, r.Total, r.End = d.Agent, d.Model, d.Done, d.Total, nil
		if r.StartedAt.IsZero() {
			r.StartedAt = e.Time
		}
	case state.AgentChange:
		r.Agent, r.Model = d.Name, d.Model
	case state.SessionStart:
		r.Model = cmp.Or(r.Model, d.Model)
	case state.IterationStart:
		r.begin(e, d)
	case state.IterationEnd:
		r.end(e, d)
	case state.Tool:
		r.call(e, d)
	case state.ToolResult:
		r.answer(d)
	case state.Usage:
		r.spend(e, d)
	case state.Limit:
		r.Limits = withLimit(r.Limits, d)
	case state.RunEnd:
		r.End = &d
		if d.Usage != (state.Usage{}) {
			r.Usage, r.spent = d.Usage, d.Usage
			clear(r.calls)
		}
		r.drop()
	default:
		r.proof(e)
	}
}

// proof folds checks, decisions and notes.
func (r *Run) proof(e state.Event) {
	switch d := e.Data.(type) {
	case state.Check:
		r.check(e, d)
		return
	case state.Decision:
		if it := r.known(e.Iteration); it != nil && d.Rule != "" {
			it.Action, it.Rule, it.Reason = d.Action, d.Rule, clip(d.Reason, maxSentence)
		}
		return
	case state.Finding:
		if it := r.known(e.Iteration); it != nil {
			it.found(d)
		}
	case state.Commit:
		it := r.iteration(e)
		if d.Landed != "" {
			it.Landed = d.OID
		}
		if d.OID != "" {
			r.Commit = Commit{e.Time, d.OID, d.Files, it.Task}
		}
		return
	case state.Verdict:
		it := r.iteration(e)
		it.Verdicts = append(it.Verdicts, d)
	case state.TaskChange:
		r.reopened(e, d)
	case state.Feedback:
		r.Feedback = slices.Clone(d.Items)
	case state.Baseline:
	default:
		return
	}
	if n, ok := noteOf(e); ok {
		if len(r.Notes) == maxNotes {
			r.Notes = slices.Delete(r.Notes, 0, 1)
		}
		r.Notes = append(r.Notes, n)
	}
}

// reopened marks a task as not done.
func (r *Run) reopened(e state.Event, d state.TaskChange) {
	it := r.known(e.Iteration)
	if it == nil {
		for i := len(r.Iterations) - 1; i >= 0 && it == nil && d.ID != ""; i-- {
			if r.Iterations[i].TaskID == d.ID {
				it = &r.Iterations[i]
			}
		}
	}
	if it != nil && d.Person && len(it.Edits) < maxFindings {
		it.Edits = append(it.Edits, clip(taskIs(d), maxSentence))
	} else if it != nil && d.State != state.TaskDone {
		it.TaskDone = false
		delete(r.done, it.TaskID)
	}
}

// check keeps the latest result of each check, as status.json does.
func (r *Run) check(e state.Event, d state.Check) {
	if d.Run == state.CheckOldTests {
		return // it says nothing about the check
	}
	i := slices.IndexFunc(r.Checks, func(c state.CheckStatus) bool { return c.Name == d.Name })
	if i < 0 {
		if len(r.Checks) >= maxChecks {
			return
		}
		r.Checks = append(r.Checks, state.CheckStatus{Name: d.Name})
		i = len(r.Checks) - 1
	}
	c := &r.Checks[i]
	c.StartedAt = e.Time.Add(-time.Duration(d.Seconds * float64(time.Second)))
	c.Ended(d, e.Time)
	if _, known := r.AtStart[d.Name]; d.Run == state.CheckBaseline && d.Skipped == "" && !known {
		r.AtStart[d.Name] = d.Passed
	}
	// A baseline runs before the work of the iteration.
	if it := r.known(e.Iteration); it != nil && d.Skipped == "" && d.Run != state.CheckBaseline &&
		len(it.Checks) < maxChecks {
		if it.Checks == nil {
			it.Checks = map[string]bool{}
		}
		it.Checks[d.Name] = d.Passed
	}
}

func (r *Run) call(e state.Event, t state.Tool) {
	r.iteration(e).Tools++
	r.Tool = &ToolCall{Tool: t, At: e.Time, Busy: true}
	if t.File {
		r.File = t.Arg
	}
	if t.Hunk != "" {
		r.edit(e.Iteration, t)
	}
	if len(r.open) < maxOpen {
		r.open[t.ID] = t
	}
	parent, working := r.open[t.Parent]
	known := slices.ContainsFunc(r.SubAgents, func(a state.Tool) bool { return a.ID == t.Parent })
	if t.Parent != "" && working && !known {
		r.SubAgents = append(r.SubAgents, parent)
	}
}

// HunkLines counts the lines that an edit adds and deletes.
func HunkLines(hunk string) (added, deleted int) {
	hunk = "\n" + hunk
	return strings.Count(hunk, "\n+"), strings.Count(hunk, "\n-")
}

// edit counts the lines of an edit.
func (r *Run) edit(n int, t state.Tool) {
	one := Edit{Iteration: n, File: t.Arg}
	same := func(before Edit) bool { return before.Iteration == n && before.File == t.Arg }
	if i := slices.IndexFunc(r.Edited, same); i >= 0 {
		one = r.Edited[i]
		r.Edited = slices.Delete(r.Edited, i, i+1)
	}
	added, deleted := HunkLines(t.Hunk)
	one.Added, one.Deleted = one.Added+added, one.Deleted+deleted
	if len(r.Edited) >= maxEdited {
		r.Edited = slices.Delete(r.Edited, 0, 1)
	}
	r.Edited = append(r.Edited, one)
}

func (r *Run) answer(d state.ToolResult) {
	delete(r.open, d.Tool.ID)
	r.SubAgents = slices.DeleteFunc(r.SubAgents, func(a state.Tool) bool { return a.ID == d.Tool.ID })
	if r.Tool != nil && r.Tool.ID == d.Tool.ID {
		r.Tool.Busy = false
	}
}

// spend records what the current call of an iteration has used so far.
func (r *Run) spend(e state.Event, u state.Usage) {
	it := r.iteration(e)
	it.Usage = r.tries[e.Iteration].Add(u)
	it.CostUSD = it.Usage.CostUSD
	r.calls[e.Iteration] = u
	before := r.Usage.Total()
	r.Usage = r.spent
	for _, n := range slices.Sorted(maps.Keys(r.calls)) {
		r.Usage = r.Usage.Add(r.calls[n])
	}
	if !r.StartedAt.IsZero() {
		r.Pace.add(e.Time.Sub(r.StartedAt), r.Usage.Total()-before)
	}
}

// called closes the account of an iteration's call.
func (r *Run) called(e state.Event, it *Iteration) {
	r.spent = r.spent.Add(r.calls[e.Iteration])
	delete(r.calls, e.Iteration)
	delete(r.tries, e.Iteration-maxBeside)
	r.tries[e.Iteration] = it.Usage
}

// Finished returns how many tasks the iterations of this run have finished.
func (r *Run) Finished() int { return len(r.done) }

// drop clears the state of an agent call.
func (r *Run) drop() {
	r.Tool, r.File, r.SubAgents = nil, "", nil
	clear(r.open)
}
