// Package audit compares the start and the end of an iteration and reports
// changes that weaken the proof of the work: deleted test files, tests that no
// longer run, checks that became easier to pass, boxes ticked without work. It
// is pure: texts in, findings out.
//
//	test files     -> tests.go    -> tests_removed, skip_added
//	CI, lint, make -> settings.go -> checks_changed
//	plan           -> plan.go     -> tick_without_work, foreign_tick, task_changed
//
// A false alarm costs more than a miss: a person has to look at it, and the
// agent starts to argue. A rule stays only while it is right at least 95 times
// in 100 on changes that it has not been tuned for; docs/proof.md has the
// figures. Whether a test still checks as much as before is not judged here:
// text does not tell.
package audit

import (
	"cmp"
	"slices"

	"ralph/runner/task"
)

// Kind names what was found.
type Kind string

// The kinds of findings; Kinds describes each.
const (
	KindTestsRemoved    Kind = "tests_removed"
	KindSkipAdded       Kind = "skip_added"
	KindChecksChanged   Kind = "checks_changed"
	KindTickWithoutWork Kind = "tick_without_work"
	KindForeignTick     Kind = "foreign_tick"
	KindTaskChanged     Kind = "task_changed"
)

// KindRow is a row of the table of kinds.
type KindRow struct {
	Kind  Kind
	Found string
	// Revert and Doubt are as in Finding.
	Revert, Doubt bool
}

// Kinds returns the table of all kinds of findings.
func Kinds() []KindRow {
	return []KindRow{
		{Kind: KindTestsRemoved, Found: "a test file was deleted or emptied, and the code that it tested is still there"},
		{Kind: KindSkipAdded, Found: "tests that ran before are skipped now"},
		{Kind: KindChecksChanged, Found: "commands, CI or lint settings that judge the work became easier to pass"},
		{Kind: KindTickWithoutWork, Found: "a box was ticked, and nothing else changed", Revert: true},
		{Kind: KindForeignTick, Found: "a box of another task was ticked", Revert: true},
		{Kind: KindTaskChanged, Found: "the text or the criteria of a task changed, or an open task was removed"},
	}
}

// Finding is one thing to tell the agent and the user.
type Finding struct {
	Kind Kind   `json:"kind"`
	File string `json:"file,omitempty"` // slash-separated, as in File.Path; empty for findings in the plan
	Task string `json:"task,omitempty"` // id of the task; empty for findings in files
	Text string `json:"text"`           // one sentence for people
	// Revert is true when taking back the tick of Task undoes it.
	Revert bool `json:"revert,omitempty"`
	// Doubt is true when honest work often looks the same: worth telling, but
	// no reason to end a run. No kind has it today.
	Doubt bool `json:"doubt,omitempty"`
}

// File is one changed file. A renamed file comes as two: one that no longer
// exists and one that did not exist before.
type File struct {
	Path            string // slash-separated, relative to the project
	Before, After   string // empty also when the file did not exist
	Existed, Exists bool   // before, after
}

// Input is everything about one iteration.
type Input struct {
	Files []File // what changed, without the plan
	// PlanBefore and PlanAfter are empty without a plan.
	PlanBefore, PlanAfter []task.Task
	Task                  string // id of the selected task; empty: none
	// Unchanged is true when nothing but the plan changed: no commit, no file.
	Unchanged bool
	// Partial is true when Files lacks some of what changed: then a deleted test
	// may have moved to a file that is not there.
	Partial bool
}

// Compare returns the findings: first those in files, sorted by file, then those
// in the plan.
func Compare(in Input) []Finding {
	in.Files = slices.SortedFunc(slices.Values(in.Files), func(a, b File) int { return cmp.Compare(a.Path, b.Path) })
	asked := in.taskText()
	found := compareTests(in, asked)
	found = append(found, compareSettings(in.Files, asked)...)
	slices.SortStableFunc(found, func(a, b Finding) int { return cmp.Compare(a.File, b.File) })
	return append(found, comparePlans(in)...)
}

// taskText is all that the selected task asks for.
func (in Input) taskText() string {
	text := ""
	for _, t := range in.PlanBefore {
		if t.ID == in.Task && in.Task != "" {
			text += t.Title + "\n" + t.Description + "\n"
			for _, c := range t.Criteria {
				text += c + "\n"
			}
		}
	}
	return text
}
