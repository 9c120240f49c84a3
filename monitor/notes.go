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
type noteSign struct{ questions, notes waiting }

// waiting is how many of a folder's files wait.
type waiting struct {
	n       int
	changed time.Time // the folder, when it was read
}

// read counts again if the folders have changed.
func (n noteSign) read(r *state.Reader) noteSign {
	return noteSign{
		n.questions.read(r.QuestionsDir(), func() int { return count(asked.In(r).List, asked.Question.Open) }),
		n.notes.read(r.NotesDir(), func() int { return count(state.Notes(r).List, state.Note.Waits) }),
	}
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

func (w waiting) read(dir string, count func() int) waiting {
	info, err := os.Stat(dir)
	switch {
	case err != nil:
		return waiting{}
	case info.ModTime().Equal(w.changed):
		return w
	}
	return waiting{count(), info.ModTime()}
}

// text is what the first row shows; empty: nothing waits.
func (n noteSign) text() string {
	questions, notes := "", ""
	if n.questions.n > 0 {
		questions = "u: " + termtext.Count(n.questions.n, "question")
	}
	switch n.notes.n {
	case 0:
	case 1:
		notes = "a note waits"
	default:
		notes = termtext.Count(n.notes.n, "note") + " wait"
	}
	return view.Join(" · ", questions, notes)
}
