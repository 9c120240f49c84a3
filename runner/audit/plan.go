package audit

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
)

func comparePlans(in Input) []Finding {
	pairs, lost := pairTasks(in.PlanBefore, in.PlanAfter)
	var found []Finding
	for _, t := range lost {
		if !t.Done {
			found = append(found, Finding{Kind: KindTaskChanged, Task: t.ID, Text: fmt.Sprintf("the open task %q was removed from the plan", t.Title)})
		}
	}
	for i, after := range in.PlanAfter {
		before, known := pairs[i]
		if !known {
			continue
		}
		found = append(found, textFindings(before, after)...)
		if before.Done || !after.Done {
			continue
		}
		switch {
		case in.Task != "" && before.ID != in.Task && !closesItself(in, i, pairs) && !belongs(in, i, pairs):
			found = append(found, Finding{Kind: KindForeignTick, Task: after.ID, Revert: true,
				Text: fmt.Sprintf("the task %q was ticked, and the iteration was for another one", after.Title)})
		case in.Unchanged:
			found = append(found, Finding{Kind: KindTickWithoutWork, Task: after.ID, Revert: true,
				Text: fmt.Sprintf("the task %q was ticked, and no file was changed", after.Title)})
		}
	}
	return found
}

// closesItself says whether box i encloses the selected task and all that is
// nested below it is done: then ticking it is part of the work.
func closesItself(in Input, i int, pairs map[int]Task) bool {
	selected := false
	for j, t := range in.PlanAfter[i+1:] {
		if t.Depth <= in.PlanAfter[i].Depth {
			break
		}
		if !t.Done {
			return false
		}
		selected = selected || pairs[i+1+j].ID == in.Task
	}
	return selected
}

// belongs says whether box i is nested below the selected task.
func belongs(in Input, i int, pairs map[int]Task) bool {
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

// pairTasks finds for each task after, by index, the one that it was before,
// and which tasks are lost. The id of a box may come from its text, so a task
// with a new id is looked for by its words.
func pairTasks(before, after []Task) (map[int]Task, []Task) {
	pairs, used := map[int]Task{}, make([]bool, len(before))
	take := func(same func(b, a Task) bool) {
		for i, a := range after {
			if _, done := pairs[i]; done {
				continue
			}
			for j, b := range before {
				if !used[j] && same(b, a) {
					pairs[i], used[j] = b, true
					break
				}
			}
		}
	}
	take(func(b, a Task) bool { return b.ID == a.ID && similarWords(b.Title, a.Title) })
	take(func(b, a Task) bool { return annotated(b.Title, a.Title) })
	take(func(b, a Task) bool { return b.ID == a.ID })
	take(func(b, a Task) bool { return similarWords(b.Title, a.Title) })
	var lost []Task
	for j, b := range before {
		if !used[j] {
			lost = append(lost, b)
		}
	}
	return pairs, lost
}

// textFindings compares what a task asks for. More criteria, another order and
// notes after the text are no findings.
func textFindings(before, after Task) []Finding {
	if before.Done {
		return nil // what it asked for has been judged
	}
	var found []Finding
	if !annotated(before.Title, after.Title) {
		found = append(found, Finding{Kind: KindTaskChanged, Task: after.ID,
			Text: fmt.Sprintf("the task %q was changed to %q", before.Title, after.Title)})
	}
	for _, c := range before.Criteria {
		if !slices.ContainsFunc(after.Criteria, func(now string) bool { return annotated(c, now) }) {
			found = append(found, Finding{Kind: KindTaskChanged, Task: after.ID,
				Text: fmt.Sprintf("the acceptance criterion %q of the task %q was changed or removed", c, after.Title)})
		}
	}
	return found
}

var planPatterns = sync.OnceValue(func() (p struct{ decoration, weaker *regexp.Regexp }) {
	p.decoration = regexp.MustCompile("[*_`~]+|<!--.*?-->|^\\[[ xX]\\]\\s*")
	p.weaker = regexp.MustCompile(`(?i)\b(only|stub|skip|skipped|except|without|partial|partially|later|not|no longer|todo|defer|deferred|out of scope|optional|basic|simplified|minimal|mock|instead|n/a|won't|wontfix|postponed|blocked)\b`)
	return p
})

// annotated says whether now is the text was, perhaps set in another way, or
// with a note behind it that takes nothing back.
func annotated(was, now string) bool {
	was, now = plain(was), plain(now)
	if was == now {
		return true
	}
	note, ok := strings.CutPrefix(now, was)
	return ok && !startsWord(note) && !planPatterns().weaker.MatchString(note)
}

// startsWord says whether s goes on in the middle of a word.
func startsWord(s string) bool {
	return s != "" && (s[0] >= 'a' && s[0] <= 'z' || s[0] >= '0' && s[0] <= '9')
}

func plain(s string) string {
	s = planPatterns().decoration.ReplaceAllString(s, "")
	s = strings.Join(strings.Fields(strings.ToLower(s)), " ")
	return strings.TrimRight(s, " .;:!")
}

// similarWords says whether most words of the longer text are in the other.
func similarWords(a, b string) bool {
	x, y := strings.Fields(plain(a)), strings.Fields(plain(b))
	common := 0
	for _, w := range x {
		if slices.Contains(y, w) {
			common++
		}
	}
	return common > 0 && 2*common >= max(len(x), len(y))
}
