package turn

import (
	"slices"
	"strings"
	"testing"

	"ralph/runner/agent/statusblock"
	"ralph/runner/task"
)

// plan has four stories; those in ticked are done.
func plan(ticked ...string) []task.Task {
	tasks := []task.Task{{ID: "US-001", Title: "Write the parser", Criteria: []string{"it reads files"}}, {ID: "US-002", Title: "Print results"},
		{ID: "0123abcd", Title: "Add colours"}, {ID: "9f8e7d6c", Title: "Add bold colours", Depth: 1}}
	for i := range tasks {
		if slices.Contains(ticked, tasks[i].ID) {
			tasks[i].State = task.Done
		}
	}
	return tasks
}

func TestContradictions_storyID(t *testing.T) {
	for _, c := range []struct{ task, says, want string }{
		{"US-001", "", ""},
		{"US-001", "US-001", ""},
		{"US-001", "us-1", ""},
		{"US-001", "US-001: Write the parser", ""},
		{"US-001", "Write the parser", ""},
		{"US-001", "parser", ""},
		{"US-001", "Write the", ""},
		{"US-002", "US-001, US-002", ""},
		{"US-002", "the results", ""},
		{"US-001", "Print", ""},
		{"US-001", "US-002", `work on "US-002", but the iteration was for "US-001"`},
		{"US-001", "print results", `work on "print results", but the iteration was for "US-001"`},
		{"US-001", "US-99", `work on "US-99", which the plan does not have`},
		{"0123abcd", "1", ""},
		{"0123abcd", "story 12ab34cd", ""},
		{"0123abcd", "US-002", `work on "US-002", but the iteration was for "Add colours"`},
		{"0123abcd", "Add bold colours", ""}, // a box below
		{"9f8e7d6c", "Add colours", ""},      // the box around
		{"", "US-002", ""},
	} {
		tasks := plan()
		i := slices.IndexFunc(tasks, func(t task.Task) bool { return t.ID == c.task })
		r := statusReport{Signal: statusblock.Signal{StoryID: c.says}, Before: tasks, After: tasks}
		if i >= 0 {
			r.Task = tasks[i]
		}
		if got := strings.TrimPrefix(strings.Join(r.Contradictions(), "\n"), "the agent reports "); got != c.want {
			t.Errorf("task %s, the agent says %q: %q, want %q", c.task, c.says, got, c.want)
		}
	}
}

func TestContradictions_numbers(t *testing.T) {
	for name, c := range map[string]struct {
		files, tasks int
		unchanged    bool
		after        []task.Task
		want         string
	}{
		"nothing claimed":                        {0, 0, true, plan(), ""},
		"files, and there are some":              {12, 0, false, plan(), ""},
		"files, and nothing changed":             {12, 0, true, plan(), "the agent reports 12 modified files, but nothing was changed"},
		"one file, the plan":                     {1, 1, true, plan("US-002"), ""},
		"two files, only the plan":               {2, 1, true, plan("US-002"), "the agent reports 2 modified files, but nothing was changed"},
		"a task that is ticked":                  {3, 1, false, plan("US-002"), ""},
		"a task that is not":                     {3, 1, false, plan(), "the agent reports 1 completed task, but the plan shows none"},
		"more than are ticked":                   {3, 4, false, plan("US-002"), "the agent reports 4 completed tasks, but the plan shows 1"},
		"fewer than are ticked":                  {3, 1, false, plan("US-001", "US-002"), ""},
		"tidied up meanwhile":                    {3, 1, false, plan("US-002")[1:], ""},
		"a plan that cannot be read, or is none": {3, 4, false, nil, ""},
	} {
		r := statusReport{Signal: statusblock.Signal{FilesModified: c.files, TasksCompleted: c.tasks}, Task: plan()[1],
			Before: plan("US-001"), After: c.after, Unchanged: c.unchanged}
		if got := strings.Join(r.Contradictions(), "\n"); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	steps := statusReport{Signal: statusblock.Signal{TasksCompleted: 1}, Task: plan()[0], Before: plan(), After: plan()}
	if got := steps.Contradictions(); len(got) > 0 {
		t.Errorf("a criterion counted as a task: %q", got)
	}
}
