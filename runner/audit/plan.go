package audit

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"ralph/logs/termtext"
	"ralph/runner/audit/asks"
	"ralph/runner/audit/names"
	"ralph/runner/audit/prose"
	"ralph/runner/audit/wording"
	"ralph/runner/task"
)

// comparePlans finds ticks of other tasks or without work, and tasks that are easier now,
// unless the selected one asks for another plan. Removed tasks come first.
func comparePlans(in Input) []Finding {
	pairs, lost := pairTasks(in.PlanBefore, in.PlanAfter)
	var found []Finding
	asked := asks.ForPlan(in.taskText())
	for _, t := range lost {
		if t.Pending() && !t.Optional && !asked {
			found = append(found, taskChanged(t, "the open task %q was removed from the plan", t.Title))
		}
	}
	for i, after := range in.PlanAfter {
		before, known := pairs[i]
		if !known {
			continue
		}
		if !asked {
			found = append(found, textFindings(before, after)...)
		}
		if before.Done() || !after.Done() {
			continue
		}
		switch {
		case in.Task != "" && before.ID != in.Task && !closesItself(in, i, pairs) && !belongs(in, i, pairs):
			early := tick(KindForeignTick, after, "the iteration was for another one")
			if code := names.Of(TextOf(after)); in.hasNone(code) {
				early.Unseen, early.Text = true, early.Text+"; no changed file has "+termtext.Some(code, 3)
			}
			early.Seen = in.hasAll(names.Of(TextOf(after))) || in.hasAll(names.Quoted(TextOf(after)))
			found = append(found, early)
		case in.Unchanged:
			found = append(found, in.unworked(after))
		}
	}
	return found
}

// OnlyComments reports whether all that was changed are comments in code, which the selected task does not ask for.
func (in Input) OnlyComments() bool {
	return len(in.Files) > 0 && !in.Partial && !prose.Asked(in.taskText()) &&
		!slices.ContainsFunc(in.Files, func(f File) bool { return !prose.Only(f.Path, f.Before, f.After) })
}

// unworked is the finding for a tick without work. Where the turn of another task may have done the work, the tick
// stands, and a person has to look.
func (in Input) unworked(t task.Task) Finding {
	f := tick(KindTickWithoutWork, t, in.untouched())
	if in.Early {
		f.Text, f.Revert = fmt.Sprintf("the task %q was ticked in the iteration of another one, and in its own %s", t.Title, in.untouched()), false
	}
	return f
}

func (in Input) untouched() string {
	if in.OnlyComments() {
		return "only comments were changed"
	}
	return "no file was changed"
}

// hasNone reports whether all changed files are known and none has one of these names. If some of them are new to these
// files, only those count: a task that adds Write may also name Parse, which was there before.
func (in Input) hasNone(known []string) bool {
	if fresh := in.fresh(known); len(fresh) > 0 {
		known = fresh
	}
	has := func(f File) bool {
		return slices.ContainsFunc(known, func(name string) bool { return names.In(f.Path+"\n"+f.After, name) })
	}
	return len(known) > 0 && !in.Partial && !slices.ContainsFunc(in.Files, has)
}

// fresh are the names that no changed file had before.
func (in Input) fresh(known []string) []string {
	return slices.DeleteFunc(slices.Clone(known), func(name string) bool {
		return slices.ContainsFunc(in.Files, func(f File) bool { return names.In(f.Before, name) })
	})
}

// hasAll reports whether some of these names are new, and new code has each of those, not only a comment.
func (in Input) hasAll(known []string) bool {
	fresh := in.fresh(known)
	return len(fresh) > 0 && !slices.ContainsFunc(fresh, func(name string) bool {
		return !slices.ContainsFunc(in.Files, func(f File) bool { return isProduct(f.Path) && names.In(productCode(f), name) })
	})
}

// productCode is a file without its lines of comments. In bin/, what has no ending is a script.
func productCode(f File) string {
	name := f.Path
	if path.Ext(name) == "" {
		name += ".sh"
	}
	return prose.Code(name, f.After)
}

func taskChanged(t task.Task, format string, args ...any) Finding {
	return Finding{Kind: KindTaskChanged, Task: t.ID, Text: fmt.Sprintf(format, args...)}
}

func tick(kind Kind, t task.Task, why string) Finding {
	return Finding{Kind: kind, Task: t.ID, Text: fmt.Sprintf("the task %q was ticked, and %s", t.Title, why), Revert: true}
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
