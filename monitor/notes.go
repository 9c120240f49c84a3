package monitor

import (
	"os"
	"time"

	"ralph/logs/termtext"
	"ralph/state"
	asked "ralph/state/question"
	"ralph/state/view"
)

// noteSign remembers how many questions wait for a person, and how many notes for a prompt.
type noteSign struct {
	questions, notes               int
	questionsChanged, notesChanged time.Time // their folders, when they were read
}

// read counts again if the folders have changed.
func (n noteSign) read(r *state.Reader) noteSign {
	if at := changed(r.QuestionsDir()); !at.Equal(n.questionsChanged) {
		n.questionsChanged, n.questions = at, count(asked.In(r).List, asked.Question.Open)
	}
	if at := changed(r.NotesDir()); !at.Equal(n.notesChanged) {
		n.notesChanged, n.notes = at, count(state.Notes(r).List, state.Note.Waits)
	}
	return n
}

// changed is when a folder has changed; zero: there is none.
func changed(dir string) (at time.Time) {
	if info, err := os.Stat(dir); err == nil {
		at = info.ModTime()
	}
	return at
}

// count returns how many of a list wait. If it cannot be read, none does.
func count[T any](list func() ([]T, error), waits func(T) bool) (n int) {
	all, _ := list()
	for _, one := range all {
		if waits(one) {
			n++
		}
	}
	return n
}

// text is what the first row shows; empty: nothing waits.
func (n noteSign) text() string {
	questions, notes := "", ""
	if n.questions > 0 {
		questions = termtext.Counted(n.questions, "question waits", "questions wait")
	}
	if n.notes > 0 {
		notes = termtext.Counted(n.notes, "note waits", "notes wait")
	}
	return view.Join(" · ", questions, notes)
}
