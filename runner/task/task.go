// Package task reads the plan and changes the state of single tasks in it. Plans are
// Markdown checkbox lists or prd.json files; formats.go has a row for each.
package task

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
)

// NoPriority is the Priority of a story without one: it comes last.
const NoPriority = math.MaxInt32

// Task is a box of a checkbox plan or a story of a prd.json. It survives JSON.
type Task struct {
	// ID is unique in its List: the story's id, the leading token of a box ("T3",
	// "US-001") or else a short hash of its text, so that it does not depend on the order.
	ID string `json:"id"`
	// Title is the whole text after the box, or the story's title.
	Title       string `json:"title"`
	Description string `json:"description,omitempty"`
	// Criteria are the story's acceptanceCriteria, or the plain list items below a box.
	// Other lines there are the Description.
	Criteria []string `json:"criteria,omitempty"`
	Notes    string   `json:"notes,omitempty"`
	Done     bool     `json:"done,omitempty"`
	// Priority is that of the story, 1 first, or NoPriority. It is 0 for a box.
	Priority  int      `json:"priority,omitempty"`
	DependsOn []string `json:"depends_on,omitempty"`
	Section   string   `json:"section,omitempty"`  // heading above the box; empty: none
	Optional  bool     `json:"optional,omitempty"` // in an optional section
	Line      int      `json:"line,omitempty"`     // 1-based line of the box; 0 in a prd.json
	Depth     int      `json:"depth,omitempty"`    // number of boxes around it; 0: top level
	Choice    Choice   `json:"choice,omitzero"`
}

// List is a parsed plan. The zero value has no tasks. It survives JSON.
type List struct {
	Path   string `json:"path,omitempty"`   // as given to Load
	Format string `json:"format,omitempty"` // "checkbox" or "prd.json"
	// Project and Description are those of a prd.json.
	Project     string `json:"project,omitempty"`
	Description string `json:"description,omitempty"`
	Choice      Choice `json:"choice,omitzero"` // for tasks without their own
	Tasks       []Task `json:"tasks,omitempty"` // in file order
	// Odd are the 1-based lines of a checkbox plan that look almost like a box.
	Odd []int `json:"odd,omitempty"`
}

// Next returns the task to work on. In a checkbox plan it is the first open box without an
// open box nested below it. In a prd.json it is the open story with the lowest priority
// number, then the first, among those whose dependencies are done. It returns false if
// no task is open or all open ones are blocked.
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

// openBelow reports whether an open required box is nested below box i.
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

// Blocked returns the open required tasks that can never start, because they depend,
// directly or not, on a missing task or on themselves.
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
	return len(indices(l.Tasks, func(t Task) bool { return t.Done && !t.Optional }))
}

// Total counts the required tasks.
func (l List) Total() int { return len(indices(l.Tasks, func(t Task) bool { return !t.Optional })) }

// Wording is a digest of the tasks without their state: it stays the same when
// boxes are ticked.
func (l List) Wording() string {
	texts := make([]string, len(l.Tasks))
	for i, t := range l.Tasks {
		texts[i] = t.Wording()
	}
	return hashID(strings.Join(texts, " "))
}

// Wording is a digest of everything that the task says, without its state.
func (t Task) Wording() string {
	t.Done, t.Line = false, 0
	data, _ := json.Marshal(t) // it has nothing that JSON cannot hold
	return hashID(string(data))
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
	return !slices.ContainsFunc(ids, func(id string) bool { return !set[id] })
}
