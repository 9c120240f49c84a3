package monitor

import (
	"os"
	"slices"
	"time"

	"ralph/logs/termtext"
	"ralph/state"
	asked "ralph/state/question"
	"ralph/state/view"
)

// noteSign remembers how many questions wait for a person, and how many notes for a prompt.
type noteSign struct {
	questions, notes               int
	question                       string    // the first one
	questionsChanged, notesChanged time.Time // their folders, when they were read
}

// read counts again if the folders have changed.
func (n noteSign) read(r *state.Reader) noteSign {
	if at := changed(r.QuestionsDir()); !at.Equal(n.questionsChanged) {
		open := waiting(asked.In(r).List, asked.Question.Open)
		if n.questionsChanged, n.questions, n.question = at, len(open), ""; len(open) > 0 {
			n.question = open[0].Text
		}
	}
	if at := changed(r.NotesDir()); !at.Equal(n.notesChanged) {
		n.notesChanged, n.notes = at, len(waiting(state.Notes(r).List, state.Note.Waits))
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

// waiting are those of a list that wait. If it cannot be read, none does.
func waiting[T any](list func() ([]T, error), waits func(T) bool) []T {
	all, _ := list()
	return slices.DeleteFunc(all, func(one T) bool { return !waits(one) })
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
