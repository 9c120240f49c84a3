package state

// This file keeps what people want the next prompt to say: one file for each note.

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"ralph/logs/termtext"
)

const (
	kept = 100 // notes
	// MaxNote bounds a note, in bytes: it becomes a part of a prompt.
	MaxNote = 8000
)

// Note is one note.
type Note struct {
	V    int       `json:"v"`
	ID   string    `json:"id"` // n1, n2, ...
	At   time.Time `json:"at"`
	Text string    `json:"text"`
	// Run, Iteration and Task say whose prompt had it. Iteration 0: none yet.
	Run       string `json:"run,omitempty"`
	Iteration int    `json:"iteration,omitempty"`
	Task      string `json:"task,omitempty"` // title; empty: none
}

// Waits reports whether no prompt has had the note yet.
func (n Note) Waits() bool { return n.Iteration == 0 }

// Where says what became of the note.
func (n Note) Where() string {
	if n.Waits() {
		return "waits for the next prompt"
	}
	return fmt.Sprintf("went into iteration %d", n.Iteration)
}

// NoteStore is the folder of the notes of a project.
type NoteStore struct{ NumberedFolder[Note] }

// Notes returns the store of a project's state.
func Notes(r *Reader) NoteStore {
	return NoteStore{NumberedFolder[Note]{Dir: r.NotesDir(), Letter: "n", Kind: "note", Kept: kept,
		Settled: func(n Note) bool { return !n.Waits() },
		Read: func(id string, n *Note) {
			n.ID, n.Text, n.Task = id, termtext.Clean(n.Text), termtext.Line(n.Task)
		}}}
}

// Add stores a new note. The error is one line for people.
func (s NoteStore) Add(text string) (Note, error) {
	text = strings.TrimSpace(termtext.Clean(text))
	switch {
	case text == "":
		return Note{}, errors.New("the note is empty")
	case len(text) > MaxNote:
		return Note{}, fmt.Errorf("the note has %d bytes; at most %d are allowed", len(text), MaxNote)
	}
	return s.NumberedFolder.Add(func(id string) Note { return Note{V: 1, ID: id, At: time.Now(), Text: text} })
}

// Save writes a note.
func (s NoteStore) Save(n Note) error { return s.Write(n.ID, n) }
