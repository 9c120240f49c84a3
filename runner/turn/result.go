package turn

import (
	"slices"
	"strings"
	"time"

	"ralph/logs/termtext"
	"ralph/runner/agent"
	"ralph/runner/agent/ending"
	"ralph/runner/agent/statusblock"
	"ralph/runner/audit"
	"ralph/runner/gate"
	"ralph/runner/git"
	"ralph/runner/task"
	"ralph/runner/task/store"
	"ralph/state"
)

// Result is all that is known about one turn once it is over. settle builds it, and nobody changes it. Events, state
// files, kept git states and rows on a screen are made from it. It survives JSON. What comes of the turn later, such as
// the answer of the merge queue, makes another Result: see amend.go. That of a turn that could not begin comes
// from runner/crew, that of a phase of review from runner/reviewers.
type Result struct {
	V        int           `json:"v"`
	Origin   state.Origin  `json:"origin"`
	Task     task.Task     `json:"task,omitzero"`
	PlanName string        `json:"plan,omitempty"` // as people know it; empty: no plan
	Agent    string        `json:"agent,omitempty"`
	Model    string        `json:"model,omitempty"` // that the run asked for; empty: the agent's own choice
	Started  time.Time     `json:"started"`
	Duration time.Duration `json:"duration_ns"` // of the agent call

	Call   Call   `json:"call"`   // what the agent did and said
	Work   Work   `json:"work"`   // what it left in the workspace
	Proof  Proof  `json:"proof"`  // what audit and checks say about it
	Checks Checks `json:"checks"` // as they stand now
	// Cut is set when a person ended the turn: skip, or abort, which also stands
	// for a signal. Such a turn says nothing about the agent.
	Cut state.Request `json:"cut,omitempty"`
}

// Call is the agent call. The zero value: it was not made.
type Call struct {
	Made bool `json:"made"`
	// NotStarted says why the agent's program could not be started.
	NotStarted string             `json:"not_started,omitempty"`
	Outcome    agent.Outcome      `json:"outcome"`
	Signal     statusblock.Signal `json:"signal,omitzero"`
	// Signalled is true when the final message ends with a status block.
	Signalled bool `json:"signalled,omitempty"`
	// Denied are the refused tool calls that need an answer; Advice says for each
	// how to allow it. Compound commands whose parts are all allowed are Advised.
	Denied    []state.Tool `json:"denied,omitempty"`
	Advice    []string     `json:"advice,omitempty"`
	Advised   []state.Tool `json:"advised,omitempty"`
	Withheld  []string     `json:"held,omitempty"` // variables that ralph withheld; only after a failed login
	ToolCalls int          `json:"tool_calls"`
	Failing   []string     `json:"failing,omitempty"` // what tools failed with to the end, normalized
	Final     string       `json:"final,omitempty"`   // the agent's final message
	Asks      []state.Ask  `json:"asks,omitempty"`    // questions to a person
	Usage     state.Usage  `json:"usage"`
	Session   Session      `json:"session,omitzero"`
	Printed   int64        `json:"printed"`            // bytes of output
	Leftover  int          `json:"leftover,omitempty"` // processes that the agent left behind and ralph ended
}

// Work is what a turn left in its workspace.
type Work struct {
	Before      Plan       `json:"before"` // the plan when the turn began
	AsAgentLeft Plan       `json:"left"`   // and as the agent left it
	Change      git.Change `json:"change"`
	// Base and Head are the commits that were checked out when the turn began and ended; empty: none.
	Base string `json:"base,omitempty"`
	Head string `json:"head,omitempty"`
	// Damaged names protected files that were removed or emptied. They have been restored.
	Damaged []string `json:"damaged,omitempty"`
	// Lost says why the repository is no longer the one in which the turn began;
	// empty: it still is. If it is lost, the ticks of the turn do not count.
	Lost string `json:"lost,omitempty"`
	// Gone is what the repository had when the turn began, and did not have when it ended.
	Gone []git.Lost `json:"gone,omitempty"`
	// PutBack says how ralph put HEAD back on the branch of the run. Astray says why it could not; then the ticks of
	// the turn do not count. Both empty: HEAD was there.
	PutBack string `json:"put_back,omitempty"`
	Astray  string `json:"astray,omitempty"`
	// PlanBroken says why the plan that the agent left cannot be used; empty: it can. ralph has put back the one before.
	PlanBroken string `json:"plan_broken,omitempty"`
}

// Proof is what audit and checks say about the work.
type Proof struct {
	Findings []audit.Finding `json:"findings,omitempty"`
	Report   gate.Report     `json:"report,omitzero"`
	Merge    string          `json:"merge,omitempty"` // see state.IterationEnd
	// Unchecked is true when a person ended the checks before they could say anything.
	Unchecked bool `json:"unchecked,omitempty"`
	// Reopen are the ticks that do not count. The run takes them back.
	Reopen []Reopen `json:"reopen,omitempty"`
	// After is the plan without those ticks: the one that counts.
	After Plan `json:"after"`
	// Worked is true when this turn or an earlier one did something for the task.
	Worked bool `json:"worked,omitempty"`
	// Links connect the change of this turn to open tasks.
	Links []audit.Link `json:"links,omitempty"`
	// Green are tests that were red before this turn and pass now.
	Green []string `json:"green,omitempty"`
	// ChangedTests lists the tests that existed before the task and that it changed; set once the task is ticked.
	ChangedTests []string `json:"changed_tests,omitempty"`
	// Refused is true when the task was ticked without any work.
	Refused bool `json:"refused,omitempty"`
	// GiveUp says why the task needs a person; empty: it does not.
	GiveUp string `json:"give_up,omitempty"`
	Tries  int    `json:"tries,omitempty"` // failed checks of this task in a row
	// Unearned is true when the audit refused a tick, or ralph put a broken plan back. OnlyTicks: that is all that
	// changed.
	Unearned  bool `json:"unearned,omitempty"`
	OnlyTicks bool `json:"only_ticks,omitempty"`
	// Blocked is true when the agent has marked its task as blocked.
	Blocked bool `json:"blocked,omitempty"`
	// Warned is true when the end of the run was put off because its proof became weaker.
	Warned bool `json:"warned,omitempty"`
	// ToReview is true when the task is done as far as its developer is concerned; see
	// Assignment.FirstReview.
	ToReview bool `json:"handed,omitempty"`
}

// Why a tick is taken back.
const (
	ReopenAudit     = "audit"     // nothing shows its work, and nothing will
	ReopenConfirm   = "confirm"   // the run has changed something, but nothing shows its work: another turn has to check it
	ReopenChecks    = "checks"    // a required check fails
	ReopenUnchecked = "unchecked" // its checks could not say anything
	ReopenWeakened  = "weakened"  // the proof became weaker in the last turn
	ReopenReview    = "review"    // a reviewer has to look at it first
)

// Reopen is a tick that does not count.
type Reopen struct {
	Task string `json:"task"`
	By   string `json:"by"` // one of the reasons above
	Why  string `json:"why"`
}

// Plan is what the plan file said at one moment.
type Plan = store.Plan

// Trusted is the Result of a worker with only what a worker may decide. Who worked on what and when, and the checks of
// the run, are what the run knows.
func (r Result) Trusted(a Assignment, began time.Time) Result {
	r.Origin, r.Task, r.Agent, r.Model, r.Checks, r.PlanName = a.Origin, a.Task, a.Agent.Spec.Name, a.Agent.Model, a.Checks, a.Plan.Name
	r.Started, r.Duration, r.Proof.Merge = began, min(max(r.Duration, 0), time.Since(began)), ""
	if where := "on " + r.Origin.Host + ": "; r.Call.NotStarted != "" {
		r.Call.NotStarted = where + r.Call.NotStarted
	} else if r.Call.Outcome.Class.Fatal() {
		r.Call.Outcome.Reason = where + r.Call.Outcome.Reason
	}
	return r
}

// reopened is the plan after these ticks are taken back.
func reopened(p Plan, reopen []Reopen) Plan {
	ticks := termtext.Each(reopen, func(r Reopen) string { return r.Task })
	return p.Without(ticks)
}

// Progress is true when HEAD moved, the tree changed, or fewer tasks are open. Ticks without work are no change.
func (r Result) Progress() bool {
	return r.Proof.ToReview || r.Work.Change.Progress() && !r.Proof.OnlyTicks || r.Closed()
}

// Unfinished says what the turn left open in the repository, such as a merge with conflicts; empty: nothing.
func (r Result) Unfinished() string {
	if i := slices.IndexFunc(r.Proof.Findings, unfinished); i >= 0 {
		return r.Proof.Findings[i].Text
	}
	return ""
}

// Closed is true when fewer tasks are open than before the turn.
func (r Result) Closed() bool {
	return r.Proof.After.Error == "" && r.Proof.After.Remaining < r.Work.Before.Remaining
}

// Finished returns the tasks that are done after the turn and were not before, and the task of the turn if it is done.
func (r Result) Finished() (ids []string) {
	for _, t := range r.Proof.After.List.Tasks {
		if t.Done() && (t.ID == r.Task.ID || !r.Work.Before.IsDone(t.ID)) {
			ids = append(ids, t.ID)
		}
	}
	return ids
}

// OthersFinished returns the titles of the tasks that the turn finished beside its own.
func (r Result) OthersFinished() (titles []string) {
	for _, id := range r.Finished() {
		if t, _ := r.Proof.After.List.Find(id); id != r.Task.ID {
			titles = append(titles, t.Title)
		}
	}
	return titles
}

// Failed is true when the agent call itself went wrong in a way that counts as an error.
func (r Result) Failed() bool {
	if r.Call.Outcome.Class == ending.TimeoutWithWork {
		return !r.Progress() // a productive timeout keeps its work and is not an error
	}
	return !r.Call.Outcome.Class.Success()
}

// Claims is true when the agent says that everything is done.
func (r Result) Claims() bool {
	return r.Call.Signalled && r.Call.Signal.Exit && r.Call.Outcome.Class.Success()
}

// TestOnly is true for a turn that only ran or wrote tests and finished no task: the
// agent says so, or test files are all that changed.
func (r Result) TestOnly() bool {
	if r.Proof.ToReview || r.Proof.After.Remaining < r.Work.Before.Remaining {
		return false
	}
	c := r.Work.Change
	others := func(file string) bool { return !audit.IsTestFile(file) }
	return r.Call.Signalled && r.Call.Signal.WorkType == statusblock.Testing ||
		r.Call.Outcome.Class.Success() && c.Count > 0 && c.Count == len(c.Files) &&
			!slices.ContainsFunc(c.Files, others)
}

// Reopened is true when the task's own tick was taken back because of its checks.
func (r Result) Reopened() bool {
	return slices.ContainsFunc(r.Proof.Reopen,
		func(o Reopen) bool {
			return o.Task == r.Task.ID && o.By != ReopenAudit && o.By != ReopenConfirm && o.By != ReopenReview
		})
}

// ErrorText is the normalized text that "same error" compares: the agent's
// error, else the first failed check. Empty: there was no error.
func (r Result) ErrorText() string {
	if o := r.Call.Outcome; r.Failed() {
		return strings.TrimSuffix(ending.Normalize(string(o.Class)+": "+o.Evidence), ":") // some leave no evidence
	}
	return r.Proof.Report.Cause()
}
