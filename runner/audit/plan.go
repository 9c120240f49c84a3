package audit

import (
	"fmt"
	"slices"
	"strings"

	"ralph/runner/audit/asks"
	"ralph/runner/audit/prose"
	"ralph/runner/audit/wording"
	"ralph/runner/task"
)

// comparePlans finds tasks that are easier now, unless the selected one asks for another plan. Removed tasks come
// first.
func comparePlans(in Input) []Finding {
	pairs, lost := pairTasks(in.PlanBefore, in.PlanAfter)
	var found []Finding
	if asks.ForPlan(in.taskText()) {
		return nil
	}
	for _, t := range lost {
		if t.Pending() && !t.Optional {
			found = append(found, taskChanged(t, "the open task %q was removed from the plan", t.Title))
		}
	}
	for i, after := range in.PlanAfter {
		before, known := pairs[i]
		if !known {
			continue
		}
		found = append(found, textFindings(before, after)...)
	}
	return found
}

// OnlyComments reports whether all that was changed are comments in code, which the selected task does not ask for.
func (in Input) OnlyComments() bool {
	return len(in.Files) > 0 && !in.Partial && !prose.Asked(in.taskText()) &&
		!slices.ContainsFunc(in.Files, func(f File) bool { return !prose.Only(f.Path, f.Before, f.After) })
}

func taskChanged(t task.Task, format string, args ...any) Finding {
	return Finding{Kind: KindTaskChanged, Task: t.ID, Text: fmt.Sprintf(format, args...)}
}

// closesItself reports whether box i contains the selected task and all boxes below it are
// done. Then ticking it is part of the work.
func closesItself(in Input, i int, pairs map[int]task.Task) bool {
	selected := false
	for j, t := range in.PlanAfter[i+1:] {
		if t.Depth <= in.PlanAfter[i].Depth {
			break
		}
		if t.Pending() {
			return false
		}
		selected = selected || pairs[i+1+j].ID == in.Task
	}
	return selected
}

// belongs reports whether box i is nested below the selected task.
func belongs(in Input, i int, pairs map[int]task.Task) bool {
	depth := in.PlanAfter[i].Depth
	for j, t := range slices.Backward(in.PlanAfter[:i]) {
		if t.Depth < depth {
			if pairs[j].ID == in.Task {
				return true
			}
			depth = t.Depth
		}
	}
	return false
}

// pairTasks returns the earlier version of each task, by its index in after, and the
// removed tasks. The id of a box may come from its text, so a task with a new id is found
// by its words.
func pairTasks(before, after []task.Task) (map[int]task.Task, []task.Task) {
	pairs, used := map[int]task.Task{}, make([]bool, len(before))
	at := task.Index(before)
	for i, a := range after { // nearly all, in a large plan: nothing has to be compared
		if j, known := at[a.ID]; known && before[j].Title == a.Title && !used[j] {
			pairs[i], used[j] = before[j], true
		}
	}
	if len(pairs) == len(before) && len(pairs) == len(after) {
		return pairs, nil
	}
	was := readTitles(before, func(j int) bool { return used[j] })
	is := readTitles(after, func(i int) bool { _, done := pairs[i]; return done })
	take := func(same func(b, a title) bool) {
		for i, a := range is {
			if _, done := pairs[i]; done {
				continue
			}
			for j, b := range was {
				if !used[j] && same(b, a) {
					pairs[i], used[j] = before[j], true
					break
				}
			}
		}
	}
	take(func(b, a title) bool { return b.id == a.id && wording.Similar(b.words, a.words) })
	take(func(b, a title) bool { return wording.Noted(b.text, a.text) })
	take(func(b, a title) bool { return b.id == a.id })
	take(func(b, a title) bool { return wording.Similar(b.words, a.words) })
	var lost []task.Task
	for j, b := range before {
		if !used[j] {
			lost = append(lost, b)
		}
	}
	return pairs, lost
}

// title is a parsed title of a task.
type title struct {
	id, text string
	words    []string
}

// readTitles has a title for each task, an empty one for those that need none.
func readTitles(tasks []task.Task, needless func(i int) bool) []title {
	var all []title
	for i, t := range tasks {
		if needless(i) {
			all = append(all, title{})
			continue
		}
		text := wording.Plain(t.Title)
		all = append(all, title{t.ID, text, strings.Fields(text)})
	}
	return all
}

// textFindings compares the texts of a task. New criteria, another order and notes after
// the text are not findings.
func textFindings(before, after task.Task) []Finding {
	if !before.Pending() || before.Optional {
		return nil // its text has been judged, or nobody waits for it
	}
	var found []Finding
	if after.State == task.Dropped {
		found = append(found, taskChanged(after, "the open task %q was dropped", after.Title))
	}
	if after.Optional && after.Pending() {
		found = append(found, taskChanged(after, "the open task %q was moved below the optional heading %q", after.Title, after.Section))
	}
	if before.Title == after.Title && before.Description == after.Description && slices.Equal(before.Criteria, after.Criteria) {
		return found
	}
	if !wording.Annotated(before.Title, after.Title) && !wording.Respelled(before.Title, after.Title) {
		found = append(found, taskChanged(after, "the task %q was changed to %q", before.Title, after.Title))
	}
	for _, c := range before.Criteria {
		if !slices.ContainsFunc(after.Criteria, func(now string) bool { return wording.Annotated(c, now) }) {
			found = append(found,
				taskChanged(after, "the acceptance criterion %q of the task %q was changed or removed", c, after.Title))
		}
	}
	if line := lostLine(before, after); line != "" {
		found = append(found, taskChanged(after, "%q was changed or removed in the description of the task %q", line, after.Title))
	}
	return found
}

// lostLine is a line of the description that the task does not say any more, however its
// text is wrapped now; empty if there is none.
func lostLine(before, after task.Task) string {
	now := wording.Plain(TextOf(after))
	for line := range strings.Lines(before.Description) {
		if line = strings.TrimSpace(line); !strings.Contains(now, wording.Plain(line)) && !wording.Status(line) {
			return line
		}
	}
	return ""
}

// Judged marks the tasks that are done in a later version of the plan, if it still asks for
// as much.
func Judged(tasks, later []task.Task) []task.Task {
	done := map[string]bool{}
	pairs, _ := pairTasks(tasks, later)
	for i, t := range later {
		if before, known := pairs[i]; known && t.Done() && len(textFindings(before, t)) == 0 {
			done[before.ID] = true
		}
	}
	tasks = slices.Clone(tasks)
	for i, t := range tasks {
		if done[t.ID] {
			tasks[i].State = task.Done
		}
	}
	return tasks
}
