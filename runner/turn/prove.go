package turn

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"ralph/runner/agent/ending"
	"ralph/runner/audit"
	"ralph/runner/gate"
	"ralph/runner/git"
	"ralph/runner/git/command"
	"ralph/runner/sandbox"
	"ralph/runner/sandbox/gitkeep"
	"ralph/runner/task/store"
	"ralph/runner/turn/protect"
	"ralph/runner/turn/stop"
	"ralph/state"
)

// prove runs the checks that the change asks for.
func (t *turn) prove(ctx context.Context, f *facts) (err error) {
	if f.cut == "" {
		t.findChecks(f.changed)
	}
	class := f.call.outcome.Class
	ticked := f.left.Remaining < f.before.Remaining // then it needs proof, however the call ended
	proves := class.Success() || f.cut != "" || ticked ||
		slices.Contains([]ending.Class{ending.TimeoutWithWork, ending.TimeoutIdle, ending.Repeating}, class)
	if len(t.checks.Rows) == 0 || !proves || f.left.Error != "" {
		return nil
	}
	if f.unchecked = f.cut != ""; f.unchecked {
		return nil
	}
	changed := f.changed
	changed.Own = t.own(f)
	changed.Final = f.left.Remaining == 0
	changed.All = changed.All || changed.Final && t.checks.Everything
	before, base := t.checks.Memory.Clone(), t.checks.Baseline.Clone()
	f.report, err = t.runChecks(ctx, changed)
	f.audit.Green, f.audit.more = f.report.Green(base, before), f.report.More(base)
	f.unchecked = err != nil || ctx.Err() != nil
	if ctx.Err() != nil {
		err = nil
	}
	t.countTests(f, before)
	return err
}

// own says which tests belong to the task, so that they keep it open while they fail.
func (t *turn) own(f *facts) gate.Own {
	if t.a.Task.ID == "" {
		return gate.Own{}
	}
	own, inProject := gate.Own{Task: t.a.Task.ID, Text: audit.TextOf(t.a.Task)}, command.Relative(t.a.Dir)
	own.FailFirst = audit.AsksForFailingTests(own.Text)
	for _, other := range f.before.List.Tasks {
		if other.Pending() && other.ID != own.Task {
			own.Others += audit.TextOf(other) + "\n"
		}
	}
	for _, text := range f.texts {
		for _, name := range audit.TouchedTests(text) {
			own.Tests = append(own.Tests, gate.TestAt{File: inProject(text.Path), Name: name})
		}
	}
	return own
}

// findChecks looks for checks that the turn added to a project without any. All
// failures that they show are the agent's own: no check failed before.
func (t *turn) findChecks(changed gate.Changed) {
	if len(t.checks.Rows) > 0 || !t.checks.Detect || t.w.Find == nil {
		return
	}
	t.checks.Rows = t.w.Find(t.a.Dir, changed.Files)
	if len(t.checks.Rows) == 0 {
		return
	}
	t.checks.Detect = false
	if t.checks.Baseline == nil {
		t.checks.Baseline = &gate.Baseline{}
	}
	t.checks.Baseline.Begin(t.checks.Rows, t.a.Origin.Run)
	t.checks.Baseline.Task = t.a.Origin.Task
	var lines []string
	for _, c := range t.checks.Rows {
		lines = append(lines, fmt.Sprintf("found in the project now: check %s: %s", c.Name, c.Reproduce()))
	}
	t.tellCheckFindings(lines)
}

// suite is the assignment's checks, ready to run.
func (t *turn) suite() *gate.Suite {
	c, box := &t.checks, t.box()
	box.ReadOnly = t.readOnly()
	return &gate.Suite{
		Checks: c.Rows, Mode: c.Mode, FailFast: c.FailFast, Baseline: c.Baseline, Memory: c.Memory,
		Place:    gate.Place{Dir: t.a.Dir, Env: t.a.Agent.Filter.Checks(t.w.env()), Kill: t.w.Kill, Box: box},
		Progress: func(s gate.Step) { t.tell(stepPayload(s)) },
	}
}

// readOnly lists the files of the plan, if the sandbox can keep checks from writing them.
func (t *turn) readOnly() []string {
	return t.a.Sandbox.Lockable(protect.Roots(t.a.Plan, store.Read(t.a.Plan)))
}

// box is the sandbox of the checks. call adds what the agent's row asks for.
func (t *turn) box() sandbox.Box {
	box := t.a.Sandbox.Box(t.a.Dir, "")
	box.Route, box.Keep.Logs, box.PutBack = t.route, t.a.LogDir, t.git.add
	box.Keep.Records = cmp.Or(box.Keep.Records, t.w.Records)
	return box
}

func (t *turn) runChecks(ctx context.Context, changed gate.Changed) (gate.Report, error) {
	suite := t.suite()
	rep, err := suite.Run(ctx, changed)
	t.checks.Memory = suite.Memory
	for i := range rep.Results {
		rep.Results[i].Output = t.secrets.Redact(rep.Results[i].Output)
	}
	t.w.before = nil // checks may leave files behind
	t.tellCheckFindings(rep.Findings())
	return rep, err
}

// takeBaseline records which checks fail before the agent works.
func (t *turn) takeBaseline(ctx context.Context) (gate.Report, error) {
	if t.checks.Baseline == nil {
		t.checks.Baseline = &gate.Baseline{}
	}
	suite := t.suite()
	rep, err := suite.TakeBaseline(ctx, t.a.Origin.Run)
	t.w.before = nil // checks may leave files behind
	t.checks.Memory = suite.Memory
	if err != nil {
		return rep, fmt.Errorf("take baseline: %w", err)
	}
	t.checks.Baseline.Task = t.a.Origin.Task
	if red := t.checks.Baseline.Red(); len(red) > 0 {
		t.tell(state.Baseline{Red: red})
	}
	for _, r := range rep.Results {
		if line := cmp.Or(r.UnreadOutput(), r.RanNoTest()); line != "" && !slices.Contains(t.checks.Findings, line) {
			t.tell(state.Finding{Source: state.FoundByChecks, Name: state.FoundUnread, Text: line})
			t.checks.Findings = append(t.checks.Findings, line)
		}
	}
	return rep, nil
}

// partialTurn carries out a turn that only runs the checks, or only asks the agent.
func (t *turn) partialTurn(ctx context.Context) (f facts, err error) {
	f.started, f.before, f.checks = time.Now(), store.Read(t.a.Plan), t.checks
	f.left = f.before
	switch {
	case t.a.Part == Ask:
		f.call, err = t.call(ctx, f.before)
	case len(t.checks.Rows) == 0:
		return f, nil
	case t.a.Part == Baseline:
		f.report, err = t.takeBaseline(ctx)
	default:
		f.report, err = t.runChecks(ctx, gate.Changed{All: t.checks.Everything,
			Final: f.left.Known && f.left.Remaining == 0})
	}
	f.checks = t.checks
	if ctx.Err() != nil {
		f.unchecked, f.cut, err = true, stop.By(ctx), nil
	}
	return f, err
}

// tellCheckFindings reports what the checks found, apart from their results. It does not repeat the last report.
func (t *turn) tellCheckFindings(lines []string) {
	for _, line := range lines {
		if !slices.Contains(t.checks.Findings, line) {
			t.tell(state.Finding{Source: state.FoundByChecks, Text: line})
		}
	}
	t.checks.Findings = lines
}

// stepPayload is the start, or the end, of one run of a check.
func stepPayload(s gate.Step) state.Payload {
	run := ""
	switch {
	case s.Again:
		run = state.CheckAgain
	case s.Baseline:
		run = state.CheckBaseline
	}
	if s.Result == nil {
		return state.Phase{Name: state.PhaseChecking, Check: s.Check.Name, Run: run}
	}
	r := *s.Result
	c := state.Check{Name: r.Name, Command: r.Command, Run: run, Passed: r.Passed, Seconds: r.Duration.Seconds()}
	switch {
	case r.Verdict == gate.VerdictSkipped:
		c.Skipped = r.Reason
	case !r.Passed:
		c.Says, c.Output = r.FirstLine(), r.Output
	}
	return c
}

// Proven is what Worker.Retest gets: a turn whose checks have run.
type Proven struct {
	Assignment
	Before git.Snapshot                  // the workspace before the agent call
	Done   bool                          // the task got its tick, and no check takes it back
	Report gate.Report                   // of the checks after the call
	Suite  func() *gate.Suite            // makes what runs checks
	Now    func() (*git.Snapshot, error) // looks at the workspace as it is now
	Tell   func(state.Payload)           // reports an event of the turn
}

// Retested is what Worker.Retest found.
type Retested struct {
	Findings     []audit.Finding
	ChangedTests []string // see Proof
}

// retest asks Worker.Retest whether the checks pass for another reason than the work.
func (t *turn) retest(ctx context.Context, f *facts) {
	if t.w.Retest == nil || !f.observed {
		return
	}
	ticked := t.a.Task.ID == "" || f.left.IsDone(t.a.Task.ID) && !f.before.IsDone(t.a.Task.ID)
	found, err := t.w.Retest(ctx, Proven{
		Assignment: t.a, Before: f.found, Report: f.report, Suite: t.suite, Tell: t.tell,
		Done: ticked && !f.unchecked && !f.report.Blocked(),
		Now:  func() (*git.Snapshot, error) { err := t.w.look(ctx, t.a.Dir); return t.w.before, err },
	})
	if err != nil {
		t.w.Log.Warn("the tests could not run as they were", "error", err)
	}
	f.unchecked = f.unchecked || ctx.Err() != nil
	f.audit.ChangedTests = found.ChangedTests
	t.addFindings(f, found.Findings)
}

// putBack collects what ralph put back after contained programs, because git starts it.
type putBack struct {
	mu  sync.Mutex
	all []gitkeep.Replaced // not told yet
}

// add is called after each program.
func (p *putBack) add(r gitkeep.Replaced) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all = append(p.all, r)
}

// findings returns one for each program since the latest call.
func (p *putBack) findings() (found []audit.Finding) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range p.all {
		found = append(found, audit.Finding{Kind: audit.KindStateChanged, Text: r.String()})
	}
	p.all = nil
	return found
}

// leads says which file led git to another repository; empty: none.
func (p *putBack) leads() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range p.all {
		for _, file := range r.Files {
			if slices.Contains([]string{".git", ".git/commondir", ".git/gitdir"}, file) {
				return fmt.Sprintf("%s was changed, which leads git to another repository; ralph restored it", file)
			}
		}
	}
	return ""
}
