package protect

import (
	"slices"
	"time"

	"ralph/runner/git"
	"ralph/runner/git/command"
	"ralph/state"
)

// Written has what people have written with ralph's commands since the first Look. The zero value: nothing.
type Written struct {
	since time.Time
	files map[string]state.Written
}

// Look reads the record of people's writes, which is beside that of plan edits. since counts only in the first call.
func (w *Written) Look(edits string, since time.Time) Written {
	if w.since.IsZero() {
		w.since = since
	}
	w.files = state.PeopleSince(state.PeopleRecordPath(edits), w.since)
	return *w
}

// Steered adds to files the changed ones that control the run and that git does not show, and leaves out what
// people have written.
func Steered(dir string, files []git.ChangedFile, found []git.ChangedFile, by Written) []git.ChangedFile {
	inProject := command.Relative(dir)
	for _, c := range found {
		if !slices.ContainsFunc(files, func(f git.ChangedFile) bool { return inProject(f.Path) == c.Path }) {
			files = append(files, c)
		}
	}
	return slices.DeleteFunc(files, func(f git.ChangedFile) bool {
		w, known := by.files[inProject(f.Path)]
		return known && f.After == string(w.Data)
	})
}
