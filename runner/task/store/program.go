package store

import (
	"fmt"
	"path/filepath"
	"strings"

	"ralph/runner/task"
	"ralph/state/projectfs"
)

// program lists and changes the tasks of a format that ralph cannot read from files.
type program struct {
	Name string // of the executable
	// Steers are files and folders in a folder of the project that make it start others; folders end with a slash.
	Steers []string
	List   func(folder string) ([]byte, error)
	Set    func(folder string, t task.Task, s task.State) error
	Add    func(folder, title string) (id string, err error)
}

// Steering has the Steers of all programs, or of those that keep a plan in dir, and how tasks speak of them.
func Steering(dir string) (files, topics []string) {
	for _, f := range formats() {
		if f.Program != nil && (dir == "" || f.isAt(projectfs.In(dir), filepath.Join(dir, f.Where[0]))) {
			files, topics = append(files, f.Program.Steers...), append(topics, strings.ToLower(f.Name))
		}
	}
	return files, topics
}

// program returns the row of a folder whose tasks are kept by a program.
func (f File) program() (format, bool) {
	for _, row := range formats() {
		if row.Program != nil && filepath.Base(f.Path) == filepath.Base(row.Where[0]) && row.isAt(f.Project(), f.Path) {
			return row, true
		}
	}
	return format{}, false
}

// ProgramOf returns the name of the program that keeps the tasks of the plan that Locate would load, and the
// path of the plan; empty: no program does. It runs nothing.
func ProgramOf(dir, given string) (name, path string) {
	path = given
	switch {
	case given == "":
		path, _ = Find(dir, nil)
	case !filepath.IsAbs(path):
		path = filepath.Join(dir, path)
	}
	f, ok := At(dir, path, nil).program()
	if !ok {
		return "", ""
	}
	return f.Program.Name, path
}

func openProgram(folder string, f format, optionalSections []string) (plan, error) {
	p := plan{format: f}
	data, err := f.Program.List(folder)
	if err != nil {
		return p, fmt.Errorf("%w: %w", ErrUnusable, err)
	}
	p.files = []planFile{{path: folder, data: data}}
	err = p.finish(folder, task.Input{OptionalSections: optionalSections, Folder: folder})
	return p, err
}

// setState lets the program give a task another state.
func (f format) setState(folder string, t task.Task, s task.State) error {
	p, err := openProgram(folder, f, nil)
	if err != nil {
		return err
	}
	i, err := task.Locate(p.Tasks, t)
	if err != nil || p.Tasks[i].State == s {
		return err
	}
	return f.Program.Set(folder, p.Tasks[i], s)
}

// keptByProgram returns an error if a program keeps the tasks, for changes that only it can make.
func (f format) keptByProgram() error {
	if f.Program == nil {
		return nil
	}
	return unsupported("in %s, only the program %s can do this", f.Name, f.Program.Name)
}

// add lets the program add a task.
func (f format) add(folder, title string) (task.Task, error) {
	id, err := f.Program.Add(folder, title)
	if err != nil {
		return task.Task{}, fmt.Errorf("add task: %w", err)
	}
	p, err := openProgram(folder, f, nil)
	t, known := p.List.Find(id)
	if err == nil && !known {
		err = fmt.Errorf("add task: %s does not list %q", f.Program.Name, id)
	}
	return t, err
}
