package ledger

// This file keeps what a person has to accept or repair before a run counts
// as complete.

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ralph/logs/termtext"
	"ralph/runner/audit"
	"ralph/runner/gate"
	"ralph/runner/git"
	"ralph/runner/roles"
	"ralph/runner/rules"
	"ralph/runner/task"
	"ralph/runner/turn"
	"ralph/state"
)

// OpenItems holds the findings that are open. The zero value is empty.
type OpenItems struct {
	Items []state.ReviewItem
	// Uncommitted says why the latest work could not be committed, although AUTO_COMMIT asks for it; empty: it could.
	Uncommitted string
	LeftOut     []string // lines about detected checks that do not run

	carried  []string // texts of those that an earlier process left open
	accepted []string // texts that a person has accepted
	closed   []string // texts that reviewers have called justified
	goals    goals
	earned   earned
	latest   string          // command that shows all changes of this process
	standing map[string]bool // files as the turn left them that a finding is about: nobody can have repaired them
}

// Recall takes over what an earlier run left open. What is not about a file or a
// task is found anew.
func (b *OpenItems) Recall(old state.Status) {
	if old.Status != state.StatusCompleted { // else it is over: what comes back is new
		b.accepted = old.Accepted
	}
	for _, item := range old.Review {
		if item.File != "" || item.Task != "" || aboutGit(item.Name) {
			b.Items, b.carried = append(b.Items, item), append(b.carried, item.Text)
		}
	}
}

// Gone is what an earlier run left open about git, for Worker.Recall.
func (b *OpenItems) Gone() (all []git.Lost) {
	for _, i := range b.Items {
		var l git.Lost
		if len(i.Gone) > 0 && json.Unmarshal(i.Gone, &l) == nil {
			all = append(all, l)
		}
	}
	return all
}

// InGit reports whether something is open that git can tell to be repaired.
func (b *OpenItems) InGit() bool { return slices.ContainsFunc(b.Items, inGit) }

func inGit(i state.ReviewItem) bool {
	return len(i.Gone) > 0 || i.Name == string(audit.KindUnfinished) && i.File == ""
}

// Accepted are the texts of what a person has accepted.
func (b *OpenItems) Accepted() []string { return b.accepted }

// Add keeps what the audit found in a turn until it is repaired or a person
// accepts it. Ticks that were taken back are settled already. What a person
// accepted was said of the work before this turn. Tests are counted again at the end.
func (b *OpenItems) Add(res turn.Result) {
	b.accepted = nil
	b.earned.follow(res)
	if res.Work.Change.Progress() && !res.Proof.OnlyTicks { // work may begin with what was done already
		b.Items = slices.DeleteFunc(b.Items, func(i state.ReviewItem) bool {
			return i.Name == string(audit.KindTickWithoutWork) && strings.HasSuffix(i.Text, audit.NothingChanged)
		})
	}
	for _, file := range res.Work.Change.Files {
		delete(b.standing, file)
	}
	// Its tests were tried anew.
	if b.goals.follow(res); res.Proof.After.IsDone(res.Task.ID) && !res.Work.Before.IsDone(res.Task.ID) {
		b.Items = slices.DeleteFunc(b.Items, func(i state.ReviewItem) bool {
			return i.Name == string(audit.KindGreenByTests) && i.Task == res.Task.ID
		})
	}
	b.latest = fmt.Sprintf("ralph diff 0..%d --run %s", res.Origin.Iteration, res.Origin.Run)
	for _, f := range res.Proof.Findings {
		back := func(o turn.Reopen) bool { return o.Task == f.Task && o.By == turn.ReopenAudit }
		if f.Doubt || f.Kind == audit.KindFewerTests || f.Revert && slices.ContainsFunc(res.Proof.Reopen, back) {
			continue
		}
		which := strconv.Itoa(res.Origin.Iteration)
		if f.Kind == audit.KindGreenByTests { // an earlier attempt at the task may have changed the test
			which = cmp.Or(f.Task, which)
		}
		b.keep(f, fmt.Sprintf("ralph diff %s --run %s", which, res.Origin.Run))
		b.remember(f, res.Work.Gone)
		if slices.Contains(res.Work.Change.Files, f.File) {
			if b.standing == nil {
				b.standing = map[string]bool{}
			}
			b.standing[f.File] = true
		}
	}
}

// Texts are the findings of the audit that are open, with the tests that do not run any more.
func (b *OpenItems) Texts(checks turn.Checks, report gate.Report) []string {
	all := b.losses(checks, report)
	for _, i := range b.Items {
		if i.Name != noVerdict {
			all = append(all, i.Text)
		}
	}
	return all
}

// losses are the checks that run fewer tests than before, unless reviewers have called that justified.
func (b *OpenItems) losses(checks turn.Checks, report gate.Report) (all []string) {
	for _, l := range report.Losses(checks.Baseline.Tests) {
		if text := fmt.Sprint(l); !slices.Contains(b.closed, text) {
			all = append(all, text)
		}
	}
	return all
}

// noVerdict is the name of an item about a reviewer that gave none.
const noVerdict = "no_verdict"

// Judged takes over what reviewers say: it closes the findings that they call justified, and
// notes who gave no verdict.
func (b *OpenItems) Judged(t task.Task, o roles.Outcome) {
	for _, j := range o.Closed() {
		b.closed = append(b.closed, j.Finding)
		b.Items = slices.DeleteFunc(b.Items, func(i state.ReviewItem) bool { return i.Text == j.Finding })
	}
	of := func(name string) string { return fmt.Sprintf("the reviewer %s gave no verdict on %q", name, t.Title) }
	for _, v := range o.Verdicts { // of now, not of an earlier review
		b.Items = slices.DeleteFunc(b.Items, func(i state.ReviewItem) bool {
			return i.Name == noVerdict && i.Task == t.ID && i.Text == of(v.Name)
		})
	}
	for _, name := range o.Missing {
		b.Items = append(b.Items,
			state.ReviewItem{Name: noVerdict, Task: t.ID, Show: "ralph iterations", Text: of(name)})
	}
}

// Look compares all changes of this process, taken together, with what is open: it
// drops findings that they do not show any more, and adds what no single turn
// showed. What an earlier process left open was there when this one began: it is
// dropped only when its file changed, or git shows that it was repaired.
func (b *OpenItems) Look(in audit.Input, plan turn.Plan) {
	in.Whole = true
	if plan.Usable() && b.goals.known {
		in.PlanBefore, in.PlanAfter = b.goals.tasks, plan.List.Tasks
	}
	for _, file := range in.Edited {
		delete(b.standing, file)
	}
	still := audit.Compare(in)
	b.Items = slices.DeleteFunc(b.Items, func(i state.ReviewItem) bool { return i.Name == openitemsUndone && !slices.Contains(b.carried, i.Text) })
	if plan.Usable() {
		b.Items = append(b.Items, b.earned.undone(plan.List.Tasks, in.Undone)...)
	}
	b.Items = slices.DeleteFunc(b.Items, func(i state.ReviewItem) bool {
		shows := func(f audit.Finding) bool {
			one := f.Kind == audit.KindLost || f.Kind == audit.KindHead // each of them is repaired on its own
			return string(f.Kind) == i.Name && f.File == i.File && f.Task == i.Task && (!one || f.Text == i.Text)
		}
		touched := func(f audit.File) bool { return f.Path == i.File }
		known := inGit(i) && (len(i.Gone) > 0 || !in.Scratch) || !slices.Contains(b.carried, i.Text) || slices.ContainsFunc(in.Files, touched)
		ofPlan := i.Name == string(audit.KindTaskChanged) && in.PlanBefore != nil
		return !b.standing[i.File] && (i.File != "" || ofPlan || aboutGit(i.Name)) && known &&
			!slices.ContainsFunc(still, shows)
	})
	for _, f := range still {
		mine := f.File != "" && slices.Contains(in.Edited, f.File) // then a person may have written it
		if !f.Doubt && (!mine && f.Kind == audit.KindStubAdded || f.Kind == audit.KindTaskChanged) {
			b.keep(f, b.latest)
		}
	}
}

// keep adds an item, unless there is one of this kind for the same file or task.
func (b *OpenItems) keep(f audit.Finding, show string) {
	item := state.ReviewItem{Name: string(f.Kind), Task: f.Task, File: f.File, Text: rules.FindingText(f), Show: cmp.Or(f.Show, show)}
	same := func(o state.ReviewItem) bool {
		return o.Name == item.Name && o.File == item.File && o.Task == item.Task &&
			(!aboutGit(o.Name) || o.Text == item.Text)
	}
	if !slices.ContainsFunc(b.Items, same) && !slices.Contains(b.closed, item.Text) {
		b.Items = append(b.Items, item)
	}
}

// remember notes with an item what is gone from git.
func (b *OpenItems) remember(f audit.Finding, gone []git.Lost) {
	i := slices.IndexFunc(gone, func(l git.Lost) bool { return f.Kind == audit.KindLost && l.Text == f.Text })
	if i < 0 {
		return
	}
	for n, item := range b.Items {
		if item.Name == string(f.Kind) && item.Text == rules.FindingText(f) {
			b.Items[n].Gone, _ = json.Marshal(gone[i]) // strings only
		}
	}
}

// aboutGit is true for findings that are neither in a file nor in a task. Two of a kind may
// stand side by side.
func aboutGit(name string) bool {
	return slices.Contains([]audit.Kind{audit.KindHidden, audit.KindDiscarded, audit.KindLost, audit.KindHead,
		audit.KindUnfinished}, audit.Kind(name))
}

// Open numbers the findings and what else needs a person: an agent that
// contradicts the done plan (empty: it does not), and what the checks say.
func (b *OpenItems) Open(contradiction string, checks turn.Checks, report gate.Report) []state.ReviewItem {
	items := slices.Clone(b.Items)
	add := func(name, show, format string, args ...any) {
		items = append(items, state.ReviewItem{Name: name, Show: show, Text: fmt.Sprintf(format, args...)})
	}
	if contradiction != "" {
		add("contradiction", "ralph iterations", "the plan is done, but %s", contradiction)
	}
	if b.Uncommitted != "" {
		add("uncommitted", "git status", "AUTO_COMMIT could not commit the work: %s", b.Uncommitted)
	}
	if report.Mode != gate.ModeReport {
		b.ofChecks(add, checks, report)
	}
	return b.numbered(items)
}

// numbered leaves out what a person has accepted, and gives the others their numbers.
func (b *OpenItems) numbered(items []state.ReviewItem) []state.ReviewItem {
	items = slices.DeleteFunc(items, func(i state.ReviewItem) bool { return slices.Contains(b.accepted, i.Text) })
	for n := range items {
		items[n].N = n + 1
	}
	return items
}

// ofChecks adds what the checks say, and which did not say anything. With TEST_MODE=report, a run ends as without checks.
func (b *OpenItems) ofChecks(add func(name, show, format string, args ...any), checks turn.Checks, report gate.Report) {
	for _, text := range b.LeftOut {
		add("not_run", "ralph trust", "%s", text)
	}
	for _, line := range report.Unrun() {
		add("not_run", "ralph check", "%s", line)
	}
	for _, text := range b.losses(checks, report) {
		add(string(audit.KindFewerTests), "ralph check", "%s", text)
	}
	for _, name := range report.KnownRed() {
		add(rules.ItemKnownRed, "ralph check", "check %s failed before the run and still fails", name)
	}
	for _, name := range report.RedElsewhere() {
		add(rules.ItemElsewhere, "gh pr checks", "the check %s fails", name)
	}
	for _, line := range disguised(report, checks.Baseline) {
		add("disguised", "ralph check", "%s", line)
	}
	for _, line := range report.NewRed() {
		add(rules.ItemNewRed, "ralph check", "%s", line)
	}
}

// disguised says which checks passed although their own report names failed tests:
// something swallows the exit code. A check that did so at the baseline already is
// meant that way.
func disguised(r gate.Report, b *gate.Baseline) (lines []string) {
	for _, x := range r.Results {
		var e gate.Entry
		if b != nil {
			e = b.Checks[x.Name]
		}
		if !x.Passed || x.Tests.Failed == 0 || e.Passed && len(e.Failed) > 0 {
			continue
		}
		if names := x.Tests.StillFailed(); len(names) > 0 {
			lines = append(lines, fmt.Sprintf("check %s: its exit code is 0, but its report names failed tests: %s",
				x.Name, termtext.Some(names, 5)))
		}
	}
	return lines
}

// goals is the plan that the work is measured by: as it was when the run began, with
// what people changed between turns, and with what a task asked to change. The agent's
// other edits are not in it.
type goals struct {
	known bool
	tasks []task.Task
	last  []task.Task // the plan as the latest turn left it
}

// follow takes over what happened since the latest turn, and what this one may change.
func (g *goals) follow(res turn.Result) {
	before, left := res.Work.Before, res.Work.AsAgentLeft
	if before.Usable() {
		if g.known && g.last != nil {
			g.tasks = task.Merge(g.tasks, g.last, before.List.Tasks, same)
		} else if !g.known {
			g.tasks = slices.Clone(before.List.Tasks)
		}
		g.known = true
	}
	g.last = nil // who changes a plan that cannot be read is not known
	if !left.Usable() {
		return
	}
	g.last = left.List.Tasks
	if audit.AsksForPlan(audit.TextOf(res.Task)) && before.Usable() {
		g.tasks = task.Merge(g.tasks, before.List.Tasks, left.List.Tasks, same)
	}
	g.tasks = audit.Judged(g.tasks, res.Proof.After.List.Tasks) // what is done may move to an archive
}

// same reports whether two versions of a task ask for the same.
func same(a, b task.Task) bool {
	return a.Title == b.Title && a.Description == b.Description && slices.Equal(a.Criteria, b.Criteria) &&
		a.Optional == b.Optional
}

// openitemsUndone is the name of an item about a done task of whose work nothing is left.
const openitemsUndone = "work_undone"

// earned is which turns of this process earned their ticks.
type earned struct {
	run    string
	by     map[string][]int // iterations, by the id of the task
	proven map[string]bool  // tasks whose tests became green: those say whether the work is there
	less   int              // the latest iteration whose task asked for something to go
}

func (e *earned) follow(res turn.Result) {
	if e.by == nil {
		e.by, e.proven = map[string][]int{}, map[string]bool{}
	}
	e.run = res.Origin.Run
	n := res.Origin.Iteration
	credit := func(id string) {
		if !slices.Contains(e.by[id], n) {
			e.by[id] = append(e.by[id], n)
		}
	}
	if res.Proof.Worked && res.Work.Change.Progress() && !res.Proof.OnlyTicks {
		credit(res.Task.ID)
	}
	for _, l := range res.Proof.Links {
		credit(l.Task)
		e.proven[l.Task] = e.proven[l.Task] || l.By == audit.ByTests
	}
	if audit.AsksForLess(audit.TextOf(res.Task)) {
		e.less = n
	}
}

// undone has an item for each done task whose work was taken back, unless a later task may have asked for that.
func (e *earned) undone(tasks []task.Task, iterations []int) (items []state.ReviewItem) {
	for _, t := range tasks {
		turns := e.by[t.ID]
		left := func(n int) bool { return !slices.Contains(iterations, n) }
		if !t.Done() || len(turns) == 0 || e.proven[t.ID] || e.less > slices.Max(turns) || slices.ContainsFunc(turns, left) ||
			audit.AsksForNoChange(audit.TextOf(t)) {
			continue
		}
		names := termtext.Each(turns, strconv.Itoa)
		items = append(items, state.ReviewItem{Name: openitemsUndone, Task: t.ID, Show: fmt.Sprintf("ralph diff %d --run %s", turns[0], e.run),
			Text: fmt.Sprintf("the task %q is ticked, but nothing is left of its work (iteration %s): a later iteration took it back",
				t.Title, termtext.Some(names, 5))})
	}
	return items
}
