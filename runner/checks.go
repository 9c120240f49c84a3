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
	root, ok := git.Root(l.d.Dir)
	if !ok {
		return gate.Changed{Files: c.Files}
	}
	var files []string
	for _, f := range c.Files {
		if rel, err := filepath.Rel(l.d.Dir, filepath.Join(root, filepath.FromSlash(f))); err == nil {
			files = append(files, filepath.ToSlash(rel))
		}
	}
	return gate.Changed{Files: files}
}

// prove runs the checks after the agent's turn. A task whose box was ticked
// while they blame the agent, or before they could say anything, is open again.
func (l *Loop) prove(ctx context.Context, it *rules.Iteration) error {
	timedOut := it.Outcome.Class == agent.ClassTimeoutWithWork || it.Outcome.Class == agent.ClassTimeoutIdle
	if l.suite == nil || !it.Outcome.Class.Success() && !timedOut && it.Cut == "" || it.After.Err != nil {
		return nil
	}
	ch := l.changedFiles(it.Change)
	ch.All = ch.All || it.After.Remaining == 0
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
		return err
	case !it.Report.Blocked():
		delete(l.tries, id)
	case it.Report.Blamed():
		l.tries[id]++
		it.Tries = l.tries[id]
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
	_, it.After = l.loadPlan()
	it.Unticked = true
}

// asideTitles names the tasks that were given up.
func (l *Loop) asideTitles(list task.List) []string {
	var titles []string
	for _, t := range list.Tasks {
		if l.aside[t.ID] != "" && !t.Done {
			titles = append(titles, t.Title)
		}
	}
	return titles
}
