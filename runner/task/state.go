package task

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// State says how far a task is. The words for it are those of the plan's format.
type State uint8

// The states.
const (
	Open    State = iota // to be worked on
	Active               // begun
	Review               // worked on; waits until somebody has looked at it
	Blocked              // a person has to do something first; ralph does not work on it
	Done
	Dropped // nobody will do it; it does not count
)

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

// rank orders tasks that may be worked on: what is begun comes first.
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
	// Read has all that a file may say.
	Read map[string]State
	// Write has the word that ralph writes. A state that is missing here cannot be written.
	Write map[State]string
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
	return strings.NewReplacer(" ", "", "-", "", "_", "").Replace(strings.ToLower(s))
}

// Known lists the words, for messages.
func (w Words) Known() string {
	var all []string
	for word := range w.Read {
		all = append(all, word)
	}
	slices.SortStableFunc(all, func(a, b string) int {
		if d := int(w.Read[a]) - int(w.Read[b]); d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	return strings.Join(all, ", ")
}

// Word is the plan's own word for the state of a task, where it has one.
func (l List) Word(t Task) string { return cmp.Or(t.Word, l.Words[t.State], t.State.String()) }

// File is one file of a plan.
type File struct {
	Name string // slash path; relative to the plan's folder
	Data []byte
	// Seen keeps what a parser made of the file, for when it reads the same bytes again; nil: nothing does.
	Seen *any
}

// Range is a part of a file.
type Range struct {
	File       int // index in the files of the plan
	Start, End int // bytes; equal: a place to insert at
}

// Cut is the range without which data is still well-formed: with the comma next to a value in JSON.
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

// Place is a part of a file that says the state of a task.
type Place struct {
	Range
	// Words is the text for each state; nothing is written for a state that is missing.
	Words map[State]string
	// Final is true if only the step to done, and back, is written here: the box of a criterion.
	Final bool
}

// Spot is where a task stands in the files.
type Spot struct {
	States []Place
	// Word is where the word for the state stands; its text can be put back as it was.
	// Empty, with Start 0, if there is none.
	Word  Range
	Item  Range // the whole task, with what is below it
	Title Range // as the file spells it; End 0: it cannot be replaced
	Order Range // the value that orders the tasks, such as a priority; End is 0 if there is none
	// Results is where the verdicts of judges go. Its word for Done stands before them. The zero
	// value: nowhere.
	Results Place
}

// Parsed is what a format makes of files: a list, and for each of its tasks a Spot.
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

// Stamped is a word of a Place with the time in it.
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
