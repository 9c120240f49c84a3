package runner

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ralph/logs"
	"ralph/runner/agent"
	"ralph/runner/audit"
	"ralph/runner/gate"
	"ralph/runner/git"
	"ralph/runner/rules"
	"ralph/runner/task"
	"ralph/state"
)

// openSuite prepares the checks of this run; without any, suite stays nil.
func (l *Loop) openSuite() {
	if len(l.d.Checks) == 0 {
		return
	}
	dir := l.d.State.Dir()
	baseline, err := gate.OpenBaseline(filepath.Join(dir, gate.BaselineFile))
	l.warn(err)
	if l.unfinished {
		baseline.Adopt(l.d.RunID)
	}
	flakes, err := gate.OpenFlakes(filepath.Join(dir, gate.FlakesFile))
	l.warn(err)
	l.suite = &gate.Suite{
		Checks: l.d.Checks, Mode: l.d.Mode, FailFast: l.o.FailFast, Baseline: baseline, Flakes: flakes,
		Place: gate.Place{Dir: l.d.Dir, Env: l.d.Filter.Checks(l.d.Env), Kill: l.d.Kill}, Progress: l.checked,
	}
}

func (l *Loop) warn(err error) {
	if err != nil {
		l.d.Log.Warn("set aside", logs.KeyError, err)
	}
}

// gated tells whether a check can keep something from counting as done.
func (l *Loop) gated() bool {
	if l.suite == nil || l.d.Mode == gate.ModeReport {
		return false
	}
	for _, c := range l.d.Checks {
		if !c.Optional && c.OnFailure != gate.Warn {
			return true
		}
	}
	return false
}

// checked tells what happens to a check.
func (l *Loop) checked(s gate.Step) {
	if s.Result == nil {
		l.board.update(func(st *state.Status) {
			st.Phase, st.LastTool = "checking", "check "+s.Check.Name
			switch {
			case s.Again:
				st.LastTool += ", second run"
			case s.Baseline:
				st.LastTool += ", before the work"
			}
			c := checkOf(st, s.Check.Name)
			c.Result, c.StartedAt = "running", time.Now()
		})
		return
	}
	r := *s.Result
	l.board.update(func(st *state.Status) {
		c := checkOf(st, r.Name)
		c.Result, c.Seconds = "passed", r.Duration.Seconds()
		switch {
		case r.Passed:
			c.RedSince = time.Time{}
		default:
			c.Result = "failed"
			if c.RedSince.IsZero() {
				c.RedSince = time.Now()
			}
		}
	})
	text := r.Name + ": passed"
	if !r.Passed {
		text = r.Name + ": failed\n" + r.Output
	}
	if s.Again {
		text = "second run of " + text
	}
	l.emit(state.Event{Kind: state.KindGate, Iteration: l.mem.Iterations + 1, Text: text, Error: !r.Passed,
		Tool: &state.Tool{Name: r.Name, Arg: r.Command}, End: &state.End{Duration: r.Duration}})
}

// checkOf finds the row of a check, and makes it the first time.
func checkOf(st *state.Status, name string) *state.CheckStatus {
	i := slices.IndexFunc(st.Checks, func(c state.CheckStatus) bool { return c.Name == name })
	if i < 0 {
		st.Checks = append(st.Checks, state.CheckStatus{Name: name})
		i = len(st.Checks) - 1
	}
	return &st.Checks[i]
}

// moment is what a baseline belongs to.
func (l *Loop) moment(t task.Task) gate.Moment {
	return gate.Moment{Scope: gate.Scope(l.o.BaselineScope), Run: l.d.RunID, Task: t.ID}
}

// takeBaseline notes what is red before the agent works on the task.
func (l *Loop) takeBaseline(ctx context.Context, t task.Task) error {
	if l.suite == nil || l.suite.Baseline.Current(l.moment(t)) {
		return nil
	}
	var rep gate.Report
	var err error
	if l.report.Results != nil && l.before != nil {
		rep, err = l.report, l.suite.Rebase(l.report, l.moment(t))
	} else {
		rep, err = l.suite.TakeBaseline(ctx, l.moment(t))
		l.before = nil // checks may leave files of their own
	}
	if err != nil {
		return fmt.Errorf("take baseline: %w", err)
	}
	if red := l.suite.Baseline.Red(); len(red) > 0 {
		l.emit(state.Event{Kind: state.KindDecision, Text: "red before the agent did anything: " + strings.Join(red, "; "),
			End: &state.End{Action: string(rules.ActionContinue), Rule: "baseline"}})
	}
	l.report = rep
	return nil
}

// runChecks runs what the changes ask for.
func (l *Loop) runChecks(ctx context.Context, ch gate.Changed) (gate.Report, error) {
	rep, err := l.suite.Run(ctx, ch)
	for i := range rep.Results {
		rep.Results[i].Output = logs.Redact(rep.Results[i].Output)
	}
	l.report = rep
	l.before = nil // checks may leave files of their own
	l.emitFindings(rep.Findings())
	return rep, err
}

// emitFindings tells what the checks found besides passed and failed, once while
// it stays the same.
func (l *Loop) emitFindings(lines []string) {
	for _, line := range lines {
		l.d.Log.Info("checks", "finding", line)
		if !slices.Contains(l.found, line) {
			l.emit(state.Event{Kind: state.KindDecision, Iteration: l.mem.Iterations + 1, Text: line,
				End: &state.End{Action: string(rules.ActionContinue), Rule: "checks"}})
		}
	}
	l.found = lines
}

// changedFiles are an iteration's files as the checks know them: relative to
// the project, which may be a folder of the repository.
func (l *Loop) changedFiles(c git.Change) gate.Changed {
	if c.Count > len(c.Files) {
		return gate.Changed{All: true}
	}
	inProject := l.inProject()
	var files []string
	for _, f := range c.Files {
		files = append(files, inProject(f))
	}
	return gate.Changed{Files: files}
}

// inProject makes paths of the repository relative to the project.
func (l *Loop) inProject() func(path string) string {
	root, ok := git.Root(l.d.Dir)
	return func(path string) string {
		if !ok {
			return path
		}
		return l.within(root, path)
	}
}

func (l *Loop) within(root, path string) string {
	rel, err := filepath.Rel(l.d.Dir, filepath.Join(root, filepath.FromSlash(path)))
	if err != nil {
		return path
	}
	return filepath.ToSlash(rel)
}

// proveLeft runs the checks for a tick that a killed call has left, before
// anything is built on it.
func (l *Loop) proveLeft(ctx context.Context) error {
	id := l.unproved
	list, plan := l.loadPlan()
	ticked := slices.ContainsFunc(list.Tasks, func(t task.Task) bool { return t.ID == id && t.Done })
	if id == "" || !ticked || plan.Remaining == 0 || !l.gated() || !l.suite.Baseline.Current(l.moment(task.Task{ID: id})) {
		return nil // with nothing left, the checks run anyway
	}
	work, done := l.callContext(ctx)
	defer done()
	rep, err := l.runChecks(work, gate.Changed{All: true})
	if work.Err() != nil {
		return nil // admit says who ended the run
	}
	if err == nil && rep.Blocked() && rep.Blamed() {
		l.takeBack(list, id)
		l.tellOpened(0, "a required check fails after the call that was killed")
		l.notes.feedback = append(l.notes.feedback, rep.Feedback())
	}
	return err
}

// tellOpened says why the box of the iteration's task was opened again.
func (l *Loop) tellOpened(iteration int, why string) {
	l.emit(state.Event{Kind: state.KindDecision, Iteration: iteration, Text: "the box of the task was opened again: " + why,
		End: &state.End{Action: string(rules.ActionContinue), Rule: "checks"}})
}

// detect looks for checks that the iteration has brought into a project without
// any. What they find is the agent's own: nothing was there before.
func (l *Loop) detect(it rules.Iteration) {
	if l.suite != nil || l.d.Detect == nil {
		return
	}
	l.d.Checks, l.d.Mode = l.d.Detect(l.changedFiles(it.Change).Files)
	if len(l.d.Checks) == 0 {
		return
	}
	l.openSuite()
	l.suite.Baseline.Begin(l.d.Checks, l.moment(it.Task))
	var lines []string
	for _, c := range l.d.Checks {
		lines = append(lines, fmt.Sprintf("found in the project now: check %s: %s", c.Name, c.Reproduce()))
	}
	l.emitFindings(lines)
}

// doubt opens the task of a last iteration again when what proves it became
// weaker in the same iteration. The run would end, and nobody would be told.
func (l *Loop) doubt(it *rules.Iteration) {
	weaker := func(f audit.Finding) bool { return !f.Revert && !f.Doubt }
	if l.doubted || l.o.AntiCheat != rules.CheatRevert || it.After.Remaining > 0 || it.After.Err != nil || !slices.ContainsFunc(it.Findings, weaker) {
		return
	}
	l.openAgain(it)
	if it.Unticked {
		l.doubted, it.Reopened = true, true
		l.tellOpened(it.Number, "the agent is told what the audit found before the run ends")
	}
}

// prove runs the checks after the agent's turn. A task whose box was ticked
// while they blame the agent, or before they could say anything, is open again.
func (l *Loop) prove(ctx context.Context, it *rules.Iteration) error {
	timedOut := it.Outcome.Class == agent.ClassTimeoutWithWork || it.Outcome.Class == agent.ClassTimeoutIdle
	l.detect(*it)
	if l.suite == nil || !it.Outcome.Class.Success() && !timedOut && it.Cut == "" || it.After.Err != nil {
		return nil
	}
	ch := l.changedFiles(it.Change)
	ch.Final = it.After.Remaining == 0
	ch.All = ch.All || ch.Final && l.unfinished // changes of the run before are not known
	var err error
	if it.Cut == "" {
		it.Report, err = l.runChecks(ctx, ch)
	}
	id := it.Task.ID
	switch {
	case err != nil || it.Cut != "": // ended by a person: nothing is proved
		if l.gated() {
			l.openAgain(it)
		}
		if it.Unticked {
			l.tellOpened(it.Number, "its checks were ended before they could say anything")
		}
		return err
	case !it.Report.Blocked():
		l.tasks.of(id).tries = 0
	case it.Report.Blamed():
		l.tasks.of(id).tries++
		it.Tries = l.tasks.of(id).tries
		l.openAgain(it)
	}
	return nil
}

// openAgain takes back the tick that the iteration's task got in it.
func (l *Loop) openAgain(it *rules.Iteration) {
	list, _ := l.loadPlan()
	ticked := func(t task.Task) bool { return t.ID == it.Task.ID && t.Done }
	if it.Task.ID == "" || it.Task.Done || !slices.ContainsFunc(list.Tasks, ticked) {
		return
	}
	l.takeBack(list, it.Task.ID)
	it.Left, it.After = l.loadPlan()
	it.Unticked = true
}

// asideTitles names the tasks that were given up.
func (l *Loop) asideTitles(list task.List) []string {
	var titles []string
	for _, t := range list.Tasks {
		if l.tasks.of(t.ID).aside != "" && !t.Done {
			titles = append(titles, t.Title)
		}
	}
	return titles
}
