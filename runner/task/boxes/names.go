package boxes

import (
	"fmt"
	"regexp"
	"strings"
	"sync"

	"ralph/runner/task"
)

// idPattern matches a task number at the start of a title: "T3: ...",
// "**US-001** ...", "[T3] ...", "T-3 - ...", and bare ones of three digits.
var idPattern = sync.OnceValue(func() *regexp.Regexp {
	const id = `([A-Za-z]{1,12}[-_]?\d+(?:[.-]\d+)*)`
	return regexp.MustCompile("^(?:" + strings.Join([]string{
		`(?:\*\*|__)\[?` + id + `[\]:.]*(?:\*\*|__)`,
		"`" + id + "`",
		`[\[(]` + id + `[\])]`,
		`(?:\*\*|__)?` + id + `(?::|\s+[-–—])\s`,
		`([A-Z]{1,12}-?\d{3,})\s`,
	}, "|") + ")")
})

func leadingID(title string) string {
	if !strings.ContainsAny(title[:min(len(title), 32)], "0123456789") {
		return "" // most titles have none, and a pattern takes longer to see it
	}
	for i, group := range idPattern().FindStringSubmatch(title) {
		if i > 0 && group != "" {
			return group
		}
	}
	return ""
}

// nameTasks sets the ID of every task. It does not use a leading number that several
// tasks share. It returns the numbers.
func nameTasks(tasks []task.Task, own func(title string) string) (numbers []string) {
	uses := map[string]int{}
	for i := range tasks {
		tasks[i].ID = own(tasks[i].Title)
		numbers = append(numbers, tasks[i].ID)
		uses[tasks[i].ID]++
	}
	seen := map[string]int{}
	for i := range tasks {
		id := tasks[i].ID
		if id == "" || uses[id] > 1 {
			id = task.Hash(tasks[i].Title)
		}
		seen[id]++
		if seen[id] > 1 {
			id = fmt.Sprintf("%s-%d", id, seen[id])
		}
		tasks[i].ID = id
	}
	return numbers
}
