// Package memory keeps what the turns of a project teach, and offers it to the prompts of later tasks.
//
//	final message -> Refuse -> Add    near duplicates are merged
//	task -> rank                      what a prompt gets
//
// A lesson is data. Prompts quote it, and ralph keeps none that gives orders about tests,
// permissions or ralph's own files.
package memory

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"math"
	"path"
	"slices"
	"strings"
	"time"
	"unicode"

	"ralph/logs/termtext"
	"ralph/runner/agent/wire"
)

// Kind says what a lesson is about.
type Kind string

// The kinds.
const (
	Pattern Kind = "pattern" // how things are done in this project
	Failure Kind = "failure" // what made a check fail
)

const (
	maxPrompt  = 2 << 10 // bytes of all lessons in it
	maxText    = 500     // bytes
	maxKept    = 300     // lessons of a project
	maxPerTurn = 10      // lessons
	maxListed  = 50      // turns, files or tasks of a lesson
	halfLife   = 14 * 24 * time.Hour
	// alike is the share of common words from which two lessons count as one.
	alike = 0.6
)

// Turn names the turn that taught a lesson.
type Turn struct {
	Run       string `json:"run"`
	Iteration int    `json:"iteration"`
}

// Lesson is one lesson.
type Lesson struct {
	ID       string    `json:"id"`
	Text     string    `json:"text"` // one line
	Kind     Kind      `json:"kind"`
	Task     string    `json:"task,omitempty"`  // title of the first task that taught it
	Turns    []Turn    `json:"turns,omitempty"` // that taught it; none: a person did
	Paths    []string  `json:"paths,omitempty"` // files that the turn changed
	At       time.Time `json:"at"`
	Uses     int       `json:"uses,omitempty"`
	LastUsed time.Time `json:"last_used,omitzero"`
	UsedBy   []string  `json:"used_by,omitempty"`  // ids of tasks, each once
	Evidence string    `json:"evidence,omitempty"` // why ralph believed it
	In       string    `json:"in,omitempty"`       // document that contains it now; empty: none
}

// New makes a lesson; its text becomes one line, which may be empty.
func New(text string, kind Kind, at time.Time) Lesson {
	text = wire.Cut(strings.TrimLeft(termtext.Line(text), "-* "), maxText)
	sum := sha256.Sum256([]byte(strings.ToLower(text)))
	return Lesson{ID: hex.EncodeToString(sum[:3]), Text: text, Kind: kind, At: at}
}

// Person is true if a person added the lesson.
func (l Lesson) Person() bool { return len(l.Turns) == 0 }

// Add adds a lesson, or merges it into one that says nearly the same. It returns the
// lesson as it is now.
func Add(all []Lesson, l Lesson) ([]Lesson, Lesson) {
	i := slices.IndexFunc(all, func(o Lesson) bool { return o.Kind == l.Kind && near(o.Text, l.Text) })
	if i < 0 {
		if len(all) >= maxKept {
			least := ByWeight(all, l.At)[len(all)-1].ID
			all = slices.DeleteFunc(all, func(o Lesson) bool { return o.ID == least })
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

// near reports whether two texts say nearly the same. They do not if only one of them has a negation or names a file,
// a version or the like.
func near(a, b string) bool {
	x, y := words(a), words(b)
	either, both := maps.Clone(x), 0
	maps.Copy(either, y)
	for w := range either {
		if x[w] && y[w] {
			both++
		} else if decisive(w) {
			return false
		}
	}
	return both > 0 && float64(both) >= alike*float64(len(either))
}

// decisive reports whether a word can make another lesson of a sentence.
func decisive(w string) bool {
	const negations = " not never no without don't avoid instead "
	return strings.ContainsAny(w, "./_0123456789") || strings.Contains(negations, " "+w+" ")
}

// words returns the words of a text, without those that say little.
func words(text string) map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool {
		return !strings.ContainsRune("'_/.-", r) && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}) {
		const filler = " the a an is are to of in for and it this that must should "
		if w = strings.Trim(w, ".'-/"); w != "" && !strings.Contains(filler, " "+w+" ") {
			set[w] = true
		}
	}
	return set
}

// weight rates a lesson by its use and its age.
func (l Lesson) weight(now time.Time) float64 {
	last := l.At
	if l.LastUsed.After(last) {
		last = l.LastUsed
	}
	w := 1 + math.Log2(float64(1+l.Uses))
	if l.Person() {
		w++
	}
	return w * math.Exp2(-max(now.Sub(last).Hours(), 0)/halfLife.Hours())
}

// ByWeight returns the lessons by weight, the heaviest first.
func ByWeight(all []Lesson, now time.Time) []Lesson {
	return sorted(all, func(l Lesson) float64 { return l.weight(now) })
}

// sorted returns the lessons by score, the highest first, without those whose score is negative.
func sorted(all []Lesson, score func(Lesson) float64) (out []Lesson) {
	scores := map[string]float64{}
	for _, l := range all {
		if s := score(l); s >= 0 {
			scores[l.ID], out = s, append(out, l)
		}
	}
	slices.SortStableFunc(out, func(a, b Lesson) int {
		return cmp.Or(cmp.Compare(scores[b.ID], scores[a.ID]), strings.Compare(a.ID, b.ID))
	})
	return out
}

// rank orders lessons for the prompt of a task, the best first. text describes the task, and touched are files that
// earlier attempts at it changed. A Failure counts only if the task is about its files.
func rank(all []Lesson, text string, touched []string, now time.Time) []Lesson {
	text = strings.ToLower(text)
	return sorted(all, func(l Lesson) float64 {
		near := l.nearness(text, touched)
		if l.In != "" || l.Kind == Failure && near == 0 {
			return -1
		}
		return l.weight(now) * (1 + 3*near)
	})
}

// nearness returns how close the files of a lesson are to a task: 1 if the text names one or one was touched, less if
// that is true of a folder.
func (l Lesson) nearness(text string, touched []string) (best float64) {
	named := func(what string) bool { return strings.Contains(text, strings.ToLower(what)) }
	for _, p := range l.Paths {
		if slices.Contains(touched, p) || named(path.Base(p)) {
			return 1
		}
		if path.Dir(p) != "." && (besideOne(p, touched) || named(path.Dir(p)+"/")) {
			best = 0.5
		}
	}
	return best
}

// besideOne reports whether a file is in the folder of one of these files.
func besideOne(file string, files []string) bool {
	return slices.ContainsFunc(files, func(f string) bool { return path.Dir(f) == path.Dir(file) })
}

// markUsed records that an accepted task, which changed these files, had lessons in its prompt. A lesson with files
// counts as used only if the task changed one of them, or one in the same folder.
func markUsed(all []Lesson, ids []string, task string, files []string, now time.Time) {
	for i, l := range all {
		if !slices.Contains(ids, l.ID) || len(l.Paths) > 0 &&
			!slices.ContainsFunc(l.Paths, func(p string) bool { return besideOne(p, files) }) {
			continue
		}
		l.Uses, l.LastUsed = l.Uses+1, now
		l.UsedBy = union(l.UsedBy, []string{task})
		all[i] = l
	}
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
