package boxes

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"ralph/logs/termtext"
	"ralph/runner/task"
)

// New returns a function that makes the line of a new box, and says where it goes: below the last required box at the
// top level, formatted like it. number returns what comes before the title.
func New(number func(task.Parsed) string) func(f task.File, p task.Parsed, title string) (task.Range, string) {
	return func(f task.File, p task.Parsed, title string) (task.Range, string) {
		text, end := string(f.Data), "\n"
		if strings.Contains(text, "\r\n") {
			end = "\r\n"
		}
		at, marker := p.First, "- "
		for i, t := range p.Tasks {
			if t.Depth == 0 && !t.Optional {
				item := p.Spots[i].Item
				at = task.Range{Start: item.End, End: item.End}
				marker = text[item.Start : p.Spots[i].States[0].Start-1]
			}
		}
		line := marker + "[ ] " + number(p) + title + end
		if at.Start > 0 && text[at.Start-1] != '\n' {
			line = end + strings.TrimSuffix(line, end)
		}
		return at, line
	}
}

// NoNumber returns the number of a new box in a plain list: none.
func NoNumber(task.Parsed) string { return "" }

// NextT returns the prefix of a new Spec Kit task, one above the highest: "T013 ".
func NextT(p task.Parsed) string {
	most := 0
	for _, t := range p.Tasks {
		if n, err := strconv.Atoi(strings.TrimPrefix(t.ID, "T")); err == nil {
			most = max(most, n)
		}
	}
	return fmt.Sprintf("T%03d ", most+1)
}

// NextTop returns the number after that of the last top-level task: "4. " after "3", and
// "2.3 " after "2.2", or the next one that no task has.
func NextTop(p task.Parsed) string {
	last := "0"
	for _, t := range p.Tasks {
		if id := number(t.Title); id != "" && t.Depth == 0 && !t.Optional {
			last = id
		}
	}
	m := regexp.MustCompile(`^((?:\d+\.)*)(\d+)$`).FindStringSubmatch(last)
	if m == nil {
		return ""
	}
	n, _ := strconv.Atoi(m[2]) // digits
	taken := func(id string) bool {
		return slices.ContainsFunc(p.Tasks, func(t task.Task) bool { return t.ID == id })
	}
	for n++; taken(m[1] + strconv.Itoa(n)); n++ { // by an optional task
	}
	if m[1] == "" {
		return fmt.Sprintf("%d. ", n)
	}
	return fmt.Sprintf("%s%d ", m[1], n)
}

// Title returns a title for a box: one line.
func Title(title string) string { return termtext.Unwrap(title) }
