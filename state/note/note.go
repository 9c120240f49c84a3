// Package note keeps what people want the next prompt to say: one file for each note.
package note

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/renameio/v2"

	"ralph/logs/termtext"
	"ralph/state"
)

const (
	ext     = ".json"
	kept    = 100     // notes
	maxFile = 1 << 16 // bytes
	// MaxText bounds a note, in bytes: it becomes a part of a prompt.
	MaxText = 8000
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

// Waits reports whether no prompt had the note yet.
func (n Note) Waits() bool { return n.Iteration == 0 }

// Where says what became of the note.
func (n Note) Where() string {
	if n.Waits() {
		return "waits for the next prompt"
	}
	return fmt.Sprintf("went into iteration %d", n.Iteration)
}

// Store is the folder of the notes of a project.
type Store struct{ dir string }

// In returns the store of a project's state.
func In(r *state.Reader) Store { return Store{r.NotesDir()} }

// List returns all notes, the oldest first. A file that is no note is skipped.
func (s Store) List() ([]Note, error) {
	entries, err := os.ReadDir(s.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list notes: %w", err)
	}
	var all []Note
	for _, e := range entries {
		var n Note
		id, ok := strings.CutSuffix(e.Name(), ext)
		data, err := state.ReadFile(filepath.Join(s.dir, e.Name()), maxFile)
		if !ok || number(id) == 0 || err != nil || json.Unmarshal(data, &n) != nil {
			continue
		}
		n.ID, n.Text, n.Task = id, termtext.Clean(n.Text), termtext.Line(n.Task)
		all = append(all, n)
	}
	slices.SortFunc(all, func(a, b Note) int { return number(a.ID) - number(b.ID) })
	return all, nil
}

// number is the number in an id; 0: it is none.
func number(id string) int {
	digits, ok := strings.CutPrefix(id, "n")
	n, err := strconv.Atoi(digits)
	if !ok || err != nil || n < 1 || "n"+strconv.Itoa(n) != id {
		return 0
	}
	return n
}

// Add stores a new note. The error is one line for people.
func (s Store) Add(text string) (Note, error) {
	text = strings.TrimSpace(termtext.Clean(text))
	switch {
	case text == "":
		return Note{}, errors.New("the note is empty")
	case len(text) > MaxText:
		return Note{}, fmt.Errorf("the note has %d bytes; at most %d are allowed", len(text), MaxText)
	}
	all, err := s.List()
	if err != nil {
		return Note{}, err
	}
	for i := 0; i < len(all)-kept; i++ {
		if !all[i].Waits() {
			_ = os.Remove(filepath.Join(s.dir, all[i].ID+ext)) // the next one tries again
		}
	}
	next := 1
	if len(all) > 0 {
		next = number(all[len(all)-1].ID) + 1
	}
	n := Note{V: 1, ID: "n" + strconv.Itoa(next), At: time.Now(), Text: text}
	return n, s.Save(n)
}

// Save writes a note.
func (s Store) Save(n Note) error {
	data, err := json.MarshalIndent(n, "", "  ")
	if err == nil {
		err = os.MkdirAll(s.dir, 0o700)
	}
	if info, statErr := os.Lstat(s.dir); err == nil && (statErr != nil || !info.IsDir()) {
		err = fmt.Errorf("%q is not a folder", s.dir)
	}
	if err == nil {
		err = renameio.WriteFile(filepath.Join(s.dir, n.ID+ext), append(data, '\n'), 0o600, renameio.WithTempDir(s.dir))
	}
	if err != nil {
		return fmt.Errorf("store note: %w", err)
	}
	return nil
}
