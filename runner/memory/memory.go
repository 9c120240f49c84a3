// Package memory keeps what the turns of a project teach, and offers it to the prompts of later tasks.
//
//	final message -> Refuse -> Add    duplicates are merged
//	task -> rank                      what a prompt gets
//
// A lesson is data. Prompts quote it, and ralph keeps none that gives orders about tests,
// permissions or ralph's own files.
package memory

import (
	"crypto/sha256"
	"encoding/hex"
	"path"
	"slices"
	"strings"
	"time"
	"unicode"

	"ralph/logs/termtext"
	"ralph/runner/agent/wire"
)

const (
	maxPrompt  = 2 << 10 // bytes of all lessons in it
	maxText    = 500     // bytes
	maxKept    = 300     // lessons of a project
	maxPerTurn = 10      // lessons
	maxListed  = 50      // turns or files of a lesson
)

// Turn names the turn that taught a lesson.
type Turn struct {
	Run       string `json:"run"`
	Iteration int    `json:"iteration"`
}

// Lesson is one lesson.
type Lesson struct {
	ID       string    `json:"id"`
	Text     string    `json:"text"`            // one line
	Task     string    `json:"task,omitempty"`  // title of the first task that taught it
	Turns    []Turn    `json:"turns,omitempty"` // that taught it; none: a person did
	Paths    []string  `json:"paths,omitempty"` // files that the turn changed
	At       time.Time `json:"at"`
	Evidence string    `json:"evidence,omitempty"` // why ralph believed it
}

// New makes a lesson; its text becomes one line, which may be empty.
func New(text string, at time.Time) Lesson {
	text = wire.Cut(strings.TrimLeft(termtext.Line(text), "-* "), maxText)
	sum := sha256.Sum256([]byte(strings.ToLower(text)))
	return Lesson{ID: hex.EncodeToString(sum[:3]), Text: text, At: at}
}

// Person is true if a person added the lesson.
func (l Lesson) Person() bool { return len(l.Turns) == 0 }

// Add adds a lesson, or merges it into one that says the same. It returns the lesson as it is now.
func Add(all []Lesson, l Lesson) ([]Lesson, Lesson) {
	says := words(l.Text)
	i := slices.IndexFunc(all, func(o Lesson) bool { return words(o.Text) == says })
	if i < 0 {
		if len(all) >= maxKept {
			oldest := Newest(all)[len(all)-1].ID
			all = slices.DeleteFunc(all, func(o Lesson) bool { return o.ID == oldest })
		}
		return append(all, l), l
	}
	o := all[i]
	if l.Person() || o.Person() {
		o.Turns = nil // what a person added stays even if the turns are undone
	} else {
		o.Turns = union(o.Turns, l.Turns)
	}
	o.Paths, o.At = union(o.Paths, l.Paths), l.At
	all[i] = o
	return all, o
}

func union[T comparable](a, b []T) []T {
	out := slices.Clone(a)
	for _, v := range b {
		if !slices.Contains(out, v) && len(out) < maxListed {
			out = append(out, v)
		}
	}
	return out
}

// words returns the words of a text, without the articles, case and punctuation.
func words(text string) string {
	all := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !strings.ContainsRune("'_/.-", r) && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	return strings.Trim(strings.Join(slices.DeleteFunc(all, func(w string) bool {
		return w == "the" || w == "a" || w == "an"
	}), " "), ".")
}

// Newest returns the lessons of people, then the others, the newest first.
func Newest(all []Lesson) []Lesson {
	return slices.SortedStableFunc(slices.Values(all), func(a, b Lesson) int {
		if a.Person() != b.Person() {
			return map[bool]int{true: -1, false: 1}[a.Person()]
		}
		return b.At.Compare(a.At)
	})
}

// rank orders lessons for the prompt of a task, the best first: those about files that its text names, then those of people,
// then the newest.
func rank(all []Lesson, text string) []Lesson {
	text = strings.ToLower(text)
	named := func(p string) bool { return strings.Contains(text, strings.ToLower(path.Base(p))) }
	var near, rest []Lesson
	for _, l := range Newest(all) {
		if slices.ContainsFunc(l.Paths, named) {
			near = append(near, l)
		} else {
			rest = append(rest, l)
		}
	}
	return append(near, rest...)
}

// without returns the lessons that are left when a turn is undone.
func without(all []Lesson, t Turn) (left []Lesson) {
	for _, l := range all {
		turns := slices.DeleteFunc(slices.Clone(l.Turns), func(o Turn) bool { return o == t })
		if len(turns) > 0 || l.Person() {
			l.Turns = turns
			left = append(left, l)
		}
	}
	return left
}
