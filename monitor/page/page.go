// Package page has what the pages of the monitor share: what a key asks of the screen, a table of
// keys, and a list that a person narrows by typing.
package page

import (
	"slices"
	"time"

	"github.com/gdamore/tcell/v2"

	"ralph/logs/termtext"
	"ralph/monitor/canvas"
	"ralph/monitor/keys"
	"ralph/state/view"
	"ralph/state/view/summary"
)

// Page covers the panels. It runs nothing itself. It is not safe for concurrent use.
type Page interface {
	Asker
	// Key handles a key. It returns false if the page does not know it.
	Key(e *tcell.EventKey) (Act, bool)
	// Scroll moves by rows, up for a negative number.
	Scroll(by int)
	// Hints are the keys of the page.
	Hints() []keys.Hint
	Draw(c canvas.Canvas, s Scene)
}

// Clicker is a page with rows to be selected by the mouse.
type Clicker interface {
	// Click selects what is at a column and a row below the title.
	Click(x, y int)
}

// Asker can ask something in the last row.
type Asker interface {
	// Asks reports whether the page waits for an answer: then it takes all keys.
	Asks() bool
	DrawAsk(c canvas.Canvas)
}

// Scene is the run at the moment of a draw.
type Scene struct {
	Model *view.Model
	Now   time.Time
}

// Act is what a key asks the screen to do; zero: nothing.
type Act struct {
	Verb     []string // arguments of ralph
	Terminal Terminal // how the verb uses it
	Close    bool     // the page
	Diff     string   // id of the task whose changes are to be shown
	Say      string
	Copy     string // into the clipboard
	Open     Open   // another page, about iteration Of
	Of       int
	Edit     File // to be opened in an editor
}

// Open is a page about an iteration.
type Open int

// The pages.
const (
	Nothing Open = iota
	Transcript
	Review
	Changes
)

// File is a file of the project or, if it has a text, a temporary file with that text.
type File struct{ Name, Text string }

// Terminal is how a verb uses the terminal.
type Terminal int

// The uses.
const (
	Unused Terminal = iota
	Edits           // it opens an editor
	Prints          // it takes long and prints: the screen comes back when the user has read the output
)

// Binding is one row of the table of keys of a page of type P.
type Binding[P any] struct {
	keys.Hint
	Do func(P) Act
}

// Row is a Binding. Its names are separated by spaces.
func Row[P any](names, short, help string, do func(P) Act) Binding[P] {
	return Binding[P]{keys.Hint{Keys: names, Short: short, Help: help}, do}
}

// End is more rows than any page has.
const End = 1 << 30

// Moves are the rows that scroll; screenful is how far a page key moves. Up is the keys for
// a screen up: not every page has all of them free.
func Moves[P interface{ Scroll(by int) }](up string, screenful func(P) int) []Binding[P] {
	by := func(n func(P) int) func(P) Act {
		return func(p P) Act {
			p.Scroll(n(p))
			return Act{}
		}
	}
	always := func(n int) func(P) Act { return by(func(P) int { return n }) }
	return []Binding[P]{
		Row("up k", "", "one row up", always(-1)),
		Row("down j", "", "one row down", always(1)),
		Row(up, "", "one screen up", by(func(p P) int { return -screenful(p) })),
		Row("pgdn space ctrl-d", "", "one screen down", by(screenful)),
		Row("g home", "", "the beginning", always(-End)),
		Row("G end", "", "the end", always(End)),
	}
}

// Hints are the rows as people see them.
func Hints[P any](table []Binding[P]) []keys.Hint {
	var all []keys.Hint
	for _, b := range table {
		all = append(all, b.Hint)
	}
	return all
}

// Do does what the table says of a key. It returns false if the table does not have it.
func Do[P any](table []Binding[P], p P, e *tcell.EventKey) (Act, bool) {
	name := keys.Name(e)
	for _, b := range table {
		if slices.Contains(keys.Names(b.Keys), name) {
			return b.Do(p), true
		}
	}
	return Act{}, false
}

// Sure asks for confirmation: only y confirms.
type Sure struct {
	Question string // without "(y/n)"
	After    Act    // what follows a yes
}

// Answer is what a key answers.
func (s Sure) Answer(e *tcell.EventKey) Act {
	if name := keys.Name(e); name == "y" || name == "Y" {
		return s.After
	}
	return Act{}
}

// Draw draws the question in the last row.
func (s Sure) Draw(c canvas.Canvas) {
	const yes = " (y/n)"
	c.Text(1, 0, c.Tone(summary.Bad), termtext.Fit(s.Question, c.W-2-len(yes))+yes)
}
