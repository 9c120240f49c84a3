package runner

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"ralph/logs"
	"ralph/runner/audit"
	"ralph/runner/git"
	"ralph/runner/rules"
	"ralph/runner/task"
	"ralph/state"
)

// openTrail keeps the state before the first iteration of this process.
func (l *Loop) openTrail(ctx context.Context) {
	if l.before == nil || !l.before.Repo {
		return
	}
	start := *l.before
	l.start, l.told = &start, map[string]string{}
	keeper, ok := git.NewKeeper(l.d.Dir)
	if !ok {
		return
	}
	l.keeper = keeper
	base, err := keeper.Keep(ctx, start, git.State{Run: l.d.RunID, Iteration: l.mem.Iterations + 1, Start: true})
	l.lostTrail(err)
	l.base = base
}

func (l *Loop) lostTrail(err error) {
	if err != nil {
		l.d.Log.Warn("this state cannot be gone back to", logs.KeyError, err)
	}
}

// look makes sure that l.before is the tree as it is now.
func (l *Loop) look(ctx context.Context) error {
	if l.before != nil {
		return nil
	}
	s, err := git.Observe(ctx, l.d.Dir)
	if err == nil {
		l.before = &s
	}
	return err
}

// leave keeps the end of an iteration, after whatever ralph itself changed.
func (l *Loop) leave(ctx context.Context, it rules.Iteration, rule string) error {
	if l.keeper == nil || ctx.Err() != nil {
		return nil
	}
	if err := l.look(ctx); err != nil {
		return err
	}
	checks := map[string]bool{}
	for _, r := range it.Report.Results {
		checks[r.Name] = r.Passed
	}
	l.keptTrail()
	if it.Number != l.begun { // else it is tried again, and began before its first try
		l.begun, l.from = it.Number, l.base
	}
	l.keeping = l.keeper.Start(ctx, *l.before, git.State{
		Run: l.d.RunID, Iteration: it.Number, Base: l.from, Outcome: string(it.Outcome.Class), Rule: rule,
		Task: it.Task.ID, Plan: filepath.ToSlash(l.rel(l.d.Plan)), Checks: checks, CostUSD: it.Usage.CostUSD, Files: it.Change.Count,
	})
	return nil
}

// keptTrail waits until the latest state is in the repository: git writes it
// while the next agent call runs.
func (l *Loop) keptTrail() {
	if l.keeping == nil {
		return
	}
	base, err := l.keeping.Wait()
	l.lostTrail(err)
	if err == nil {
		l.base = base
	}
	l.keeping = nil
}

// audit compares the iteration's start and end, and takes ticks back that were
// not earned. Only git tells surely what was done.
func (l *Loop) audit(ctx context.Context, it *rules.Iteration, before, after git.Snapshot) {
	if it.After.Err != nil || !before.Repo || !after.Repo {
		return
	}
	work, own := l.didWork(*it), l.tasks.of(it.Task.ID)
	earned := work || own.worked // work of an earlier try at the same task counts for its tick
	own.worked = earned
	if it.Cut != "" {
		return
	}
	texts, err := it.Change.Texts(ctx, l.d.Dir, before, after)
	if err != nil {
		l.d.Log.Warn("the changed files cannot be compared", logs.KeyError, err)
	}
	in := audit.Input{
		PlanBefore: it.List.Tasks, PlanAfter: it.Left.Tasks, Task: it.Task.ID, Unchanged: !earned,
		// What is no text may be what the tests see.
		Partial: it.Change.Count > len(texts),
	}
	inProject := l.inProject()
	for _, t := range texts {
		if !l.isPlan(inProject(t.Path)) {
			in.Files = append(in.Files, audit.File(t))
		}
	}
	it.Findings = audit.Compare(in)
	l.findings += len(it.Findings)
	for _, f := range it.Findings {
		text := "audit: " + rules.FindingText(f)
		if f.Revert && (l.o.AntiCheat == rules.CheatRevert || l.o.AntiCheat == rules.CheatHalt) {
			text += l.refuseTick(it.Left, f, work)
			it.Reopened, it.OnlyTicks = true, !work
		}
		l.emit(state.Event{Kind: state.KindDecision, Iteration: it.Number, Text: text, Error: true,
			End: &state.End{Action: string(rules.ActionContinue), Rule: "audit"}})
	}
	if it.Reopened {
		it.Left, it.After = l.loadPlan()
	}
}

// refuseTick takes a tick back, and says what follows. One of another task
// waits for that task's iteration, which may confirm it when it came with work.
// One that nothing was done for may stand the second time, for the work may
// have been there before: green checks let it, and without checks a person has
// to look.
func (l *Loop) refuseTick(list task.List, f audit.Finding, work bool) string {
	n := l.tasks.of(f.Task)
	if f.Kind == audit.KindForeignTick {
		if work {
			n.worked, n.aside = true, ""
		}
		l.takeBack(list, f.Task)
		return "; the tick was taken back: a task is ticked in its own iteration"
	}
	n.refusals++
	switch {
	case n.refusals > 1 && l.gated():
		return "; again: it stands while the checks pass"
	case n.refusals > 1 && n.aside == "":
		n.aside = "ticked twice without any change, and no check proves it"
		l.mem.Breaker.NoProgress = 0 // the next task begins afresh
	}
	l.takeBack(list, f.Task)
	return "; the tick was taken back"
}

// isPlan tells whether a path, relative to the project, is the plan.
func (l *Loop) isPlan(path string) bool { return path == filepath.ToSlash(l.rel(l.d.Plan)) }

// didWork tells whether anything but the plan changed. A commit of nothing, or
// of the plan alone, is no work.
func (l *Loop) didWork(it rules.Iteration) bool {
	for _, f := range l.changedFiles(it.Change).Files {
		if !l.isPlan(f) {
			return true
		}
	}
	return it.Change.Count > len(it.Change.Files)
}

// takeBack opens the box of one task again, and changes nothing else.
func (l *Loop) takeBack(list task.List, id string) {
	i := slices.IndexFunc(list.Tasks, func(t task.Task) bool { return t.ID == id })
	if i < 0 {
		return
	}
	if err := task.Untick(l.d.Plan, list.Tasks[i]); err != nil {
		l.d.Log.Warn("a tick cannot be taken back", logs.KeyTask, id, logs.KeyError, err)
	}
}

// commit commits what the agent left over, when the checks are green. Files
// that were dirty before the run, and what the user staged, are not touched.
func (l *Loop) commit(ctx context.Context, it rules.Iteration) {
	if !l.o.AutoCommit || l.start == nil || it.Report.Blocked() || !it.Outcome.Class.Success() || ctx.Err() != nil {
		return
	}
	if err := l.look(ctx); err != nil {
		l.d.Log.Warn("nothing was committed", logs.KeyError, err)
		return
	}
	files, mixed := l.before.LeftOver(*l.start), l.before.Touched(*l.start)
	if len(files)+len(mixed) == 0 {
		return
	}
	title := redact(it.Task.Title)
	if title == "" {
		title = fmt.Sprintf("iteration %d", it.Number)
	}
	done, err := git.Commit(ctx, l.d.Dir, git.CommitRequest{
		Files: files, Message: strings.TrimSpace(l.o.CommitPrefix + " " + title),
		Trailers: []git.Trailer{{Key: "Ralph-Run", Value: l.d.RunID}, {Key: "Ralph-Iteration", Value: fmt.Sprint(it.Number)}, {Key: "Ralph-Task", Value: it.Task.ID}},
	})
	if err != nil {
		l.d.Log.Warn("nothing was committed", logs.KeyError, err)
		return // a commit that cannot be made is told, and costs no run
	}
	var parts []string
	if done.OID != "" {
		l.before = nil
		parts = append(parts, fmt.Sprintf("committed %d files that the agent left over as %.12s", len(done.Files), done.OID))
	}
	for _, f := range mixed {
		done.Refused = append(done.Refused, git.Refusal{File: f, Why: "it was changed before the run"})
	}
	for _, r := range done.Refused {
		if l.told[r.File] != r.Why {
			l.told[r.File] = r.Why
			parts = append(parts, fmt.Sprintf("not committed: %s (%s)", r.File, r.Why))
		}
	}
	if len(parts) > 0 {
		l.emit(state.Event{Kind: state.KindDecision, Iteration: it.Number, Text: strings.Join(parts, "; "),
			End: &state.End{Action: string(rules.ActionContinue), Rule: "commit"}})
	}
}
