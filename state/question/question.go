// Package question keeps what agents ask people: one file for each question, so that the
// run, `ralph answer` and ralph-hub can each change theirs.
package question

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"ralph/logs/termtext"
	"ralph/state"
)

const (
	kept = 200 // questions
	// MaxAnswer bounds an answer, in bytes: it becomes a part of a prompt.
	MaxAnswer = 8000
)

// Question is what an agent asked. The zero values of Answer, AnsweredBy and AnsweredAt:
// nobody has answered yet.
type Question struct {
	V          int       `json:"v"`
	ID         string    `json:"id"` // q1, q2, ...
	Run        string    `json:"run"`
	Iteration  int       `json:"iteration"`
	Task       string    `json:"task"`  // id; empty: the run has no plan, and waits as a whole
	Title      string    `json:"title"` // of the task
	Agent      string    `json:"agent,omitempty"`
	AskedAt    time.Time `json:"asked_at"`
	Text       string    `json:"text"`
	Options    []string  `json:"options"`
	Context    string    `json:"context,omitempty"` // what the agent said around it
	Answer     string    `json:"answer"`
	AnsweredBy string    `json:"answered_by,omitempty"` // where it came from: "ralph answer", "dashboard", ...
	AnsweredAt time.Time `json:"answered_at,omitzero"`
	// Told is the iteration whose prompt had the answer; 0: none yet.
	Told int `json:"told,omitempty"`
}

// Open is true while the question waits for a person.
func (q Question) Open() bool { return q.AnsweredAt.IsZero() }

// Store is the folder of the questions of a project.
type Store struct{ state.NumberedFolder[Question] }

// In returns the store of a project's state.
func In(r *state.Reader) Store {
	return Store{state.NumberedFolder[Question]{Dir: r.QuestionsDir(), Letter: "q", Kind: "question", Kept: kept,
		Settled: func(q Question) bool { return !q.Open() },
		Read: func(id string, q *Question) {
			q.ID, q.Title = id, termtext.Line(q.Title)
			q.Text, q.Context, q.Answer = termtext.Clean(q.Text), termtext.Clean(q.Context), termtext.Clean(q.Answer)
			for i := range q.Options {
				q.Options[i] = termtext.Line(q.Options[i])
			}
		}}}
}

// Get returns one question. The error is one line for people.
func (s Store) Get(id string) (Question, error) {
	if s.Number(id) == 0 {
		return Question{}, fmt.Errorf("%q is not an id of a question; see: ralph questions", id)
	}
	q, err := s.NumberedFolder.Get(id)
	if errors.Is(err, fs.ErrNotExist) {
		return Question{}, fmt.Errorf("there is no question %s; see: ralph questions", id)
	}
	return q, err
}

// Add gives a new question the next free id and stores it.
func (s Store) Add(q Question) (Question, error) {
	q.V = 1
	if q.Options == nil {
		q.Options = []string{}
	}
	return s.NumberedFolder.Add(func(id string) Question { q.ID = id; return q })
}

// Save writes a question.
func (s Store) Save(q Question) error {
	if s.Number(q.ID) == 0 {
		return fmt.Errorf("store question: %q is not an id", q.ID)
	}
	return s.Write(q.ID, q)
}

// Change lets f change a question as it is now, and stores it if f returns no error. No other
// Change comes between.
func (s Store) Change(id string, f func(*Question) error) (Question, error) {
	defer s.Lock()()
	q, err := s.Get(id)
	if err == nil {
		err = f(&q)
	}
	if err == nil {
		err = s.Save(q)
	}
	return q, err
}

// Answered stores an answer. The error is one line for people: there is no such question,
// it is answered already, or the answer is empty or too long.
func (s Store) Answered(id, text, by string) (Question, error) {
	text = strings.TrimSpace(termtext.Clean(text))
	return s.Change(id, func(q *Question) error {
		switch {
		case !q.Open():
			return fmt.Errorf("question %s was answered at %s: %.80s", id, q.AnsweredAt.Local().Format("15:04"),
				termtext.Line(q.Answer))
		case text == "":
			return fmt.Errorf("the answer to %s is empty", id)
		case len(text) > MaxAnswer:
			return fmt.Errorf("the answer to %s has %d bytes; at most %d are allowed", id, len(text), MaxAnswer)
		}
		q.Answer, q.AnsweredBy, q.AnsweredAt = text, by, time.Now()
		return nil
	})
}

// Option is the n-th option, from 1. The error is one line for people.
func (q Question) Option(n int) (string, error) {
	switch {
	case len(q.Options) == 0:
		return "", fmt.Errorf("question %s has no options; answer it with: ralph answer %[1]s TEXT", q.ID)
	case n < 1 || n > len(q.Options):
		return "", fmt.Errorf("--option %d is not allowed: question %s has the options 1 to %d", n, q.ID,
			len(q.Options))
	}
	return q.Options[n-1], nil
}
