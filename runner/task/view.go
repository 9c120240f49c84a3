package task

import (
	"fmt"
	"slices"
	"strings"
)

// View selects the tasks of a plan that a run is about, with what is nested below them. The zero value: all.
type View struct {
	Tasks []string `json:"tasks,omitempty"` // ids
}

// IsZero reports whether the view has all tasks.
func (v View) IsZero() bool { return len(v.Tasks) == 0 }

// ApplyView returns the list with the tasks marked that its View does not have. Optional tasks that the view has are
// required. ApplyView does not change a list twice.
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
		if around < 0 && slices.Contains(l.View.Tasks, t.ID) {
			around = t.Depth
		}
		t.Outside = around < 0
		t.Optional = t.Optional && t.Outside
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
	ids := make([]string, len(v.Tasks))
	for i, name := range v.Tasks {
		t, err := l.Resolve(name)
		if err != nil {
			return v, err
		}
		ids[i] = t.ID
	}
	l.View = View{ids}
	if l = l.ApplyView(); len(ids) > 0 && l.Total() == 0 {
		return v, fmt.Errorf("nothing is left to do in the tasks %s", strings.Join(v.Tasks, ", "))
	}
	return View{ids}, nil
}
