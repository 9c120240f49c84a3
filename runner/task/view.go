package task

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// View selects the tasks of a plan that a run is about: those that match one value of each
// list that is not empty, and what is nested below them. The zero value: all.
type View struct {
	Categories []string `json:"categories,omitempty"` // or headings
	Priorities []string `json:"priorities,omitempty"` // numbers, or words such as high
	Tags       []string `json:"tags,omitempty"`
	Tasks      []string `json:"tasks,omitempty"` // ids
}

// IsZero reports whether the view has all tasks.
func (v View) IsZero() bool { return len(v.Categories)+len(v.Priorities)+len(v.Tags)+len(v.Tasks) == 0 }

// parts returns the lists of the view, and the values that a task has for each.
func (v View) parts() []viewPart {
	return []viewPart{
		{"category", v.Categories, func(t Task) []string { return []string{t.Category, t.Section} }},
		{"priority", v.Priorities, func(t Task) []string { return []string{priority(strconv.Itoa(t.Priority))} }},
		{"tag", v.Tags, func(t Task) []string { return t.Tags }},
		{"task", v.Tasks, func(t Task) []string { return []string{t.ID} }},
	}
}

type viewPart struct {
	what   string
	wanted []string
	of     func(Task) []string
}

// matches reports whether a task has one of some values.
func (p viewPart) matches(t Task, wanted ...string) bool {
	return slices.ContainsFunc(wanted, func(want string) bool {
		if want = strings.TrimSpace(want); p.what == "priority" {
			want = priority(want)
		}
		return want != "" && slices.ContainsFunc(p.of(t), func(value string) bool { return strings.EqualFold(want, value) })
	})
}

// priority returns the number of a priority, as text; empty: it is none.
func priority(word string) string {
	n, err := strconv.Atoi(word)
	if err != nil {
		n = PriorityOf(word)
	}
	if n == NoPriority {
		return ""
	}
	return strconv.Itoa(n)
}

// has reports whether the view names a task.
func (v View) has(t Task) bool {
	return !slices.ContainsFunc(v.parts(), func(p viewPart) bool {
		return len(p.wanted) > 0 && !p.matches(t, p.wanted...)
	})
}

// ApplyView returns the list with the tasks marked that its View does not have. Optional tasks that the
// view names, or that are all it has, are required. ApplyView does not change a list twice.
func (l List) ApplyView() List {
	if l.View.IsZero() {
		return l
	}
	l.Tasks = slices.Clone(l.Tasks)
	around := -1 // depth of the task named by the view whose subtasks follow; -1: none
	for i := range l.Tasks {
		t := &l.Tasks[i]
		if t.Depth <= around {
			around = -1
		}
		if around < 0 && l.View.has(*t) {
			around = t.Depth
		}
		t.Outside = around < 0
		if !t.Outside && len(l.View.Tasks) > 0 {
			t.Optional = false
		}
	}
	if !slices.ContainsFunc(l.Tasks, Task.Required) {
		for i := range l.Tasks {
			l.Tasks[i].Optional = l.Tasks[i].Optional && l.Tasks[i].Outside
		}
	}
	return l
}

// Others counts the open tasks that are not in the View.
func (l List) Others() (n int) {
	if l.View.IsZero() {
		return 0
	}
	for _, t := range l.Tasks {
		if t.Outside && t.Pending() && !t.Optional {
			n++
		}
	}
	return n
}

// OthersOpen says how many tasks outside of the View are open, as the end of a sentence; empty: none.
func (l List) OthersOpen() string {
	switch n := l.Others(); n {
	case 0:
		return ""
	case 1:
		return "; 1 other task is open"
	default:
		return fmt.Sprintf("; %d other tasks are open", n)
	}
}

// In returns the view with the ids of the tasks that it names. The error says what the list does
// not have.
func (v View) In(l List) (View, error) {
	for _, p := range v.parts()[:3] {
		for _, value := range p.wanted {
			// All tasks of a list of boxes have the priority 0.
			ranked := p.what != "priority" || slices.ContainsFunc(l.Tasks, func(t Task) bool { return t.Priority != 0 })
			if !ranked || !slices.ContainsFunc(l.Tasks, func(t Task) bool { return p.matches(t, value) }) {
				return v, fmt.Errorf("no task of the plan has the %s %q", p.what, value)
			}
		}
	}
	ids := make([]string, 0, len(v.Tasks))
	for _, name := range v.Tasks {
		t, err := l.Resolve(name)
		if err != nil {
			return v, err
		}
		ids = append(ids, t.ID)
	}
	v.Tasks = ids
	l.View = v
	if l = l.ApplyView(); !v.IsZero() && l.Total() == 0 {
		return v, fmt.Errorf("no task of the plan matches all of: %s", v)
	}
	return v, nil
}

// String describes the view for people.
func (v View) String() string {
	var parts []string
	for _, p := range v.parts() {
		if len(p.wanted) > 0 {
			parts = append(parts, p.what+" "+strings.Join(p.wanted, " or "))
		}
	}
	return strings.Join(parts, ", ")
}
