// Package task is the model of a plan: tasks, their states, and which one comes next. The
// packages below it read and write the formats; store has a row for each.
package task

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
)

// NoPriority is the Priority of a story without one: it comes last.
const NoPriority = math.MaxInt32

// Task is one piece of work of a plan. It survives JSON.
type Task struct {
	// ID is unique in its List: the story's id, the leading token of a box ("T3",
	// "US-001") or else a short hash of its text, so that it does not depend on the order.
	ID string `json:"id"`
	// Title is the whole text after the box, or the story's title.
	Title       string `json:"title"`
	Description string `json:"description,omitempty"`
	// Criteria are the story's acceptance criteria, or the plain list items below a box.
	// Other lines there are the Description.
	Criteria []string `json:"criteria,omitempty"`
	Notes    string   `json:"notes,omitempty"`
	State    State    `json:"state,omitzero"`
	// Word is the file's own word for the state if it is not the one that ralph writes.
	// An unknown word makes the task Blocked.
	Word string `json:"word,omitempty"`
	// Priority is that of the story, 1 first, or NoPriority. It is 0 for a box.
	Priority  int      `json:"priority,omitempty"`
	DependsOn []string `json:"depends_on,omitempty"`
	Section   string   `json:"section,omitempty"`  // heading above the box; empty: none
	Phase     int      `json:"phase,omitempty"`    // all tasks of a phase come before the next phase; 0: none
	Optional  bool     `json:"optional,omitempty"` // a run need not finish it
	Outside   bool     `json:"outside,omitempty"`  // it is not in the List's View
	Parallel  bool     `json:"parallel,omitempty"` // may be worked on at the same time as others
	Category  string   `json:"category,omitempty"`
	Tags      []string `json:"tags,omitempty"`
	Judges    []string `json:"judges,omitempty"`   // who should judge it
	Evidence  string   `json:"evidence,omitempty"` // path of files that show that it is done, relative to the project
	// File is the task's own file, relative to the plan's folder; empty: the plan is one file.
	File   string `json:"file,omitempty"`
	Line   int    `json:"line,omitempty"`  // 1-based line of the box or state; 0: not known
	Depth  int    `json:"depth,omitempty"` // number of tasks around it; 0: top level
	Choice Choice `json:"choice,omitzero"`
	// Created and Updated are dates as the file has them; empty: it has none.
	Created string `json:"created,omitempty"`
	Updated string `json:"updated,omitempty"`
}

// Done reports whether the task is marked as done.
func (t Task) Done() bool { return t.State == Done }

// Pending reports whether work on the task is left: it is neither done nor dropped.
func (t Task) Pending() bool { return t.State != Done && t.State != Dropped }

// Required reports whether a run has to finish the task.
func (t Task) Required() bool { return !t.Optional && !t.Outside }

// Priority levels of formats that use words.
const (
	High   = 1
	Medium = 2
	Low    = 3
)

// PriorityOf reads a word for a priority; NoPriority for none or an unknown one.
func PriorityOf(word string) int {
	switch strings.ToLower(strings.TrimSpace(word)) {
	case "critical", "urgent", "highest":
		return 0
	case "high":
		return High
	case "medium", "normal":
		return Medium
	case "low", "lowest":
		return Low
	}
	return NoPriority
}

// List is a parsed plan. The zero value has no tasks. It survives JSON.
type List struct {
	Path   string `json:"path,omitempty"`   // as given to Load
	Format string `json:"format,omitempty"` // name of the format's row
	// Files are the files of a plan that has several, relative to its folder.
	Files []string `json:"files,omitempty"`
	// Project and Description are those of a prd.json.
	Project     string `json:"project,omitempty"`
	Description string `json:"description,omitempty"`
	Branch      string `json:"branch,omitempty"` // of git, as its branchName says
	Choice      Choice `json:"choice,omitzero"`  // for tasks without their own
	View        View   `json:"view,omitzero"`    // which of the tasks a run is about; see Seen
	Tasks       []Task `json:"tasks,omitempty"`  // in file order
	// Odd are the 1-based lines of a checkbox plan that look almost like a box.
	Odd []int `json:"odd,omitempty"`
	// Faults are reasons, a sentence each, for which no run should start, such as a plan that nobody has approved. See also
	// Problems.
	Faults []string `json:"faults,omitempty"`
	// Warnings are what a person should know, a sentence each.
	Warnings []string `json:"warnings,omitempty"`
	// Marking tells an agent how to mark a task as done in this format, with
	// %s for the file; empty: the usual box or story.
	Marking string `json:"marking,omitempty"`
	// Words are the format's own words for the states; nil: it has none.
	Words map[State]string `json:"words,omitempty"`
}

// Next returns the task to work on: of those that can start, one that is already started, else
// the one with the lowest priority number, else the first. A task can start when its
// dependencies are done, no earlier phase is open, nothing open is nested below it and
// nobody has blocked it. It returns false if there is none.
func (l List) Next() (Task, bool) {
	done, below, phase := l.doneIDs(), l.openBelow(), l.phase()
	best := -1
	for i, t := range l.Tasks {
		if !t.Pending() || t.State == Blocked || !t.Required() || below[i] || t.Phase > phase ||
			slices.ContainsFunc(t.DependsOn, func(id string) bool { return !done[id] }) {
			continue
		}
		if best < 0 || t.before(l.Tasks[best]) {
			best = i
		}
	}
	if best < 0 {
		return Task{}, false
	}
	return l.Tasks[best], true
}

// before reports whether t comes before a task that stands above it.
func (t Task) before(o Task) bool {
	if a, b := t.State.rank(), o.State.rank(); a != b {
		return a < b
	}
	return t.Priority < o.Priority
}

// openBelow reports of each task whether open required ones are nested below it.
func (l List) openBelow() []bool {
	below := make([]bool, len(l.Tasks))
	var around []int // the tasks around the current one, the outermost first
	for i, t := range l.Tasks {
		for len(around) > 0 && l.Tasks[around[len(around)-1]].Depth >= t.Depth {
			around = around[:len(around)-1]
		}
		if t.Pending() && t.Required() {
			for _, p := range slices.Backward(around) {
				if below[p] {
					break // and so have those around it
				}
				below[p] = true
			}
		}
		around = append(around, i)
	}
	return below
}

// phase returns the first phase with an open required task.
func (l List) phase() int {
	first := math.MaxInt
	for _, t := range l.Tasks {
		if t.Pending() && t.Required() && t.Phase > 0 {
			first = min(first, t.Phase)
		}
	}
	return first
}

// Blocked returns the open required tasks that can never start: somebody has blocked them,
// or they depend, directly or not, on such a task, on a missing one or on themselves.
func (l List) Blocked() []Task {
	can := l.reachable(math.MaxInt)
	stuck := math.MaxInt
	for _, t := range l.Tasks {
		if t.Phase > 0 && t.Pending() && t.Required() && !can[t.ID] {
			stuck = min(stuck, t.Phase)
		}
	}
	if stuck < math.MaxInt {
		can = l.reachable(stuck)
	}
	var blocked []Task
	for _, t := range l.Tasks {
		if !can[t.ID] && t.Pending() && t.Required() {
			blocked = append(blocked, t)
		}
	}
	return blocked
}

// reachable returns the ids of the tasks that are done or can be one day, if no phase after
// last ever begins.
func (l List) reachable(last int) map[string]bool {
	can, waits, waiting := l.doneIDs(), map[string][]int{}, make([]int, len(l.Tasks))
	var ready []int
	for i, t := range l.Tasks {
		if !t.Pending() || t.State == Blocked || t.Outside || t.Phase > last {
			continue
		}
		for _, id := range t.DependsOn {
			if !can[id] {
				waits[id] = append(waits[id], i)
				waiting[i]++
			}
		}
		if waiting[i] == 0 {
			ready = append(ready, i)
		}
	}
	for len(ready) > 0 {
		id := l.Tasks[ready[0]].ID
		ready = ready[1:]
		if can[id] {
			continue
		}
		can[id] = true
		for _, i := range waits[id] {
			if waiting[i]--; waiting[i] == 0 {
				ready = append(ready, i)
			}
		}
	}
	return can
}

// Problems returns what a person must correct before a run spends money: the faults of the
// files, dependencies on missing tasks, and circular dependencies.
func (l List) Problems() []string {
	problems := slices.Clone(l.Faults)
	at := map[string]int{}
	for i, t := range l.Tasks {
		at[t.ID] = i
	}
	for _, t := range l.Tasks {
		for _, id := range t.DependsOn {
			i, known := at[id]
			if known && l.Tasks[i].Outside && l.Tasks[i].Pending() && t.Pending() && t.Required() {
				problems = append(problems, fmt.Sprintf("%s depends on %q, which is open and was not chosen; "+
					"choose it, too", l.name(t), id))
			}
			if !known && t.Pending() {
				problems = append(problems,
					fmt.Sprintf("%s depends on %q, which the plan does not have", l.name(t), id))
			}
		}
	}
	if circle := l.circle(at); len(circle) > 0 {
		problems = append(problems, fmt.Sprintf("%s depends on itself: %s", l.name(l.Tasks[at[circle[0]]]),
			strings.Join(circle, " -> ")))
	}
	return problems
}

// OddBoxes describes the lines that a person may take for tasks.
func (l List) OddBoxes() (lines []string) {
	for _, n := range l.Odd {
		lines = append(lines, fmt.Sprintf("%s:%d looks like a box but is not one; write: - [ ] what to do", l.Path, n))
	}
	return lines
}

// circle returns open tasks that depend on each other in a circle, or nil if there are none.
func (l List) circle(at map[string]int) []string {
	seen := map[string]bool{} // true: on the path to the current task; false: it leads to no circle
	var path []string
	var walk func(id string) []string
	walk = func(id string) []string {
		i, known := at[id]
		onPath, left := seen[id]
		switch {
		case onPath:
			return append(path[slices.Index(path, id):], id)
		case left || !known || !l.Tasks[i].Pending():
			return nil
		}
		seen[id], path = true, append(path, id)
		for _, next := range l.Tasks[i].DependsOn {
			if found := walk(next); found != nil {
				return found
			}
		}
		seen[id], path = false, path[:len(path)-1]
		return nil
	}
	for _, t := range l.Tasks {
		if found := walk(t.ID); found != nil {
			return found
		}
	}
	return nil
}

// name returns a task with its place, for people.
func (l List) name(t Task) string {
	if t.Line == 0 && t.File == "" {
		return fmt.Sprintf("task %q", t.ID)
	}
	place := t.File
	if t.Line > 0 {
		place = strings.TrimPrefix(fmt.Sprintf("%s line %d", place, t.Line), " ")
	}
	return fmt.Sprintf("task %q (%s)", t.ID, place)
}

// Remaining counts the open required tasks.
func (l List) Remaining() int { return l.Total() - l.Done() }

// Done counts the required tasks that are done.
func (l List) Done() int {
	return l.count(func(s State) bool { return s == Done })
}

// Total counts the required tasks; dropped ones do not count.
func (l List) Total() int {
	return l.count(func(s State) bool { return s != Dropped })
}

func (l List) count(what func(State) bool) (n int) {
	for i := range l.Tasks {
		if t := &l.Tasks[i]; t.Required() && what(t.State) {
			n++
		}
	}
	return n
}

// Find returns the task with an id.
func (l List) Find(id string) (Task, bool) {
	for i := range l.Tasks {
		if l.Tasks[i].ID == id {
			return l.Tasks[i], true
		}
	}
	return Task{}, false
}

// Wording returns a digest of the tasks without their state: ticking boxes does not change it.
func (l List) Wording() string {
	texts := make([]string, len(l.Tasks))
	for i, t := range l.Tasks {
		texts[i] = t.Wording()
	}
	return Hash(strings.Join(texts, " "))
}

// Wording returns a digest of the whole task except its state.
func (t Task) Wording() string {
	data, _ := json.Marshal(t.asked()) // plain values: it cannot fail
	return Hash(string(data))
}

// asked returns what the task asks for, without what became of it.
func (t Task) asked() Task {
	t.State, t.Word, t.Line, t.Outside, t.Updated = Open, "", 0, false, ""
	return t
}

// AsksSame reports whether two tasks have the same Wording.
func (t Task) AsksSame(other Task) bool {
	return reflect.DeepEqual(t.asked(), other.asked()) || t.Wording() == other.Wording()
}

// Hash returns the id of a task that has none of its own: a short digest of its text.
func Hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:4])
}

// Hashed reports whether an id is such a digest, which people do not know.
func Hashed(id string) bool {
	digest, number, more := strings.Cut(id, "-")
	return len(digest) == 8 && strings.Trim(digest, "0123456789abcdef") == "" &&
		(!more || number != "" && strings.Trim(number, "0123456789") == "")
}

func (l List) doneIDs() map[string]bool {
	ids := map[string]bool{}
	for _, t := range l.Tasks {
		if t.Done() {
			ids[t.ID] = true
		}
	}
	return ids
}
