package task

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"ralph/logs/termtext"
)

// Resolve returns the task that a person means by a name. The error says that there is none, or lists the candidates.
func (l List) Resolve(name string) (Task, error) {
	switch close := l.Named(name); len(close) {
	case 0:
		return Task{}, fmt.Errorf("the plan has no task %q; see: ralph task list", name)
	case 1:
		return close[0], nil
	default:
		ids := make([]string, len(close))
		for i, t := range close {
			ids[i] = t.ID
		}
		return Task{}, fmt.Errorf("%q can mean %s; write the whole id", name, termtext.Some(ids, 10))
	}
}

// minHashPrefix is how many characters of a hash are enough to name its task. Fewer would mislead: a person
// who types 6 means the sixth task.
const minHashPrefix = 4

// Named returns the tasks that a person may mean: the one with this id or title, else those with this
// number, such as 1 for TASK-1, T001 or the first task of a plan without ids, else those whose id or title begins with
// the name.
func (l List) Named(name string) []Task {
	if name = strings.ToLower(strings.TrimSpace(name)); name == "" {
		return nil
	}
	var titled, numbered, begun []Task
	for i, t := range l.Tasks {
		id, title := strings.ToLower(t.ID), strings.ToLower(t.Title)
		switch {
		case id == name:
			return []Task{t}
		case title == name:
			titled = append(titled, t)
		case Hashed(t.ID) && name == strconv.Itoa(i+1), !Hashed(t.ID) && sameNumber(name, id):
			numbered = append(numbered, t)
		case strings.HasPrefix(id, name) && (len(name) >= minHashPrefix || !Hashed(t.ID)),
			strings.HasPrefix(title, name):
			begun = append(begun, t)
		}
	}
	for _, close := range [][]Task{titled, numbered} {
		if len(close) > 0 {
			return close
		}
	}
	return begun
}

// sameNumber reports whether a name is an id without its letters, its dashes or its leading zeros.
func sameNumber(name, id string) bool {
	word, number := numberIn(name)
	its, own := numberIn(id)
	return number != "" && number == own && (word == "" || word == its)
}

// numberIn splits an id such as task-01.2 into its letters and the number after them, which has
// only digits and dots; both are empty if there is no number.
func numberIn(id string) (letters, number string) {
	i := strings.IndexFunc(id, unicode.IsDigit)
	if i < 0 || strings.Trim(id[i:], "0123456789.") != "" {
		return "", ""
	}
	parts := strings.Split(id[i:], ".")
	for n, part := range parts {
		parts[n] = strings.TrimLeft(part, "0")
	}
	return strings.Trim(id[:i], "-_ #"), strings.Join(parts, ".")
}

// Number returns the part of the title that contains the id, such as "T1: " or "2. "; empty: the title has none.
func (t Task) Number() string {
	if !t.InTitle() {
		return ""
	}
	number, _, _ := strings.Cut(t.Title[len(t.ID):], " ")
	return t.ID + number + " "
}

// InTitle reports whether the title begins with the id, so that a message with the title need not name it.
func (t Task) InTitle() bool {
	rest, ok := strings.CutPrefix(t.Title, t.ID)
	next, _ := utf8.DecodeRuneInString(rest)
	return ok && !unicode.IsLetter(next) && !unicode.IsDigit(next)
}
