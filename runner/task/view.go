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

// has reports whether the view names a task.
func (v View) has(t Task) bool {
	return one(v.Categories, t.Category, t.Section) && one(v.Tags, t.Tags...) && one(v.Tasks, t.ID) &&
		(len(v.Priorities) == 0 || slices.ContainsFunc(v.Priorities,
			func(p string) bool { return numberOf(p) == t.Priority }))
}

// one reports whether one of the values is wanted. An empty list wants all of them.
func one(wanted []string, values ...string) bool {
	return len(wanted) == 0 || slices.ContainsFunc(values, func(value string) bool { return named(wanted, value) })
}

func named(names []string, value string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		return strings.EqualFold(strings.TrimSpace(name), value)
	})
}

func numberOf(priority string) int {
	if n, err := strconv.Atoi(strings.TrimSpace(priority)); err == nil {
		return n
	}
	return PriorityOf(priority)
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
	if err := v.fits(l); err != nil {
		return v, err
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

// fits returns an error if no task has one of the values.
func (v View) fits(l List) error {
	for _, part := range []struct {
		what   string
		wanted []string
		of     func(Task) []string
	}{
		{"category", v.Categories, func(t Task) []string { return []string{t.Category, t.Section} }},
		{"priority", v.Priorities, priorities},
		{"tag", v.Tags, func(t Task) []string { return t.Tags }},
	} {
		for _, value := range part.wanted {
			has := func(t Task) bool { return named(part.of(t), value) }
			if part.what == "priority" {
				has = func(t Task) bool { return t.Priority == numberOf(value) && t.Priority != NoPriority }
			}
			known := some(l.Tasks, part.of)
			switch {
			case known == "" || known == "0" && part.what == "priority":
				return fmt.Errorf("the tasks of the plan have no %s, so none has %q", part.what, value)
			case !slices.ContainsFunc(l.Tasks, has):
				return fmt.Errorf("no task of the plan has the %s %q; known: %s", part.what, value, known)
			}
		}
	}
	return nil
}

func priorities(t Task) []string {
	if t.Priority == NoPriority {
		return nil
	}
	return []string{strconv.Itoa(t.Priority)}
}

// some lists up to ten different values of tasks.
func some(tasks []Task, of func(Task) []string) string {
	const most = 10
	var all []string
	for _, t := range tasks {
		for _, value := range of(t) {
			if value != "" && !slices.Contains(all, value) && len(all) <= most {
				all = append(all, value)
			}
		}
	}
	if len(all) > most {
		all[most] = "..."
	}
	return strings.Join(all, ", ")
}

// String describes the view for people.
func (v View) String() string {
	var parts []string
	for _, part := range []struct {
		what   string
		values []string
	}{{"category", v.Categories}, {"priority", v.Priorities}, {"tag", v.Tags}, {"task", v.Tasks}} {
		if len(part.values) > 0 {
			parts = append(parts, part.what+" "+strings.Join(part.values, " or "))
		}
	}
	return strings.Join(parts, ", ")
}
