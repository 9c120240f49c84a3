// Package planbook is a run's view of its plan: it reads the plan, and marks in the format's
// own words what became of a task.
package planbook

import (
	"errors"
	"path/filepath"

	"ralph/runner/task"
	"ralph/runner/task/store"
)

// Book is the plan of one run.
type Book struct {
	Dir    string // the project
	File   store.File
	Counts store.Plan // that the latest turn, or the latest look, left
	Had    bool       // it had tasks earlier in this run

	seen store.Cache
}

// New is the book of the plan at path; empty: there is none.
func New(dir, path string, optionalSections []string) Book {
	b := Book{Dir: dir, File: store.File{Path: path, OptionalSections: optionalSections}}
	if path != "" {
		b.File.Name = b.Rel(path)
	}
	return b
}

// Read is the plan as it is now.
func (b *Book) Read() store.Plan {
	plan := b.seen.Read(b.File)
	b.Had = b.Had || plan.Total > 0
	return plan
}

// Rel is a path as people know it: relative to the project when it is in it.
func (b *Book) Rel(path string) string {
	if r, err := filepath.Rel(b.Dir, path); err == nil && filepath.IsLocal(r) {
		return filepath.ToSlash(r)
	}
	return path
}

// Within lists the files that are in a folder.
func Within(dir string, files ...string) (all []string) {
	for _, path := range files {
		r, err := filepath.Rel(dir, path)
		if path != "" && err == nil && filepath.IsLocal(r) {
			all = append(all, path)
		}
	}
	return all
}

// Mark gives a task of the plan another state, as store.Mark does.
func (b *Book) Mark(id string, s task.State) (changed bool, err error) {
	return store.Mark(b.File, id, s)
}

// Reopen takes back the mark of a task that is done, to what it said in an earlier plan, or
// gives it to review where the format has a word for that.
func (b *Book) Reopen(id string, earlier store.Plan, review bool) (t task.Task, changed bool, err error) {
	t, known := store.Read(b.File).List.Find(id)
	if !known || review && t.State == task.Review {
		return t, false, nil
	}
	if review {
		if err := store.Set(b.File.Path, t, task.Review); !errors.Is(err, store.ErrNoWord) {
			return t, err == nil, err
		}
	}
	was, known := earlier.List.Find(id)
	if !known || was.Done() {
		was = task.Task{} // open
	}
	err = store.Restore(b.File.Path, t, was)
	return t, err == nil, err
}
