package turn

import (
	"slices"

	"ralph/runner/audit"
	"ralph/runner/audit/settings"
	"ralph/runner/gate"
	"ralph/runner/gate/report"
	"ralph/runner/git/command"
	"ralph/runner/turn/delta"
	"ralph/runner/turn/intact"
	"ralph/runner/turn/said"
	"ralph/runner/turn/steer"
	"ralph/state"
)

// auditResult is what the audit makes of a turn.
type auditResult struct {
	Proof            // as far as the audit knows
	answers []string // what ralph does about each of Findings; an empty string: nothing
	work    bool     // this turn changed more than the plan, and more than comments that nobody asked for
}

// audited compares the plan and the files before and after the call. Without git,
// only the files that steer the run are compared. Pure.
func audited(a Assignment, f facts) auditResult {
	r, usable := auditResult{Proof: Proof{Worked: a.Known.Worked}}, f.left.Error == "" && f.observed
	if usable {
		// An empty commit, or one of the plan alone, is not work.
		r.work = f.changed.All || a.Plan.Others(f.left, f.changed.Files)
		r.Worked = r.work || a.Known.Worked
	}
	in := f.around
	if usable && f.cut == "" {
		in = auditInput(a, f)
		r.work = r.work && !in.OnlyComments()
		r.Worked = r.work || a.Known.Worked // work of an earlier attempt counts for the tick
		in.Unchanged, in.Early = !r.Worked, a.Known.Early
	} else { // the files that steer the run are always compared
		in.Files = intact.Steered(a.Dir, nil, f.steered, f.by)
	}
	in.Steering = settings.Steering(steer.Of(a.Agent.Filter.Rules(), ""))
	r.Findings = append(f.plan.Findings(audit.Compare(in)), reported(a, f)...)
	for _, found := range r.Findings {
		answer := f.plan.Answer(found)
		if found.Revert && a.Audit.takesBack() {
			answer = r.refuse(a, found)
		}
		r.answers = append(r.answers, answer)
	}
	return r
}

// reported finds claims in the agent's own report that are wrong. They change nothing about how a run ends.
func reported(a Assignment, f facts) []audit.Finding {
	if f.cut != "" {
		return nil // the agent could not finish
	}
	isPlan := func(name string) bool { return a.Plan.Has(f.left, name) }
	report := said.Report{Task: a.Task, Before: f.before.List.Tasks, After: f.left.List.Tasks,
		Unchanged: f.observed && !f.change.Progress(), Edited: delta.Edited(f.texts, command.Relative(a.Dir), isPlan)}
	return audit.Contradicted(a.Task.ID, report.In(f.call.transcript.Final))
}

// steering reads the files that steer the run, before the call.
func (t *turn) steering() steer.Files {
	if t.a.Sandbox.On() && !t.a.Sandbox.Locks() { // then an agent can change its own settings at home
		t.w.steer.AtHome(t.w.env(), t.a.Agent.Spec.Env.State, t.a.Agent.Spec.Env.Fixed, t.a.Agent.Spec.Env.Copied)
	}
	return t.w.steer.Read(t.a.Dir)
}

func auditInput(a Assignment, f facts) audit.Input {
	in := f.around
	in.PlanBefore, in.PlanAfter, in.Task = f.before.List.Tasks, f.plan.Made(f.left).List.Tasks, a.Task.ID
	in.Count, in.Listed = f.change.Count, len(f.change.Files)
	in.Partial = in.Listed > len(f.texts) // files that are not text may be what the tests see
	inProject := command.Relative(a.Dir)
	for _, text := range f.texts {
		if !a.Plan.Has(f.left, inProject(text.Path)) {
			in.Files = append(in.Files, text)
		}
	}
	in.Files = intact.Steered(a.Dir, in.Files, f.steered, f.by)
	return in
}

// countTests finds tests that ran before this turn and do not run now. If the
// task or the change explains it, the baseline accepts the lower number.
func (t *turn) countTests(f *facts, before gate.Memory) {
	if !f.observed || f.unchecked {
		return
	}
	base := t.checks.Baseline
	fewer := f.report.Losses(base.Tests)
	ofBase := func(check string) bool {
		return slices.ContainsFunc(fewer, func(l report.Loss) bool { return l.Check == check })
	}
	losses := f.report.Losses(before.Before(base))
	found, explained := audit.FewerTests(auditInput(t.a, *f), losses, ofBase)
	if explained {
		base.Forgive(losses)
	}
	for _, r := range f.report.Results {
		found = append(found, audit.IgnoredFailures(t.a.Task, r.Name, r.IgnoredFailures(base))...)
	}
	t.addFindings(f, found)
}

// addFindings adds what the checks showed.
func (t *turn) addFindings(f *facts, found []audit.Finding) {
	f.audit.Findings = append(f.audit.Findings, found...)
	t.tellFindings(found, make([]string, len(found)))
}

// refuse takes back a tick that was not earned, and says so. A tick of another task waits for that task's own turn.
// The work of a task may have been there before. So a second tick without work stands if there are required checks
// and they pass. Without such checks, a person has to look.
func (r *auditResult) refuse(a Assignment, found audit.Finding) string {
	r.Unearned = true
	back := "the tick was taken back"
	if found.Kind == audit.KindForeignTick {
		r.Reopen = append(r.Reopen,
			Reopen{Task: found.Task, By: ReopenAudit, Why: "it was ticked in the iteration of another task"})
		return back + ": a task is ticked in its own iteration"
	}
	r.Refused = true
	if a.Known.Refusals > 0 {
		if a.Checks.Gated() {
			return "it was ticked again, so it stands while the checks pass"
		}
		r.GiveUp = "ticked twice without any change, and no check proves it"
	}
	r.Reopen = append(r.Reopen, Reopen{Task: found.Task, By: ReopenAudit, Why: "nothing was done for it"})
	return back
}

func (t *turn) tellFindings(all []audit.Finding, answers []string) {
	for i, found := range all {
		t.tell(state.Finding{Source: state.FoundByAudit, Name: string(found.Kind), Task: found.Task, File: found.File,
			Text: found.Text, Doubt: found.Doubt, Answer: answers[i]})
	}
}
