// Package memory decides which lessons of earlier turns are kept, merged, ranked and
// dropped. It is pure; package lessons has the files.
//
//	final message -> Extract -> Refuse -> Add    near duplicates are merged
//	Query -> Rank -> Fit                         what a prompt gets
//
// A lesson is data. Prompts quote it, and ralph keeps none that gives orders about tests,
// permissions or ralph's own files.
package memory

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"math"
	"path"
	"slices"
	"sort"
	"strings"
	"time"
	"unicode/utf8"

	"ralph/logs/termtext"
)

// Kind says what a lesson is about.
type Kind string

// The kinds.
const (
	Pattern Kind = "pattern" // how things are done in this project
	Failure Kind = "failure" // what made a check fail
)

const (
	// MaxPrompt limits the lessons of a prompt, in bytes.
	MaxPrompt  = 2 << 10
	maxText    = 500 // of one lesson, in bytes
	maxKept    = 300 // lessons of a project
	maxPerTurn = 10  // lessons of one turn
	maxPaths   = 20  // paths of a lesson
	maxUsers   = 50  // tasks in UsedBy
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

// New makes a lesson; its text becomes one line. ok is false if nothing is left.
func New(text string, kind Kind, at time.Time) (l Lesson, ok bool) {
	text = strings.TrimSpace(strings.TrimLeft(termtext.Unwrap(text), "-* "))
	if len(text) > maxText {
		text = text[:maxText]
		for !utf8.ValidString(text) {
			text = text[:len(text)-1]
		}
		text += "..."
	}
	sum := sha256.Sum256([]byte(strings.ToLower(text)))
	return Lesson{ID: hex.EncodeToString(sum[:3]), Text: text, Kind: kind, At: at}, text != ""
}

// Person is true if a person added the lesson.
func (l Lesson) Person() bool { return len(l.Turns) == 0 }

// Add adds a lesson, or merges it into one that says nearly the same. It returns the
// lesson as it is now.
func Add(all []Lesson, l Lesson) ([]Lesson, Lesson) {
	i := slices.IndexFunc(all, func(o Lesson) bool { return o.Kind == l.Kind && near(o.Text, l.Text) })
	if i < 0 {
		all = append(all, l)
		if len(all) > maxKept { // remove the one that matters least
			least := 0
			for i, o := range all[:maxKept] {
				if o.weight(l.At) < all[least].weight(l.At) {
					least = i
				}
			}
			all = slices.Delete(all, least, least+1)
		}
		return all, l
	}
	o := all[i]
	if !l.Person() && !o.Person() { // what a person added stays even if the turns are undone
		o.Turns = union(o.Turns, l.Turns, maxUsers)
	} else {
		o.Turns = nil
	}
	o.Paths, o.At = union(o.Paths, l.Paths, maxPaths), l.At
	all[i] = o
	return all, o
}

func union[T comparable](a, b []T, most int) []T {
	out := slices.Clone(a)
	for _, v := range b {
		if !slices.Contains(out, v) && len(out) < most {
			out = append(out, v)
		}
	}
	return out
}

// near reports whether two texts say nearly the same.
func near(a, b string) bool {
	x, y := words(a), words(b)
	common := 0
	for w := range x {
		if y[w] {
			common++
		}
	}
	all := len(x) + len(y) - common
	return all > 0 && float64(common)/float64(all) >= alike && negations(x) == negations(y) &&
		maps.Equal(names(x), names(y))
}

// names returns the words that name one thing, such as a file or a version: another name makes another lesson.
func names(words map[string]bool) map[string]bool {
	names := maps.Clone(words)
	maps.DeleteFunc(names, func(w string, _ bool) bool { return !strings.ContainsAny(w, "./_0123456789") })
	return names
}

// negations counts words that reverse the meaning: "never use x" is not "use x".
func negations(words map[string]bool) (n int) {
	for _, w := range []string{"not", "never", "no", "without", "don't", "avoid", "instead"} {
		if words[w] {
			n++
		}
	}
	return n
}

// words returns the words of a text, without those that say little.
func words(text string) map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool {
		return r != '\'' && r != '_' && r != '/' && r != '.' && r != '-' && (r < 'a' || r > 'z') &&
			(r < '0' || r > '9') && r < 0x80
	}) {
		w = strings.Trim(w, ".'-/")
		if w != "" && !slices.Contains([]string{"the", "a", "an", "is", "are", "to", "of", "in", "for", "and", "it",
			"this", "that", "must", "should"}, w) {
			set[w] = true
		}
	}
	return set
}

// Query is what a prompt is about.
type Query struct {
	Text    string   // of the task; paths in it count
	Touched []string // files that earlier attempts at the task changed
	Now     time.Time
}

// weight rates a lesson by its use and its age.
func (l Lesson) weight(now time.Time) float64 {
	age := now.Sub(latest(l.At, l.LastUsed))
	w := 1 + math.Log2(float64(1+l.Uses))
	if l.Person() {
		w++
	}
	return w * math.Exp2(-max(age.Hours(), 0)/halfLife.Hours())
}

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// nearness returns how close the paths of a lesson are to those of the query: 1 for a file that the task names or
// touched, less for a file in a folder that it names or touched.
func (l Lesson) nearness(q Query, text string) (best float64) {
	for _, p := range l.Paths {
		switch {
		case slices.Contains(q.Touched, p), strings.Contains(text, strings.ToLower(p)):
			return 1
		case path.Base(p) != p && strings.Contains(text, strings.ToLower(path.Base(p))):
			best = max(best, 0.8)
		case slices.ContainsFunc(q.Touched, func(t string) bool {
			return path.Dir(t) == path.Dir(p) && path.Dir(p) != "."
		}),
			path.Dir(p) != "." && strings.Contains(text, strings.ToLower(path.Dir(p))+"/"):
			best = max(best, 0.5)
		}
	}
	return best
}

// Rank orders lessons for a prompt, the best first. A Failure counts only
// if the task is about its files.
func Rank(all []Lesson, q Query) []Lesson {
	type ranked struct {
		Lesson
		score float64
	}
	var out []ranked
	text := strings.ToLower(q.Text)
	asked := words(q.Text)
	for _, l := range all {
		near := l.nearness(q, text)
		if l.In != "" || l.Kind == Failure && near == 0 {
			continue
		}
		for w := range words(l.Text) {
			if asked[w] && len(w) > 3 {
				near += 0.1
			}
		}
		out = append(out, ranked{l, l.weight(q.Now) * (1 + 3*min(near, 1))})
	}
	sort.SliceStable(out, func(i, j int) bool {
		a, b := &out[i], &out[j]
		return a.score > b.score || a.score == b.score && a.ID < b.ID
	})
	list := make([]Lesson, len(out))
	for i, r := range out {
		list[i] = r.Lesson
	}
	return list
}

// Fit returns the first lessons that fit into a prompt.
func Fit(ranked []Lesson) (fit []Lesson) {
	size := 0
	for _, l := range ranked {
		if size += len(l.Text) + len("> - \n"); size > MaxPrompt {
			break
		}
		fit = append(fit, l)
	}
	return fit
}

// MarkUsed records that an accepted task, which touched the files of q, had these lessons in its prompt. A lesson with
// paths counts as used only if the task changed one of these files, or one in the same folder.
func MarkUsed(all []Lesson, ids []string, task string, q Query) {
	near := func(p string) bool {
		return slices.ContainsFunc(q.Touched, func(t string) bool { return path.Dir(t) == path.Dir(p) })
	}
	for i, l := range all {
		if !slices.Contains(ids, l.ID) || len(l.Paths) > 0 && !slices.ContainsFunc(l.Paths, near) {
			continue
		}
		l.Uses, l.LastUsed = l.Uses+1, q.Now
		l.UsedBy = union(l.UsedBy, []string{task}, maxUsers)
		all[i] = l
	}
}

// Without returns the lessons that are left when a turn is undone.
func Without(all []Lesson, t Turn) []Lesson {
	var left []Lesson
	for _, l := range all {
		if slices.Contains(l.Turns, t) {
			l.Turns = slices.DeleteFunc(slices.Clone(l.Turns), func(o Turn) bool { return o == t })
			if len(l.Turns) == 0 {
				continue
			}
		}
		left = append(left, l)
	}
	return left
}

// Describe returns a few lines about a lesson and where it comes from.
func (l Lesson) Describe() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s\n", l.ID, l.Text)
	if l.Person() {
		fmt.Fprintf(&b, "  a person added it on %s\n", l.At.Format(time.DateOnly))
	}
	for _, t := range l.Turns {
		fmt.Fprintf(&b, "  learned in iteration %d of run %s\n", t.Iteration, t.Run)
	}
	for _, line := range []struct{ what, text string }{{"first for the task", l.Task}, {"evidence", l.Evidence},
		{"files", strings.Join(l.Paths, ", ")}, {"used by the tasks", strings.Join(l.UsedBy, ", ")}, {"now in", l.In}} {
		if line.text != "" {
			fmt.Fprintf(&b, "  %s: %s\n", line.what, line.text)
		}
	}
	return b.String()
}

// ByWeight returns the lessons by weight, the heaviest first.
func ByWeight(all []Lesson, now time.Time) []Lesson {
	all = slices.Clone(all)
	sort.SliceStable(all, func(i, j int) bool {
		x, y := all[i].weight(now), all[j].weight(now)
		return x > y || x == y && all[i].ID < all[j].ID
	})
	return all
}
