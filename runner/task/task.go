// Package task reads the plan that says what is left to do, and ticks single
// tasks in it. Plans are Markdown checkbox lists or prd.json files; formats.go
// has one row for each.
package task

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"math"
	"slices"
)

// NoPriority is the Priority of a story that names none: it comes last.
const NoPriority = math.MaxInt32

// Task is one box of a checkbox plan, or one story of a prd.json.
type Task struct {
	// ID is the story's id. In a checkbox plan it is the leading token of the
	// text ("T3", "US-001") where there is one, else a short hash of the text:
	// it stays when tasks are reordered. Unique in its List.
	ID string
	// Title is the whole text after the box, or the story's title.
	Title       string
	Description string
	// Criteria are the story's acceptanceCriteria, or the plain list items
	// indented below a box; the other lines there are the Description.
	Criteria []string
	Notes    string
	Done     bool
	// Priority is the story's, 1 first, NoPriority when it has none. Boxes: 0.
	Priority  int
	DependsOn []string
	// Section is the text of the heading above the box; empty without one.
	Section string
	// Optional is true for boxes under one of the optional sections.
	Optional bool
	// Line is the 1-based line of the box; 0 in a prd.json.
	Line int
	// Depth counts the boxes that this one is indented below; 0: top level.
	Depth  int
	Choice Choice
}

// List is a parsed plan. The zero value is a plan without tasks.
type List struct {
	Path   string // as given to Load
	Format string // name of the row in formats.go: "checkbox" or "prd.json"
	// Project and Description are those of a prd.json.
	Project, Description string
	Choice               Choice // for tasks that have none of their own
	Tasks                []Task // in file order
	// Odd are the lines of a checkbox plan that look like a box and are none.
	Odd []int
}

// Next returns the task to work on: in a checkbox plan the first open box that
// has no open box below it, in a prd.json the open story with the lowest
// priority, then the first in the file, of those whose dependencies are all
// done. False when nothing is open, or all that is open is blocked.
func (l List) Next() (Task, bool) {
	done := l.doneIDs()
	best := -1
	for i, t := range l.Tasks {
		if t.Done || t.Optional || l.openBelow(i) || !allIn(t.DependsOn, done) {
			continue
		}
		if best < 0 || t.Priority < l.Tasks[best].Priority {
			best = i
		}
	}
	if best < 0 {
		return Task{}, false
	}
	return l.Tasks[best], true
}

// openBelow says whether an open required box is nested below box i. Only the
// next box matters when it is open; a done one may still have open boxes.
func (l List) openBelow(i int) bool {
	for _, t := range l.Tasks[i+1:] {
		if t.Depth <= l.Tasks[i].Depth {
			return false
		}
		if !t.Done && !t.Optional {
			return true
		}
	}
	return false
}

// Blocked returns the open required tasks that can never start, because they
// depend, directly or not, on a task that does not exist or on themselves.
func (l List) Blocked() []Task {
	can := l.doneIDs()
	for grew := true; grew; {
		grew = false
		for _, t := range l.Tasks {
			if !can[t.ID] && allIn(t.DependsOn, can) {
				can[t.ID], grew = true, true
			}
		}
	}
	var blocked []Task
	for _, t := range l.Tasks {
		if !can[t.ID] && !t.Optional {
			blocked = append(blocked, t)
		}
	}
	return blocked
}

// Remaining counts the open required tasks.
func (l List) Remaining() int { return l.Total() - l.Done() }

// Done counts the required tasks that are done.
func (l List) Done() int {
	n := 0
	for _, t := range l.Tasks {
		if t.Done && !t.Optional {
			n++
		}
	}
	return n
}

// Total counts the required tasks.
func (l List) Total() int {
	n := 0
	for _, t := range l.Tasks {
		if !t.Optional {
			n++
		}
	}
	return n
}

// Fingerprint is a hex digest of the texts, states and order of all tasks. It
// does not change when the tasks only move to other lines of the file.
func (l List) Fingerprint() string {
	tasks := slices.Clone(l.Tasks)
	for i := range tasks {
		tasks[i].Line = 0
	}
	data, err := json.Marshal(tasks)
	if err != nil {
		panic(err) // strings, numbers and booleans always marshal
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func (l List) doneIDs() map[string]bool {
	ids := map[string]bool{}
	for _, t := range l.Tasks {
		if t.Done {
			ids[t.ID] = true
		}
	}
	return ids
}

func allIn(ids []string, set map[string]bool) bool {
	for _, id := range ids {
		if !set[id] {
			return false
		}
	}
	return true
}
