package turn

import (
	"slices"
	"time"

	"ralph/ptyexec"
	"ralph/runner/agent"
	"ralph/runner/agent/statusblock"
	"ralph/runner/audit"
	"ralph/runner/gate"
	"ralph/runner/git"
	"ralph/runner/task/store"
	"ralph/runner/turn/protect"
	"ralph/state"
)

// facts are what the steps of a turn found, in the order of the steps.
type facts struct {
	started  time.Time
	before   Plan
	call     call
	cut      state.Request
	damaged  []string
	plan     protect.Outcome
	people   *store.JournalPeople // what they have changed since before
	left     Plan
	found    git.Snapshot // the workspace before the call
	change   git.Change
	head     string              // commit that the call left
	changed  gate.Changed        // change, in the form that the checks take
	observed bool                // git was there to say what changed
	lost     string              // see Work.Lost
	blind    bool                // git failed: nobody knows what changed
	texts    []git.Text          // of the changed files
	absent   map[string][]string // what ticked tasks name and does not exist
	copied   map[string]string   // translations that they ask for and that are copies: "de.json is a copy of en.json"
	untested map[string]bool     // ticked tasks that ask for tests, although no test was changed
	made     map[string]bool     // and those that name a file that git ignores and that the turn has written
	steered  []git.Text          // files that steer the run and have changed
	by       protect.Written
	around   audit.Input // what the turn hid from git, and what it threw away
	vanished vanished
	audit    auditResult
	checks   Checks
	report   gate.Report
	// unchecked is true when a person ended the turn before its checks did.
	unchecked bool
}

// settle makes the Result. Pure.
func settle(a Assignment, f facts) Result {
	r := Result{
		V: Version, Origin: a.Origin, Task: a.Task, PlanName: a.Plan.Name, Agent: a.Agent.Spec.Name, Model: a.Agent.Model,
		Started: f.started, Cut: f.cut, Checks: f.checks, Proof: f.audit.Proof,
		Work: Work{Before: f.before, AsAgentLeft: f.left, Change: f.change, Base: f.found.Head, Head: f.head,
			Damaged: f.damaged, Lost: f.lost, Gone: f.vanished.gone, PutBack: f.vanished.putBack, Astray: f.vanished.astray, PlanBroken: f.plan.Broken},
	}
	r.Call, r.Duration = settleCall(a, f.call), f.call.exit.Duration
	p := &r.Proof
	p.Report, p.Unchecked, p.Tries, p.OnlyTicks = f.report, f.unchecked, a.Known.Tries, p.Unearned && !f.audit.work
	for _, tick := range f.left.List.Tasks {
		switch is := tick.Done(); {
		case is && f.before.IsDone(tick.ID):
			if why := f.vanished.tasks[tick.ID]; why != "" && a.Audit.takesBack() {
				p.Reopen = append(p.Reopen, Reopen{Task: tick.ID, By: ReopenAudit, Why: why})
			}
		case is && (f.blind || f.lost != ""):
			p.Reopen = append(p.Reopen, Reopen{Task: tick.ID, By: ReopenUnchecked, Why: "git cannot say what changed"})
		case is && f.vanished.astray != "":
			p.Reopen = append(p.Reopen, Reopen{Task: tick.ID, By: ReopenUnchecked, Why: "its work is not on the branch of the run"})
		}
	}
	p.After = reopened(f.left, p.Reopen)
	if i := slices.IndexFunc(p.Findings, unfinished); i >= 0 && a.Audit.takesBack() &&
		p.reopen(a, f, Reopen{By: ReopenAudit, Why: p.Findings[i].Text}) {
		p.Unearned = true
	}
	if by, why := checkVerdict(f, p); why != "" {
		p.reopen(a, f, Reopen{By: by, Why: why})
	}
	if weakened(a, f, p) && p.reopen(a, f, Reopen{By: ReopenWeakened, Why: "the agent sees first what the audit found"}) {
		p.Warned = true
	}
	marks, own := f.plan.Held(f.before, f.left, a.Task.ID)
	p.Blocked = own
	for _, m := range marks {
		p.Reopen = append(p.Reopen, Reopen{Task: m.Task, By: ReopenAudit, Why: m.Why})
	}
	p.handOver(a, f)
	return r
}

func unfinished(f audit.Finding) bool { return f.Kind == audit.KindUnfinished }

// handOver takes back the ticks of the turn if a reviewer has to look at its work first.
func (p *Proof) handOver(a Assignment, f facts) {
	for _, t := range p.After.List.Tasks {
		if a.FirstReview != "" && t.Done() && !f.before.IsDone(t.ID) {
			p.ToReview = p.ToReview || t.ID == a.Task.ID
			p.Reopen = append(p.Reopen, Reopen{Task: t.ID, By: ReopenReview, Why: "phase " + a.FirstReview})
		}
	}
	p.After = reopened(f.left, p.Reopen)
}

// checkVerdict counts failed checks and says why the task's tick cannot stand; empty: it can.
func checkVerdict(f facts, p *Proof) (by, why string) {
	switch {
	case f.unchecked && f.checks.Gated():
		return ReopenUnchecked, "its checks were stopped before they ended"
	case f.unchecked || f.report.Results == nil: // nothing is proved, either way
	case !f.report.Blocked():
		p.Tries = 0
	default:
		p.Tries++
		return ReopenChecks, "a required check fails"
	}
	return "", ""
}

// weakened is true when the turn that would end the run also made its own proof
// weaker. The run then goes on, so that the agent sees the findings first.
func weakened(a Assignment, f facts, p *Proof) bool {
	weaker := func(found audit.Finding) bool { return !found.Revert && !found.Doubt }
	return !a.Audit.Warned && a.Audit.Answer == AnswerRevert && p.After.Remaining == 0 && f.left.Error == "" &&
		slices.ContainsFunc(f.audit.Findings, weaker)
}

// reopen takes back the tick that the assignment's task got in this turn. It
// returns false when there is none, or a person made it.
func (p *Proof) reopen(a Assignment, f facts, r Reopen) bool {
	if a.Task.ID == "" || f.before.IsDone(a.Task.ID) || a.Task.Done() || !p.After.IsDone(a.Task.ID) {
		return false
	}
	r.Task = a.Task.ID
	p.Reopen = append(p.Reopen, r)
	p.After = reopened(f.left, p.Reopen)
	return true
}

// Replay makes the Result of a call that this process did not make, such as a recorded one. Nobody knows what it
// changed: one file, if a tool ran.
func Replay(a Assignment, t *agent.Transcript, o agent.Outcome, exit ptyexec.Exit) Result {
	f := facts{call: call{made: true, outcome: o, transcript: t, exit: exit}}
	if t.ToolCalls > len(t.Denials) {
		f.change.Count = 1
	}
	return settle(a, f)
}

// settleCall makes the part of the Result about the agent call.
func settleCall(a Assignment, c call) Call {
	r := Call{Made: c.made, NotStarted: c.notStarted, Outcome: c.outcome, Withheld: c.withheld,
		Printed: c.printed, Leftover: c.exit.Leftover}
	if c.transcript == nil {
		return r
	}
	t := c.transcript
	r.ToolCalls, r.Final, r.Usage, r.Session = t.ToolCalls, t.Final, t.Usage, Session{ID: t.Session, Counted: c.counted}
	if !t.HasResult && r.Usage.CostUSD == 0 && r.Usage.Total() > 0 && a.Agent.Spec.CostNote() == "" {
		r.Usage.UnpricedCalls = 1
	}
	r.Signal, r.Signalled = statusblock.Parse(t.Final)
	r.Failing, r.Asks = t.Failures.Texts(), askedIn(t.Final, t.Asks, c.outcome.Class)
	r.Denied, r.Advised = refusedCalls(t.Denials, a.Agent.AllowedTools)
	for _, d := range r.Denied {
		r.Advice = append(r.Advice, a.Agent.Spec.Advice(a.Agent.Spec.Name, d.Name, d.Arg, a.Agent.AllowedTools))
	}
	return r
}
