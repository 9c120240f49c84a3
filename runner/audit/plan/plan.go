// Package plan compares the plan before and after an iteration: ticks that the
// iteration was not for or did nothing for, and tasks that ask for something else
// now. Plans in, findings out.
package plan

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Task is one task of the plan. Depth counts the boxes that it is nested
// below; tasks come in file order.
type Task struct {
	ID, Title string
	Criteria  []string
	Done      bool
	Depth     int
}

// Kind is what was found.
type Kind int

// The kinds of findings.
const (
	Changed Kind = iota // another text or other criteria, or gone
	Foreign             // ticked, and the iteration was for another task
	Idle                // ticked, and nothing was done
)

// Finding is one thing to tell about a task.
type Finding struct {
	Kind Kind
	Task string // its id
	Text string // one sentence for people
}

// Input is what one iteration did to the plan.
type Input struct {
	Before, After []Task
	Task          string // id of the selected task; empty: none
	Unchanged     bool   // nothing but the plan changed
}

// Compare returns the findings, lost tasks first.
func Compare(in Input) []Finding {
	pairs, lost := pairTasks(in.Before, in.After)
	var found []Finding
	for _, t := range lost {
		if !t.Done {
			found = append(found, Finding{Changed, t.ID, fmt.Sprintf("the open task %q was removed from the plan", t.Title)})
		}
	}
	for i, after := range in.After {
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
			found = append(found, Finding{Foreign, after.ID, fmt.Sprintf("the task %q was ticked, and the iteration was for another one", after.Title)})
		case in.Unchanged:
			found = append(found, Finding{Idle, after.ID, fmt.Sprintf("the task %q was ticked, and no file was changed", after.Title)})
		}
	}
	return found
}

// closesItself says whether box i encloses the selected task and all that is
// nested below it is done: then ticking it is part of the work.
func closesItself(in Input, i int, pairs map[int]Task) bool {
	selected := false
	for j, t := range in.After[i+1:] {
		if t.Depth <= in.After[i].Depth {
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
	depth := in.After[i].Depth
	for j, t := range slices.Backward(in.After[:i]) {
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
	was, is := readTitles(before), readTitles(after)
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
	take(func(b, a title) bool { return b.id == a.id && similarWords(b.words, a.words) })
	take(func(b, a title) bool { return noted(b.text, a.text) })
	take(func(b, a title) bool { return b.id == a.id })
	take(func(b, a title) bool { return similarWords(b.words, a.words) })
	var lost []Task
	for j, b := range before {
		if !used[j] {
			lost = append(lost, b)
		}
	}
	return pairs, lost
}

// title is that of a task, taken apart once.
type title struct {
	id, text string
	words    []string
}

func readTitles(tasks []Task) []title {
	var all []title
	for _, t := range tasks {
		text := plain(t.Title)
		all = append(all, title{t.ID, text, strings.Fields(text)})
	}
	return all
}

// textFindings compares what a task asks for. More criteria, another order and
// notes after the text are no findings.
func textFindings(before, after Task) []Finding {
	if before.Done {
		return nil // what it asked for has been judged
	}
	var found []Finding
	if !annotated(before.Title, after.Title) {
		found = append(found, Finding{Changed, after.ID, fmt.Sprintf("the task %q was changed to %q", before.Title, after.Title)})
	}
	for _, c := range before.Criteria {
		if !slices.ContainsFunc(after.Criteria, func(now string) bool { return annotated(c, now) }) {
			found = append(found, Finding{Changed, after.ID,
				fmt.Sprintf("the acceptance criterion %q of the task %q was changed or removed", c, after.Title)})
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
func annotated(was, now string) bool { return noted(plain(was), plain(now)) }

// noted is annotated for plain texts.
func noted(was, now string) bool {
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
func similarWords(x, y []string) bool {
	common := 0
	for _, w := range x {
		if slices.Contains(y, w) {
			common++
		}
	}
	return common > 0 && 2*common >= max(len(x), len(y))
}
