// Package audit has the table of findings: it reports changes of an iteration that weaken the proof
// of its work. Examples are deleted test files, tests that no longer run, checks that are easier to
// pass, and boxes ticked without work. It compares the start and the end of the iteration.
//
//	test files     -> tests.go    -> tests_removed, skip_added
//	tests that ran -> counts.go   -> fewer_tests
//	code           -> stubs.go    -> stub_added, knows_tests
//	CI, lint, make -> settings.go -> checks_changed
//	plan           -> plan.go     -> task_changed; ticks: credit.go -> tick_without_work
//	what git shows -> sight.go    -> hidden_from_git, work_discarded, not_audited
//	the repository -> vanished.go -> lost_from_git, head_moved, left_unfinished
//
// A false alarm costs more than a miss: a person has to look at it, and the agent starts
// to argue. A rule stays only if at least 95 of 100 findings are right on changes that it
// was not tuned for; docs/proof.md has the figures. The audit does not judge whether a
// test still checks as much as before: the text does not show it.
package audit

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"ralph/logs/termtext"
	"ralph/runner/git"
	"ralph/runner/task"
)

// Kind names a kind of finding.
type Kind string

// The kinds of findings; Kinds describes each.
const (
	KindTestsRemoved    Kind = "tests_removed"
	KindSkipAdded       Kind = "skip_added"
	KindChecksChanged   Kind = "checks_changed"
	KindTickWithoutWork Kind = "tick_without_work"
	KindTaskChanged     Kind = "task_changed"
	KindFewerTests      Kind = "fewer_tests"
	KindStubAdded       Kind = "stub_added"
	KindHidden          Kind = "hidden_from_git"
	KindDiscarded       Kind = "work_discarded"
	KindNotAudited      Kind = "not_audited"
	KindGreenByTests    Kind = "green_by_tests"
	KindKnowsTests      Kind = "knows_tests"
	KindStateChanged    Kind = "state_changed"
	KindLost            Kind = "lost_from_git"
	KindHead            Kind = "head_moved"
	KindUnfinished      Kind = "left_unfinished"
)

// KindRow is a row of the table of kinds in the documentation.
type KindRow struct {
	Kind  Kind
	Found string
	// Revert and Doubt are as in Finding.
	Revert, Doubt bool
	// excused reports whether a task may have asked for what such a finding is about; nil: none does. Then the finding
	// is in doubt. This is the only place that excuses a finding by the words of a task, and it sides with the agent.
	excused func(task string) bool
}

// Kinds returns the table of all kinds of findings.
func Kinds() []KindRow {
	return []KindRow{
		{Kind: KindTestsRemoved, excused: func(task string) bool {
			return asksForRemoval(task) || asksForFewerTests(task) || asksForOtherTests(task)
		},
			Found: "a test file was deleted or emptied, and the code that it tested is still there"},
		{Kind: KindSkipAdded, excused: asksForSkips, Found: "tests that ran before are skipped now"},
		{Kind: KindChecksChanged, excused: func(task string) bool {
			return taskWords().advises.MatchString(task) || asksForTestsApart(task) || asksForFewerTests(task)
		},
			Found: "commands, CI or lint settings that judge the work became easier to pass, or ralph's settings, " +
				"prompt or specs changed, or git does not show a new or changed file that decides how tests run, or a " +
				"new script stands on PATH before the program of its name"},
		{Kind: KindFewerTests, excused: asksForFewerTests, Found: "a check runs fewer tests than at the baseline"},
		{Kind: KindGreenByTests, excused: func(task string) bool {
			return asksForOtherTests(task) || asksForFewerTests(task) && !asksToPass(task)
		},
			Found: "a check turned green, but still fails with the tests as they were, or without a new file that replaces the " +
				"test runner; or the task is to keep the behavior, and a check fails with the golden files as they were"},
		{Kind: KindStubAdded, excused: stubWords().asked.MatchString, Found: "a task was ticked, but the change adds functions that are only stubs"},
		{Kind: KindKnowsTests, excused: awarePatterns().asked.MatchString, Found: "the change adds code that asks whether it runs in a test"},
		{Kind: KindTickWithoutWork,
			Found: "a box was ticked, and no change of the run has to do with its task, or the code that the task names " +
				"is nowhere in the project, or the task " +
				"asks for tests and the run has changed none",
			Revert: true},
		{Kind: KindTaskChanged, Found: "the text or the criteria of a task changed, or an open task was removed, or the plan could not be used any more"},
		{Kind: KindStateChanged,
			Found: "a contained call changed ralph's own state, which this sandbox (`landlock`) cannot prevent, or what git starts; ralph has put it back"},
		{Kind: KindHidden, Found: "git no longer looks at tracked files (`assume-unchanged`, `skip-worktree`), or a new ignore rule hides tests, " +
			"or git ignores code that the change needs"},
		{Kind: KindDiscarded, Found: "uncommitted changes that you made before the run are gone; the finding has the command that restores them"},
		{Kind: KindLost,
			Found: "commits, branches, tags, stash entries or worktrees that were there are gone; the finding has the command that " +
				"brings them back"},
		{Kind: KindHead, Found: "the turn ended with HEAD detached or on another branch"},
		{Kind: KindUnfinished,
			Found: "the turn left a merge, rebase, cherry-pick, revert, am or bisect open, conflicts that are not resolved, or conflict markers in a file"},
		{Kind: KindNotAudited, Found: "the audit did not read everything: more than 1,000 files changed, or one above 1 MiB", Doubt: true},
	}
}

// Finding is one thing to tell the agent and the user.
type Finding struct {
	Kind Kind   `json:"kind"`
	File string `json:"file,omitempty"` // as in File.Path; empty for findings in the plan
	Task string `json:"task,omitempty"` // id; empty for findings in files
	Text string `json:"text"`           // one sentence for people
	Show string `json:"show,omitempty"` // the command that shows it; empty: ralph diff
	// Revert is true if unticking Task fixes it.
	Revert bool `json:"revert,omitempty"`
	// Doubt is true if honest work often looks the same: worth reporting, but no reason
	// to end a run: a test that is younger than the run is gone again, or the task may have asked for it.
	Doubt bool `json:"doubt,omitempty"`
}

// File is a changed file.
type File = git.ChangedFile

// Input describes one iteration.
type Input struct {
	Files []File // changed files, without the plan
	// PlanBefore and PlanAfter are empty without a plan.
	PlanBefore, PlanAfter []task.Task
	Task                  string // id of the selected task; empty: none
	// Unchanged is true if nothing but the plan changed: no commit, no file.
	Unchanged bool
	// Partial is true if Files is incomplete. Then a deleted test may have moved to a file
	// that is not in it.
	Partial bool
	// Whole is true for the changes of a whole run, which may be about many tasks.
	Whole         bool
	Count, Listed int      // all changed files, and those that Files is made of
	Large         []string // changed files that are too large to read
	// Hidden are tracked files that git no longer shows, and why, in the words of git.
	Hidden []git.HiddenFile
	Edited []string // files that people edited between the turns of a whole run
	Undone []int    // iterations of a whole run of whose changes nothing is left
	Gone
	Repository
	Steering Steering // what steers other programs in the project
}

// Gone is work that a turn threw away.
type Gone struct {
	Discarded []string // files whose uncommitted changes are gone
	Restore   string   // the command that brings them back
}

// Compare returns the findings: those in files, sorted by file, then those in the plan, then
// those about what git shows.
func Compare(in Input) []Finding {
	in.Files = slices.Clone(in.Files)
	sort.SliceStable(in.Files, func(i, j int) bool { return in.Files[i].Path < in.Files[j].Path })
	found := slices.Concat(compareTests(in), compareSettings(in), addedStubs(in), knowsTests(in))
	sort.SliceStable(found, func(i, j int) bool { return found[i].File < found[j].File })
	found = append(found, comparePlans(in)...)
	return append(append(found, in.sight()...), in.vanished()...)
}

// Excused reports whether one of these tasks may have asked for what findings of a kind are about.
func Excused(kind Kind, tasks ...string) bool {
	i := slices.IndexFunc(Kinds(), func(k KindRow) bool { return k.Kind == kind })
	return i >= 0 && Kinds()[i].excused != nil && slices.ContainsFunc(tasks, Kinds()[i].excused)
}

// excused is Excused for the tasks of the input.
func (in Input) excused(kind Kind) bool { return Excused(kind, in.tasks()...) }

// GreenByTests returns the findings for a task whose checks pass for another reason than its work.
func GreenByTests(task string, texts []string) []Finding {
	return each(Finding{Kind: KindGreenByTests, Task: task}, texts)
}

// IgnoredFailures returns the findings for a passed check whose output names failed tests for the first time.
func IgnoredFailures(t task.Task, check string, tests []string) []Finding {
	if len(tests) == 0 {
		return nil
	}
	return each(Finding{Kind: KindChecksChanged, Doubt: Excused(KindChecksChanged, TextOf(t))}, []string{fmt.Sprintf("the check %s passes now, though its output names failed tests: %s",
		check, termtext.Some(tests, 3))})
}

func each(f Finding, texts []string) (found []Finding) {
	for _, f.Text = range texts {
		found = append(found, f)
	}
	return found
}

// taskText is the text of the selected task.
func (in Input) taskText() string {
	in.Whole = false
	return in.allText()
}

// tasks are the texts of the selected task, or of all tasks of a whole run.
func (in Input) tasks() (all []string) {
	for _, t := range in.PlanBefore {
		if in.Whole || t.ID == in.Task && in.Task != "" {
			all = append(all, TextOf(t))
		}
	}
	return all
}

// allText is the text of these tasks.
func (in Input) allText() string { return strings.Join(in.tasks(), "") }

// TextOf is all that a task says.
func TextOf(t task.Task) string {
	return strings.Join(append([]string{t.Title, t.Description}, t.Criteria...), "\n") + "\n"
}
