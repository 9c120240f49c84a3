package records

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"ralph/logs/termtext"
	"ralph/runner/task"
)

// The members of a new record. %ID, %TITLE and %ORDER stand for those of the new task, %NOW for the time.
const (
	NewStory = `"id": %ID, "title": %TITLE, "description": "", "acceptanceCriteria": [], "priority": %ORDER, "passes": false`
	NewItem  = `"id": %ID, "name": %TITLE, "description": "", "priority": "medium", "status": "pending"`
	NewTask  = `"id": %ID, "name": %TITLE, "description": "", "status": "pending", "order": %ORDER, ` +
		`"created_at": %NOW, "updated_at": %NOW`
	// NewNumbered is a task of Taskmaster.
	NewNumbered = `"id": %ID, "title": %TITLE, "description": "", "status": "pending", "dependencies": [], ` +
		`"priority": "medium", "subtasks": []`
)

// New returns a function that makes a new record, and says where it goes: after the last one, formatted like it. The
// title must be the result of Title.
func New(members string) func(f task.File, p task.Parsed, title string) (task.Range, string) {
	return func(f task.File, p task.Parsed, title string) (task.Range, string) {
		text := string(f.Data)
		var own []int // the tasks that are records of the array
		for i, t := range p.Tasks {
			if t.Depth == 0 && p.Spots[i].Item.File == p.First.File {
				own = append(own, i)
			}
		}
		id, order := nextID(p), 1
		for _, t := range p.Tasks {
			if t.Priority < task.NoPriority {
				order = max(order, t.Priority+1)
			}
		}
		fill := strings.NewReplacer("%ID", id, "%TITLE", title, "%ORDER", strconv.Itoa(order),
			"%NOW", quoted(time.Now().UTC().Format(time.RFC3339)))
		record := "{" + fill.Replace(members) + "}"
		if len(own) == 0 {
			return p.First, record
		}
		last := p.Spots[own[len(own)-1]].Item
		gap := text[p.First.Start:p.Spots[own[0]].Item.Start] // before the first one
		if inner := firstGap(text[last.Start:last.End]); strings.Contains(inner, "\n") {
			outer := text[strings.LastIndexByte(text[:last.End-1], '\n')+1 : last.End-1]
			end := "\n"
			if strings.Contains(inner, "\r\n") {
				end = "\r\n"
			}
			record = "{" + inner + fill.Replace(strings.ReplaceAll(members, ", ", ","+inner)) + end + outer + "}"
		}
		at := task.Range{File: last.File, Start: last.End, End: last.End}
		return at, "," + gap + record
	}
}

// firstGap returns the white space after the opening brace of an object.
func firstGap(object string) string {
	rest := strings.TrimLeft(object[1:], " \t\r\n")
	return object[1 : len(object)-len(rest)]
}

// nextID returns the id after the highest one, with the same prefix and number of digits.
func nextID(p task.Parsed) string {
	number := regexp.MustCompile(`^(.*?)(\d+)$`)
	prefix, width, most := "task-", 1, 0
	for i, t := range p.Tasks {
		if m := number.FindStringSubmatch(t.ID); m != nil && t.Depth == 0 && p.Spots[i].Item.File == p.First.File {
			if n, err := strconv.Atoi(m[2]); err == nil && n >= most {
				prefix, width, most = m[1], len(m[2]), n
			}
		}
	}
	id := ""
	for known := true; known; most++ {
		id = fmt.Sprintf("%s%0*d", prefix, width, most+1)
		_, known = p.Find(id)
	}
	if prefix == "" {
		return strings.TrimLeft(id, "0") // a number, as in the other records
	}
	return quoted(id)
}

// Title returns a title as JSON.
func Title(title string) string { return quoted(termtext.Unwrap(title)) }
