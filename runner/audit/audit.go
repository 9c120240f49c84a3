// Package audit compares the start and the end of an iteration and finds what
// an honest change would not have done: tests that vanish or no longer run,
// assertions that are gone, checks that were made easier, boxes ticked without
// work. It is pure: texts in, findings out.
//
//	files before/after -> mask -> tests, definitions -> pairs -> findings
//	files that judge   -> settings -----------------------------> findings
//	plan  before/after -----------------------------------------> findings
//
// False alarms cost as much as misses, so each rule first looks for the honest
// explanation: the test moved, was renamed, became a row of a table, or the
// code that it tested is gone too.
package audit

import (
	"cmp"
	"slices"

	"ralph/runner/audit/plan"
	"ralph/runner/audit/settings"
)

// Kind names what was found.
type Kind string

// The kinds of findings; Kinds says what each is.
const (
	KindTestsRemoved       Kind = "tests_removed"
	KindSkipAdded          Kind = "skip_added"
	KindAssertionsRemoved  Kind = "assertions_removed"
	KindExpectationChanged Kind = "expectation_changed"
	KindSuppressionAdded   Kind = "suppression_added"
	KindChecksChanged      Kind = "checks_changed"
	KindTickWithoutWork    Kind = "tick_without_work"
	KindForeignTick        Kind = "foreign_tick"
	KindTaskChanged        Kind = "task_changed"
)

// KindRow is a row of the table of kinds.
type KindRow struct {
	Kind  Kind
	Found string
	// Revert and Doubt are as in Finding.
	Revert, Doubt bool
}

// Kinds are all kinds of findings.
func Kinds() []KindRow {
	return []KindRow{
		{Kind: KindTestsRemoved, Found: "tests, or cases of a table, no longer exist, and what they tested does"},
		{Kind: KindSkipAdded, Found: "tests exist and do not run, or cannot fail"},
		{Kind: KindAssertionsRemoved, Found: "a test checks less than before"},
		{Kind: KindExpectationChanged, Found: "a test or a golden file expects something else, and no code that it tests changed", Doubt: true},
		{Kind: KindSuppressionAdded, Found: "a linter, the compiler or the coverage is switched off for a place in the code", Doubt: true},
		{Kind: KindChecksChanged, Found: "commands, CI or lint settings that judge the work became easier to pass"},
		{Kind: KindTickWithoutWork, Found: "a box was ticked, and nothing else changed", Revert: true},
		{Kind: KindForeignTick, Found: "a box of another task was ticked", Revert: true},
		{Kind: KindTaskChanged, Found: "the text or the criteria of a task changed, or an open task was removed"},
	}
}

// Finding is one thing to tell the agent and the user.
type Finding struct {
	Kind Kind
	File string // slash-separated, as in File.Path; empty for findings in the plan
	Task string // id of the task; empty for findings in files
	Text string // one sentence for people
	// Revert is true when taking the tick of Task back undoes it.
	Revert bool
	// Doubt is true when honest work often looks the same: worth telling, and
	// no reason to end a run.
	Doubt bool
}

// File is one changed file. A file that was renamed may come as two.
type File struct {
	Path            string // slash-separated, relative to the project
	Before, After   string // empty also when it did not exist
	Existed, Exists bool   // before, after
}

// Task is one task of the plan.
type Task = plan.Task

// Input is everything about one iteration.
type Input struct {
	Files []File
	// PlanBefore and PlanAfter are empty without a plan.
	PlanBefore, PlanAfter []Task
	Task                  string // id of the selected task; empty: none
	// Unchanged is true when nothing but the plan changed: no commit, no file.
	Unchanged bool
	// Partial is true when Files lacks some of what changed.
	Partial bool
}

// Compare returns the findings, those in the plan last, sorted by file.
func Compare(in Input) []Finding {
	found := compareTests(in)
	var settled []settings.File
	for _, f := range in.Files {
		settled = append(settled, settings.File(f))
	}
	for _, f := range settings.Compare(settled, in.taskText()) {
		found = append(found, Finding{Kind: KindChecksChanged, File: f.File, Text: f.Text})
	}
	found = append(found, compareSuppressions(in.Files, in.taskText())...)
	slices.SortStableFunc(found, func(a, b Finding) int { return cmp.Compare(a.File, b.File) })
	for _, f := range plan.Compare(plan.Input{Before: in.PlanBefore, After: in.PlanAfter, Task: in.Task, Unchanged: in.Unchanged}) {
		kind := map[plan.Kind]Kind{plan.Changed: KindTaskChanged, plan.Foreign: KindForeignTick, plan.Idle: KindTickWithoutWork}[f.Kind]
		found = append(found, Finding{Kind: kind, Task: f.Task, Text: f.Text, Revert: f.Kind != plan.Changed})
	}
	return found
}

// taskText is all that the selected task asks for.
func (in Input) taskText() string {
	text := ""
	for _, t := range in.PlanBefore {
		if t.ID == in.Task && in.Task != "" {
			text += t.Title + "\n"
			for _, c := range t.Criteria {
				text += c + "\n"
			}
		}
	}
	return text
}
