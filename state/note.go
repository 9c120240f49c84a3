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
type NoteStore struct{ folder NumberedFolder }

// Notes returns the store of a project's state.
func Notes(r *Reader) NoteStore {
	return NoteStore{NumberedFolder{Dir: r.NotesDir(), Letter: "n", Kind: "note"}}
}

// List returns all notes, the oldest first. A file that is not a note is skipped.
func (s NoteStore) List() ([]Note, error) {
	ids, err := s.folder.IDs()
	if err != nil {
		return nil, err
	}
	var all []Note
	for _, id := range ids {
		var n Note
		if s.folder.Read(id, &n) != nil {
			continue
		}
		n.ID, n.Text, n.Task = id, termtext.Clean(n.Text), termtext.Line(n.Task)
		all = append(all, n)
	}
	return all, nil
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
	all, err := s.List()
	if err != nil {
		return Note{}, err
	}
	for i := 0; i < len(all)-kept; i++ {
		if !all[i].Waits() {
			_ = s.folder.Remove(all[i].ID) // if it fails, the next Add tries again
		}
	}
	latest := ""
	if len(all) > 0 {
		latest = all[len(all)-1].ID
	}
	n := Note{V: 1, ID: s.folder.After(latest), At: time.Now(), Text: text}
	return n, s.Save(n)
}

// Save writes a note.
func (s NoteStore) Save(n Note) error { return s.folder.Write(n.ID, n) }
