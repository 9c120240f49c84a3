package audit

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"ralph/runner/task"
)

// comparePlans finds tasks that are easier now, unless the selected one asks for another plan. Removed tasks come
// first.
func comparePlans(in Input) []Finding {
	pairs, lost := pairTasks(in.PlanBefore, in.PlanAfter)
	var found []Finding
	if AsksForPlan(in.taskText()) {
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
	take(func(b, a title) bool { return b.id == a.id && similar(b.words, a.words) })
	take(func(b, a title) bool { return noted(b.text, a.text) })
	take(func(b, a title) bool { return b.id == a.id })
	take(func(b, a title) bool { return similar(b.words, a.words) })
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
		text := plain(t.Title)
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
	if !annotated(before.Title, after.Title) && !respelled(before.Title, after.Title) {
		found = append(found, taskChanged(after, "the task %q was changed to %q", before.Title, after.Title))
	}
	for _, c := range before.Criteria {
		if !slices.ContainsFunc(after.Criteria, func(now string) bool { return annotated(c, now) }) {
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
	now := plain(TextOf(after))
	for line := range strings.Lines(before.Description) {
		if line = strings.TrimSpace(line); !strings.Contains(now, plain(line)) && !planPatterns().status.MatchString(line) {
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

var planPatterns = sync.OnceValue(func() (p struct{ decoration, weaker, status *regexp.Regexp }) {
	p.decoration = regexp.MustCompile("[*_`~]+|<!--.*?-->|^\\[[ xX]\\]\\s*")
	p.weaker = regexp.MustCompile(`(?i)\b(?:only|stub|skip|skipped|except|without|partial|partially|later|not|` +
		`no longer|todo|defer|deferred|out of scope|optional|basic|simplified|minimal|mock|instead|n/a|won't|wontfix|` +
		`postponed|blocked)\b`)
	p.status = regexp.MustCompile(`(?i)^[-*_ ]*(?:status|progress|state|notes?|updated?|last|eta|owner|assignee|` +
		`commit|branch|pr|attempts?|next)\b[^:]*:`)
	return p
})

// annotated reports whether now is the same text, perhaps formatted differently or with a
// note that weakens nothing.
func annotated(was, now string) bool { return noted(plain(was), plain(now)) }

// noted is annotated for plain texts.
func noted(was, now string) bool {
	note, ok := strings.CutPrefix(now, was)
	inWord := note != "" && (note[0] >= 'a' && note[0] <= 'z' || note[0] >= '0' && note[0] <= '9')
	return ok && !inWord && !planPatterns().weaker.MatchString(note)
}

// plain is a text without case, marks of Markdown, blanks, the end of a sentence, and dots before a word: agents edit
// the plan with patterns, in which a dot stands for any character.
func plain(s string) string {
	words := strings.Fields(strings.ToLower(planPatterns().decoration.ReplaceAllString(s, "")))
	for i, w := range words {
		words[i] = strings.TrimLeft(w, ".")
	}
	return strings.TrimRight(strings.Join(words, " "), " .;:!")
}

// respelled reports whether only typos were corrected: one letter inside a long word.
// The last letter does not count, since a plural asks for more work.
func respelled(was, now string) bool {
	x, y := strings.Fields(plain(was)), strings.Fields(plain(now))
	if len(x) != len(y) {
		return false
	}
	for i, a := range x {
		b := y[i]
		if len(a) > len(b) {
			a, b = b, a
		}
		same := 0
		for same < len(a) && a[same] == b[same] {
			same++
		}
		letters := strings.Trim(a+b, "abcdefghijklmnopqrstuvwxyz") == ""
		if a != b &&
			(!letters || len(a) < 5 || same == 0 || same == len(a) || len(b) != len(a)+1 || a[same:] != b[same+1:]) {
			return false
		}
	}
	return true
}

// similar reports whether the texts share at least half of the longer one's words.
func similar(x, y []string) bool {
	common := 0
	for _, w := range x {
		if slices.Contains(y, w) {
			common++
		}
	}
	return common > 0 && 2*common >= max(len(x), len(y))
}
