package store

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"ralph/runner/task"
	"ralph/state/projectfs"
)

// File says where the plan is. It is the zero value if there is no plan.
type File struct {
	Path             string   `json:"path"` // absolute, without links outside of the project
	Name             string   `json:"name"` // relative to the project, with slashes; for people
	OptionalSections []string `json:"optional_sections,omitempty"`
	// View are the tasks that the run is about; zero: all.
	View task.View `json:"view,omitzero"`
	// Popped are the finished tasks that this run has removed from the file. They still count.
	Popped []task.Task `json:"popped,omitempty"`
	// Edits is the file that records the changes by people, see journal.go. No agent may write it.
	Edits string `json:"edits,omitempty"`

	memo *memo // nil: see Remembered
}

// At returns the plan at a path, which is in the project in dir or elsewhere.
func At(dir, path string, optionalSections []string) File {
	f := File{Path: path, Name: path, OptionalSections: optionalSections}
	if rel, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(rel) {
		f.Name = filepath.ToSlash(rel)
	}
	return f
}

// Remembered returns the File for somebody who reads the plan often: as long as the content of its files stays the same, it
// is parsed once.
func (f File) Remembered() File {
	f.memo = &memo{}
	return f
}

// Project is the project that the plan is in. For a plan elsewhere, it is the folder above the plan's own: some formats
// keep a file there.
func (f File) Project() projectfs.Dir {
	root, in := strings.CutSuffix(f.Path, string(filepath.Separator)+filepath.FromSlash(f.Name))
	if !in || f.Name == "" {
		root = filepath.Dir(filepath.Dir(f.Path))
	}
	return projectfs.In(root)
}

// Plan is the content of the plan file at one moment. It is the zero value if there is no plan.
type Plan struct {
	Known     bool      `json:"known,omitempty"` // a plan file is in use
	Error     string    `json:"error,omitempty"` // why it cannot be used; empty: it can
	Done      int       `json:"done"`            // required tasks
	Total     int       `json:"total"`
	Remaining int       `json:"remaining"`
	Others    int       `json:"others,omitempty"` // open tasks outside the list's View
	List      task.List `json:"list,omitzero"`
}

// Read reads the plan as it is now. Without a plan file it returns the zero Plan.
func Read(f File) Plan {
	if f.Path == "" {
		return Plan{}
	}
	p, err := open(f)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("the plan %q is gone", f.Name)
	}
	if err != nil {
		return Plan{Known: true, Error: err.Error()}
	}
	list := p.List
	if list.View = f.View; len(f.Popped) > 0 {
		list.Tasks = slices.Concat(f.Popped, list.Tasks)
	}
	return Of(list)
}

// Of returns the plan with these tasks.
func Of(list task.List) Plan {
	list = list.ApplyView()
	return Plan{Known: true, Done: list.Done(), Total: list.Total(), Remaining: list.Remaining(),
		Others: list.Others(), List: list}
}

// Usable is true if there is a plan that ralph can read.
func (p Plan) Usable() bool { return p.Known && p.Error == "" }

// IsDone is true if the task is in the plan and marked done.
func (p Plan) IsDone(id string) bool {
	return slices.ContainsFunc(p.List.Tasks, func(t task.Task) bool { return t.ID == id && t.Done() })
}

// Claimed returns the plan with a task done of which the agent says so: in its final message, or by
// giving it to review.
func (p Plan) Claimed(before Plan, id string, says bool) Plan {
	i := slices.IndexFunc(p.List.Tasks, func(t task.Task) bool { return t.ID == id })
	was, _ := before.List.Find(id)
	if i < 0 || !p.Usable() || !p.List.Tasks[i].Pending() ||
		!says && (p.List.Tasks[i].State != task.Review || was.State == task.Review) {
		return p
	}
	list := p.List
	list.Tasks = slices.Clone(list.Tasks)
	list.Tasks[i].State, list.Tasks[i].Word = task.Done, ""
	return Of(list)
}

// Without returns the plan with these tasks open.
func (p Plan) Without(ticks []string) Plan {
	if len(ticks) == 0 || !p.Usable() {
		return p
	}
	list := p.List
	list.Tasks = slices.Clone(list.Tasks)
	for i, t := range list.Tasks {
		if slices.Contains(ticks, t.ID) {
			list.Tasks[i].State, list.Tasks[i].Word = task.Open, ""
		}
	}
	return Of(list)
}

// Others reports whether files has one that does not belong to the plan.
func (f File) Others(plan Plan, files []string) bool {
	return slices.ContainsFunc(files, func(file string) bool { return !f.Has(plan, file) })
}

// Of returns the file that a task of the plan stands in, relative to the project.
func (f File) Of(list task.List, t task.Task) string {
	switch {
	case t.File == "":
		return f.Name
	case slices.Contains(list.Files, path.Base(f.Name)): // the plan is one of the files
		return path.Join(path.Dir(f.Name), t.File)
	}
	return path.Join(f.Name, t.File)
}

// Has reports whether a file, relative to the project, belongs to the plan.
func (f File) Has(plan Plan, file string) bool {
	if file == f.Name || f.Path != "" && strings.HasPrefix(file, f.Name+"/") {
		return true
	}
	return slices.ContainsFunc(plan.List.Files, func(own string) bool { return path.Join(path.Dir(f.Name), own) == file })
}

// Change is a task that somebody changed: it is new, its state is another one, or something else is.
type Change struct {
	task.Task
	New, Moved bool
}

// With returns the plan with what changed from one version of it to another.
func (p Plan) With(from, to Plan) (Plan, []Change) {
	if !p.Usable() || !from.Usable() || !to.Usable() {
		return p, nil
	}
	same := func(a, b task.Task) bool { return a.State == b.State && a.Wording() == b.Wording() }
	var changes []Change
	at := task.Index(from.List.Tasks)
	for _, t := range to.List.Tasks {
		i, known := at[t.ID]
		switch {
		case !known:
			changes = append(changes, Change{Task: t, New: true})
		case t.State != from.List.Tasks[i].State:
			changes = append(changes, Change{Task: t, Moved: true})
		case !same(from.List.Tasks[i], t):
			changes = append(changes, Change{Task: t})
		}
	}
	list := p.List
	list.Tasks = task.Merge(list.Tasks, from.List.Tasks, to.List.Tasks, same)
	return Of(list), changes
}
