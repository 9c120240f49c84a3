package task

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// State is the state of a task. Each format has its own words for it.
type State uint8

// The states.
const (
	Open    State = iota // to be worked on
	Active               // started
	Review               // worked on; waits for a review
	Blocked              // a person must do something first; ralph does not work on it
	Done
	Dropped // nobody will do it; it does not count
)

// ErrNoWord is the error of a state that a format cannot write.
var ErrNoWord = errors.New("the format has no word for it")

func names() []string { return []string{"open", "active", "review", "blocked", "done", "dropped"} }

func (s State) String() string {
	if all := names(); int(s) < len(all) {
		return all[s]
	}
	return fmt.Sprintf("State(%d)", uint8(s))
}

// MarshalText implements encoding.TextMarshaler.
func (s State) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *State) UnmarshalText(text []byte) error {
	i := slices.Index(names(), string(text))
	if i < 0 {
		return fmt.Errorf("unknown state %q; known: %s", text, strings.Join(names(), ", "))
	}
	*s = State(i)
	return nil
}

// rank orders tasks that may be worked on: started ones come first.
func (s State) rank() int {
	switch s {
	case Active:
		return 0
	case Review:
		return 2
	}
	return 1
}

// Words are the words of a format for the states.
type Words struct {
	// Read has all words that a file may have.
	Read map[string]State
	// Write has the word that ralph writes. A state that is missing here cannot be written.
	Write map[State]string
}

// Vocabulary returns the words of a format. For each state, it has the word that ralph writes and the others that mean the
// same, with | between them. A state that begins with | cannot be written.
func Vocabulary(all map[State]string) Words {
	w := Words{Read: map[string]State{}, Write: map[State]string{}}
	for state, list := range all {
		first, others, _ := strings.Cut(list, "|")
		if first != "" {
			w.Read[first], w.Write[state] = state, first
		}
		for word := range strings.SplitSeq(others, "|") {
			if word != "" {
				w.Read[word] = state
			}
		}
	}
	return w
}

// Of returns the state that a word stands for. Case, spaces, - and _ make no difference.
func (w Words) Of(word string) (State, bool) {
	if s, ok := w.Read[word]; ok {
		return s, true
	}
	key := plainWord(word)
	for known, s := range w.Read {
		if plainWord(known) == key {
			return s, true
		}
	}
	return Open, false
}

func plainWord(s string) string {
	return strings.Map(func(c rune) rune {
		if strings.ContainsRune(" -_", c) {
			return -1
		}
		return c
	}, strings.ToLower(s))
}

// Apply gives a task the state that a word stands for. It is false for an unknown word: such a task is Blocked.
func (w Words) Apply(t *Task, word string) bool {
	state, known := w.Of(word)
	if t.State, t.Word = state, ""; !known {
		t.State = Blocked
	}
	if !known || w.Write[state] != word {
		t.Word = word
	}
	return known
}

// Unknown is the warning about a word that the format does not have.
func (w Words) Unknown(place, word string) string {
	return fmt.Sprintf("%s: unknown status %.40q, so nobody works on it; known: %s", place, word, w.Known())
}

// Known lists the words, for messages.
func (w Words) Known() string {
	all := slices.SortedFunc(maps.Keys(w.Read), func(a, b string) int {
		return cmp.Or(cmp.Compare(w.Read[a], w.Read[b]), strings.Compare(a, b))
	})
	return strings.Join(all, ", ")
}

// Word returns the plan's own word for the state of a task, where it has one.
func (l List) Word(t Task) string { return cmp.Or(t.Word, l.Words[t.State], t.State.String()) }

// File is one file of a plan.
type File struct {
	Name string // slash path; relative to the plan's folder
	Data []byte
}

// Range is a part of a file.
type Range struct {
	File       int // index in the files of the plan
	Start, End int // bytes; equal: a place for an insertion
}

// Cut returns the range without which data is still well-formed: with the comma next to a value in JSON.
func (r Range) Cut(data []byte) Range {
	const space = " \t\r\n"
	if r.End > len(data) || r.Start >= r.End || data[r.Start] != '{' {
		return r
	}
	if rest, more := bytes.CutPrefix(bytes.TrimLeft(data[r.End:], space), []byte(",")); more {
		r.End = len(data) - len(bytes.TrimLeft(rest, space))
	} else if before, more := bytes.CutSuffix(bytes.TrimRight(data[:r.Start], space), []byte(",")); more {
		r.Start = len(before)
	}
	return r
}

// Place is a part of a file that contains the state of a task.
type Place struct {
	Range
	// Words has the text for each state. A change to a state that is missing writes nothing here.
	Words map[State]string
	// Final is true if only a change to done, or from done, is written here: the box of a criterion.
	Final bool
}

// Spot is where a task is in the files.
type Spot struct {
	States []Place
	// Word is where the word for the state is, so that an earlier word can be restored.
	// Empty, with Start 0, if there is none.
	Word  Range
	Item  Range // the whole task, with what is below it
	Title Range // as the file spells it; End 0: it cannot be replaced
	Order Range // the value that orders the tasks, such as a priority; End is 0 if there is none
	// Results says where results go, by their key in the file; the word for Done is written before them.
	Results map[string]Place
}

// Parsed is the result of a format's parser: a list, and a Spot for each of its tasks.
type Parsed struct {
	List
	Spots []Spot
	// First is where the first task goes in a plan without tasks; negative: nowhere.
	First Range
}

// Input is the text of a plan, for the parser of its format.
type Input struct {
	Files            []File // of the plan, in the order of their names; the plan itself first
	OptionalSections []string
	Folder           string // name of the plan's folder; empty: not known
}

// Now and Today stand for the time of writing in the words of a Place, as Time does.
const (
	Now   = "\x00" + time.RFC3339 + "\x00"
	Today = "\x00" + time.DateOnly + "\x00"
)

// Time stands for the time of writing in a layout: in UTC if it names the zone.
func Time(layout string) string { return "\x00" + layout + "\x00" }

// Stamped returns a word of a Place with the time in it.
func Stamped(word string, now time.Time) string {
	before, rest, _ := strings.Cut(word, "\x00")
	layout, after, has := strings.Cut(rest, "\x00")
	if !has {
		return word
	}
	at := now
	if strings.Contains(layout, "Z07") {
		at = now.UTC()
	}
	return before + at.Format(layout) + Stamped(after, now)
}
