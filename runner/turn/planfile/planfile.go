// Package planfile reads the plan as it is at one moment.
package planfile

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"ralph/runner/task"
)

// File says where the plan is. The zero value: there is no plan.
type File struct {
	Path             string   `json:"path"` // absolute
	Name             string   `json:"name"` // relative to the project, with slashes; for people
	OptionalSections []string `json:"optional_sections,omitempty"`
}

// Plan is what the plan file said at one moment. The zero value: there is no plan.
type Plan struct {
	Known     bool      `json:"known,omitempty"` // a plan file is in use
	Error     string    `json:"error,omitempty"` // why it cannot be used; empty: it can
	Done      int       `json:"done"`            // required tasks
	Total     int       `json:"total"`
	Remaining int       `json:"remaining"`
	List      task.List `json:"list,omitzero"`
}

// Read reads the plan as it is now. Without a plan file it returns the zero Plan.
func Read(f File) Plan {
	if f.Path == "" {
		return Plan{}
	}
	list, err := task.Load(f.Path, f.OptionalSections)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("the plan %q is gone", f.Name)
	}
	if err != nil {
		return Plan{Known: true, Error: err.Error()}
	}
	return Of(list)
}

// Of is the plan with these tasks.
func Of(list task.List) Plan {
	return Plan{Known: true, Done: list.Done(), Total: list.Total(), Remaining: list.Remaining(), List: list}
}

// Usable is true when there is a plan and it can be read.
func (p Plan) Usable() bool { return p.Known && p.Error == "" }

// IsDone is true when the task is in the plan and marked done.
func (p Plan) IsDone(id string) bool {
	return slices.ContainsFunc(p.List.Tasks, func(t task.Task) bool { return t.ID == id && t.Done })
}

// Without is the plan with these tasks open.
func (p Plan) Without(ticks []string) Plan {
	if len(ticks) == 0 || !p.Usable() {
		return p
	}
	list := p.List
	list.Tasks = slices.Clone(list.Tasks)
	for i, t := range list.Tasks {
		if slices.Contains(ticks, t.ID) {
			list.Tasks[i].Done = false
		}
	}
	return Of(list)
}

// Others reports whether there is another file among them than the plan.
func (f File) Others(files []string) bool {
	return slices.ContainsFunc(files, func(file string) bool { return file != f.Name })
}
