package turn

import (
	"bytes"
	"context"
	"fmt"
	"path"
	"slices"
	"sync"

	"ralph/logs/termtext"

	"ralph/runner/audit"
	"ralph/runner/gate"
	"ralph/runner/gate/report"
	"ralph/runner/git"
	"ralph/runner/git/command"
	"ralph/runner/git/history"
	"ralph/runner/turn/protect"
	"ralph/state"
	"ralph/state/projectfs"
)

// auditResult is what the audit makes of a turn.
type auditResult struct {
	Proof            // as far as the audit knows
	answers []string // what ralph does about each of Findings; an empty string: nothing
	work    bool     // this turn changed more than the plan
	more    bool     // more tests ran than at the baseline
}

// audited compares the plan and the files before and after the call. Without git,
// only the files that steer the run are compared. Pure.
func audited(a Assignment, f facts) auditResult {
	r, usable := auditResult{Proof: Proof{Worked: a.Known.Worked}}, f.left.Error == "" && f.observed
	if usable {
		// An empty commit, or one of the plan alone, is not work.
		r.work = f.changed.All || a.Plan.Others(f.left, f.changed.Files)
		r.Worked = r.work || a.Known.Worked // work of an earlier attempt counts for the tick
	}
	r.Unearned = f.plan.Broken != "" // what ralph put back is no work
	in := f.around
	if usable && f.cut == "" {
		in = auditInput(a, f)
	} else { // the files that steer the run are always compared
		in.Files = protect.Steered(a.Dir, nil, f.steered, f.by)
	}
	in.Steering = audit.Steering(Steering(a.Agent.Filter, ""))
	r.Findings = f.plan.Findings(audit.Compare(in))
	for _, found := range r.Findings {
		r.answers = append(r.answers, f.plan.Answer(found))
	}
	return r
}

// credit decides which ticks of the turn stand. It needs to know which tests have become green. Pure.
func (r *auditResult) credit(a Assignment, f facts) (found []audit.Finding, answers []string) {
	if f.left.Error != "" || !f.observed || f.cut != "" {
		return nil, nil
	}
	in := auditInput(a, f)
	if r.work || len(r.Green)+len(in.Moved) > 0 {
		r.Links = audit.Links(in, slices.DeleteFunc(slices.Clone(r.Green), gate.OfCheck))
	}
	for _, t := range audit.Ticks(in) {
		v := r.judge(a, f, t)
		if v.finding.Kind == "" && v.by == "" {
			continue
		}
		answer := ""
		if v.by != "" && a.Audit.takesBack() {
			r.Unearned = true
			r.Reopen = append(r.Reopen, Reopen{Task: t.ID, By: v.by, Why: v.why})
			answer = "the tick was taken back"
		}
		if v.finding.Kind != "" {
			found, answers = append(found, v.finding), append(answers, answer)
		}
	}
	return found, answers
}

// verdict says what follows from a tick. The zero value: it stands.
type verdict struct {
	finding audit.Finding // zero: nothing is wrong
	by, why string        // why it is taken back; see Reopen; empty: it is not
}

// judge looks for the work that has earned a tick. A second tick without work stands if required checks exist and none
// that ran is red: the work may be older than the run. A person has to look at it, unless the task only describes code
// that the project has.
func (r *auditResult) judge(a Assignment, f facts, t audit.Tick) verdict {
	text, absent, passes := audit.TextOf(t.Task), f.absent[t.ID], a.Checks.Gated() && !f.report.Red()
	linked := slices.ContainsFunc(r.Links, func(l audit.Link) bool { return l.Task == t.ID }) ||
		slices.Contains(a.Known.Others, t.ID) || a.Known.Linked && t.ID == a.Task.ID
	changed := r.work || len(a.Known.Changed) > 0 // in this run
	again, confirms := t.Own && a.Known.Refusals > 0, t.Own && a.Known.Ticked > 0 && !r.work
	var red []string // tests that are about it
	if confirms {
		red = slices.DeleteFunc(f.report.RedTests(), func(test string) bool { return !audit.About(test, text) })
	}
	why := ""
	if len(absent) > 0 && !linked && changed {
		why = termtext.Some(absent, 3) + " is nowhere in the project"
	} else if f.copied[t.ID] != "" {
		why = f.copied[t.ID]
	} else if f.untested[t.ID] && !confirms && (linked || t.Own && r.Worked) && len(r.Green) == 0 && !r.more {
		why = "it asks for tests, but the run has changed none"
	}
	switch {
	case !t.Own && t.Parts:
		return verdict{by: ReopenAudit, why: "tasks below it are open"}
	case why != "":
		v := verdict{audit.TickWithoutWork(t.Task, why), ReopenAudit, why}
		if t.Own {
			r.Refused = true
		}
		if again {
			v.by, v.finding.Revert = "", false // a person has to look
		}
		return v
	case len(red) > 0:
		return verdict{by: ReopenChecks, why: red[0] + " still fails"}
	case linked, t.Own && (r.Worked || a.Known.Ticked > 0 || len(r.Green) > 0), f.made[t.ID], audit.AsksForNoChange(text):
		return verdict{}
	case !t.Own && changed:
		return verdict{by: ReopenConfirm, why: fmt.Sprintf(
			"iteration %d ticked it, and nothing that the run has changed shows its work: its own turn will check it", a.Origin.Iteration)}
	case len(a.Known.Changed) > 0:
		return verdict{by: ReopenConfirm, why: fmt.Sprintf(
			"iteration %d ticked it without a change, and no change of earlier ones (%s) shows its work: its next turn will check it",
			a.Origin.Iteration, termtext.Some(a.Known.Changed, 5))}
	}
	if again && passes && len(t.Named) > 0 && len(absent) == 0 && audit.Describes(text) {
		return verdict{} // it was done before the run
	}
	v := verdict{audit.TickWithoutWork(t.Task, audit.NothingChanged), ReopenAudit, audit.NothingChanged}
	r.Refused = r.Refused || t.Own
	switch {
	case again && passes:
		v.by, v.why = "", ""
	case again && !a.Checks.Gated():
		r.GiveUp = "ticked twice without any change, and no check proves it"
	}
	return v
}

// search finds ticked tasks that name code which is nowhere in the project, neither in the changed files nor elsewhere,
// those that ask for tests where the run has changed none and no test has the code that they name, and those whose work
// git does not see.
func (t *turn) search(ctx context.Context, f *facts, in audit.Input) {
	f.absent, f.untested, f.made, f.copied = map[string][]string{}, map[string]bool{}, map[string]bool{}, map[string]string{}
	plan := protect.Paths(t.a.Plan, f.left)
	tested := sync.OnceValue(func() bool {
		return in.Partial || f.changed.All || audit.MayHaveTests(in.Files) || t.testedBefore(ctx)
	})
	lacks := func(words []string, prose bool, kind func(file string) bool) bool { // no file of the kind has one of them
		files, err := git.Mentions(ctx, t.a.Dir, words, prose, plan)
		if err != nil {
			t.w.Log.Warn("cannot look for the code that a task names", "error", err)
		}
		return err == nil && !slices.ContainsFunc(files, kind)
	}
	for _, tick := range audit.Ticks(in) {
		text := audit.TextOf(tick.Task)
		if len(tick.Named) > 0 && lacks(tick.Named, audit.AsksForProse(text), func(string) bool { return true }) {
			f.absent[tick.ID] = tick.Named
		}
		for _, file := range audit.Translations(text) {
			if of := t.original(file); of != "" {
				f.copied[tick.ID] = file + " is a copy of " + of
			}
		}
		if audit.AsksForTests(text) && !tested() {
			known := audit.NamesOf(text)
			f.untested[tick.ID] = len(known) == 0 || lacks(known, false, audit.IsAboutTests)
		}
		if len(in.Files) == 0 {
			made, err := git.WroteIgnored(ctx, t.a.Dir, audit.PathsIn(text), f.started)
			if err != nil {
				t.w.Log.Warn("cannot look for ignored files that a task names", "error", err)
			}
			f.made[tick.ID] = made
		}
	}
}

// original returns another file of the project, in the same folder, that has the text of this one; empty: there is none.
func (t *turn) original(file string) string {
	dir := projectfs.In(t.a.Dir)
	text, err := dir.Read(dir.Path(file), maxTranslation)
	all, _ := dir.ReadDir(dir.Path(path.Dir(file))) // none: no copy
	for _, e := range all {
		name := path.Join(path.Dir(file), e.Name())
		if err != nil || len(text) == 0 || name == path.Clean(file) || path.Ext(name) != path.Ext(file) || !e.Type().IsRegular() {
			continue
		}
		if other, err := dir.Read(dir.Path(name), maxTranslation); err == nil && bytes.Equal(other, text) {
			return name
		}
	}
	return ""
}

// maxTranslation is the size of the largest translation that is compared, in bytes.
const maxTranslation = 1 << 20

// testedBefore reports whether earlier turns of the run changed tests.
func (t *turn) testedBefore(ctx context.Context) bool {
	t.w.finishKeeping()
	files, err := history.Changes(ctx, t.a.Dir, t.a.Origin.Run, "")
	if err == nil && !slices.ContainsFunc(files, audit.IsAboutTests) {
		files, err = history.Changes(ctx, t.a.Dir, t.a.Origin.Run, audit.TestLine)
		return err != nil || len(files) > 0
	}
	return true
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
	in.Files = protect.Steered(a.Dir, in.Files, f.steered, f.by)
	return in
}

// countTests finds tests that ran before this turn and do not run now. If the
// task or the change explains it, the baseline accepts the lower number.
func (t *turn) countTests(f *facts, before gate.Memory) {
	if !f.observed || f.unchecked || t.checks.Mode == gate.ModeReport {
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

func (t *turn) tellFindings(all []audit.Finding, answers []string) {
	for i, found := range all {
		t.tell(state.Finding{Source: state.FoundByAudit, Name: string(found.Kind), Task: found.Task, File: found.File,
			Text: found.Text, Doubt: found.Doubt, Answer: answers[i]})
	}
}

// tellLock says that the call left a lock of the index, unless it was there before.
func (t *turn) tellLock(before string) {
	if lock := git.Locked(t.a.Dir); lock != "" && lock != before {
		t.tell(state.Finding{Source: state.FoundByAudit, Name: string(audit.KindUnfinished), Doubt: true,
			Text: fmt.Sprintf("the lock file %q is left over, and git cannot commit: if no git is running, remove it", lock)})
	}
}
