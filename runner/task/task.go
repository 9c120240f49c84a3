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

// Task is one box of a checkbox plan, or one story of a prd.json. It is plain
// data and survives JSON.
type Task struct {
	// ID is the story's id. In a checkbox plan it is the leading token of the
	// text ("T3", "US-001"), or else a short hash of the text, so that it stays
	// the same when tasks are reordered. Unique in its List.
	ID string `json:"id"`
	// Title is the whole text after the box, or the story's title.
	Title       string `json:"title"`
	Description string `json:"description,omitempty"`
	// Criteria are the story's acceptanceCriteria, or the plain list items
	// indented below a box; the other lines there are the Description.
	Criteria []string `json:"criteria,omitempty"`
	Notes    string   `json:"notes,omitempty"`
	Done     bool     `json:"done,omitempty"`
	// Priority is the story's, 1 first, NoPriority when it has none. Boxes: 0.
	Priority  int      `json:"priority,omitempty"`
	DependsOn []string `json:"depends_on,omitempty"`
	// Section is the text of the heading above the box; empty without one.
	Section string `json:"section,omitempty"`
	// Optional is true for boxes under one of the optional sections.
	Optional bool `json:"optional,omitempty"`
	// Line is the 1-based line of the box; 0 in a prd.json.
	Line int `json:"line,omitempty"`
	// Depth counts the boxes that this one is indented below; 0: top level.
	Depth  int    `json:"depth,omitempty"`
	Choice Choice `json:"choice,omitzero"`
}

// List is a parsed plan. The zero value is a plan without tasks. It is plain
// data and survives JSON.
type List struct {
	Path   string `json:"path,omitempty"`   // as given to Load
	Format string `json:"format,omitempty"` // name of the row in formats.go: "checkbox" or "prd.json"
	// Project and Description are those of a prd.json.
	Project     string `json:"project,omitempty"`
	Description string `json:"description,omitempty"`
	Choice      Choice `json:"choice,omitzero"` // for tasks that have none of their own
	Tasks       []Task `json:"tasks,omitempty"` // in file order
	// Odd are the 1-based lines of a checkbox plan that look like a box but do
	// not parse as one.
	Odd []int `json:"odd,omitempty"`
}

// Next returns the task to work on. In a checkbox plan that is the first open
// box without an open box below it; in a prd.json, of the open stories whose
// dependencies are all done, the one with the lowest priority number, then the
// first in the file. It returns false when no task is open or every open one is
// blocked.
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

// openBelow reports whether an open required box is nested below box i, at any
// depth.
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

// Fingerprint returns a hex digest of the texts, states and order of all tasks.
// It stays the same when tasks only move to other lines of the file.
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
