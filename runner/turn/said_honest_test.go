package turn

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"ralph/runner/agent/statusblock"
	"ralph/runner/task"
)

// stage is what a turn shows, and what its agent says of it.
type stage struct {
	says         string // lines of the block, or the JSON form
	ticked       []string
	at           string // the task of the turn; empty: US-002
	before       []string
	edited       int  // files that were there before
	unchanged    bool // nothing changed at all
	change       func([]task.Task) []task.Task
	wantContains string
}

func (s stage) contradictions() []string {
	says := "---RALPH_STATUS---\nSTATUS: IN_PROGRESS\nEXIT_SIGNAL: false\n" + s.says + "\n---END_RALPH_STATUS---"
	if strings.HasPrefix(s.says, "{") {
		says = "```json\n" + s.says + "\n```"
	}
	signal, _ := statusblock.Parse(says)
	after := plan(append(slices.Clone(s.before), s.ticked...)...)
	if s.change != nil {
		after = s.change(after)
	}
	if s.at == "" {
		s.at = "US-002"
	}
	r := statusReport{Signal: signal, Before: plan(s.before...), After: after, Unchanged: s.unchanged}
	for _, t := range r.Before {
		if t.ID == s.at {
			r.Task = t
		}
	}
	for i := range s.edited {
		r.Edited = append(r.Edited, fmt.Sprintf("src/file%d.go", i))
	}
	return r.Contradictions()
}

// What honest agents write, who count in their own way.
func TestContradictions_honestReports_areNoFindings(t *testing.T) {
	for name, s := range map[string]stage{
		"exact":                                 {says: "TASKS_COMPLETED_THIS_LOOP: 1\nFILES_MODIFIED: 3", ticked: []string{"US-002"}, edited: 3},
		"with the new files":                    {says: "TASKS_COMPLETED_THIS_LOOP: 1\nFILES_MODIFIED: 7", ticked: []string{"US-002"}, edited: 3},
		"files of the whole task":               {says: "FILES_MODIFIED: 14", edited: 2},
		"lines instead of files":                {says: "FILES_MODIFIED: 240", edited: 1},
		"without tests and docs":                {says: "TASKS_COMPLETED_THIS_LOOP: 1\nFILES_MODIFIED: 1", ticked: []string{"US-002"}, edited: 9},
		"a formatter changed forty":             {says: "FILES_MODIFIED: 2", edited: 40},
		"only the plan":                         {says: "FILES_MODIFIED: 1\nTASKS_COMPLETED_THIS_LOOP: 1", ticked: []string{"US-002"}, unchanged: true},
		"new files only, none modified":         {says: "FILES_MODIFIED: 0\nTASKS_COMPLETED_THIS_LOOP: 1", ticked: []string{"US-002"}},
		"it only looked; the tests wrote a log": {says: "FILES_MODIFIED: 0", edited: 1},
		"a program wrote two":                   {says: `{"status":"IN_PROGRESS","exit_signal":false,"files_modified":[]}`, edited: 2},
		"no number":                             {says: "FILES_MODIFIED: several", edited: 9},
		"the words of the template":             {says: "FILES_MODIFIED: <number>\nTASKS_COMPLETED_THIS_LOOP: <number>", edited: 9},
		"nothing about files":                   {says: "TASKS_COMPLETED_THIS_LOOP: 0", edited: 9},
		"JSON without files":                    {says: `{"status":"IN_PROGRESS","exit_signal":false}`, edited: 9},
		"the criteria as tasks":                 {says: "TASKS_COMPLETED_THIS_LOOP: 1", at: "US-001", edited: 2},
		"all tasks of the run so far":           {says: "TASKS_COMPLETED_THIS_LOOP: 3", before: []string{"US-001", "0123abcd"}, ticked: []string{"US-002"}},
		"TASK: ID instead of a mark":            {says: "TASKS_COMPLETED_THIS_LOOP: 1\nTASK: US-002", edited: 4},
		"the mark was there before":             {says: "TASKS_COMPLETED_THIS_LOOP: 1", before: []string{"US-002"}, edited: 4},
		"it is in review": {says: "TASKS_COMPLETED_THIS_LOOP: 1", edited: 4, change: func(all []task.Task) []task.Task {
			all[1].State = task.Review
			return all
		}},
		"it moved the task out of the plan": {says: "TASKS_COMPLETED_THIS_LOOP: 1", edited: 4, change: func(all []task.Task) []task.Task {
			return slices.Delete(all, 1, 2)
		}},
		"two at once":         {says: "TASKS_COMPLETED_THIS_LOOP: 2", ticked: []string{"US-002", "0123abcd"}},
		"fewer than it did":   {says: "TASKS_COMPLETED_THIS_LOOP: 0", ticked: []string{"US-002"}},
		"the box around also": {says: "TASKS_COMPLETED_THIS_LOOP: 2", at: "9f8e7d6c", ticked: []string{"9f8e7d6c", "0123abcd"}},
	} {
		if got := s.contradictions(); len(got) > 0 {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestContradictions_plainlyFalseNumbers_areFindings(t *testing.T) {
	for name, s := range map[string]stage{
		"three done, one in the plan":  {says: "TASKS_COMPLETED_THIS_LOOP: 3", ticked: []string{"US-002"}, wantContains: "3 completed tasks, but the plan shows 1"},
		"three done, none in the plan": {says: "TASKS_COMPLETED_THIS_LOOP: 3", wantContains: "3 completed tasks, but the plan shows none"},
		"three named by one TASK line": {says: "TASKS_COMPLETED_THIS_LOOP: 3\nTASK: US-002", wantContains: "3 completed tasks, but the plan shows 1"},
		"no file, five changed":        {says: "FILES_MODIFIED: 0", edited: 5, wantContains: "no modified file, but 5 were: src/file0.go, src/file1.go, src/file2.go and 2 more"},
		"an empty list, three changed": {says: `{"status":"IN_PROGRESS","exit_signal":false,"files_modified":[]}`, edited: 3, wantContains: "no modified file, but 3 were"},
		"files, and nothing changed":   {says: "FILES_MODIFIED: 4", unchanged: true, wantContains: "4 modified files, but nothing was changed"},
	} {
		if got := strings.Join(s.contradictions(), "\n"); !strings.Contains(got, s.wantContains) {
			t.Errorf("%s: %q, want %q", name, got, s.wantContains)
		}
	}
}

func TestContradictions_whatProgramsWrite_isNobodysReport(t *testing.T) {
	signal, _ := statusblock.Parse("---RALPH_STATUS---\nSTATUS: IN_PROGRESS\nFILES_MODIFIED: 0\nEXIT_SIGNAL: false\n---END_RALPH_STATUS---")
	r := statusReport{Signal: signal, Edited: []string{"package-lock.json", "Cargo.lock", "web/dist/app.js", "go.sum", "src/__snapshots__/a.snap", "a.go", "b.go"}}
	if got := r.Contradictions(); len(got) > 0 {
		t.Errorf("%q", got)
	}
}
