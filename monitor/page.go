package monitor

import (
	"slices"
	"time"

	"github.com/gdamore/tcell/v2"

	"ralph/logs/termtext"
	"ralph/monitor/canvas"
	"ralph/state/view"
	"ralph/state/view/summary"
)

// coverPage covers the panels. It runs nothing itself. It is not safe for concurrent use.
type coverPage interface {
	asker
	// Key handles a key. It returns false if the page does not know it.
	Key(e *tcell.EventKey) (keyAct, bool)
	// Scroll moves by rows, up for a negative number.
	Scroll(by int)
	// Hints are the keys of the page.
	Hints() []keyHint
	Draw(c canvas.Canvas, s scene)
}

// clicker is a page with rows to be selected by the mouse.
type clicker interface {
	// Click selects what is at a column and a row below the title.
	Click(x, y int)
}

// asker can ask something in the last row.
type asker interface {
	// Asks reports whether the page waits for an answer: then it takes all keys.
	Asks() bool
	DrawAsk(c canvas.Canvas)
}

// scene is the run at the moment of a draw.
type scene struct {
	Model *view.Model
	Now   time.Time
}

// keyAct is what a key asks the screen to do; zero: nothing.
type keyAct struct {
	Verb     []string    // arguments of ralph
	Terminal terminalUse // how the verb uses it
	Close    bool        // the page
	Diff     string      // id of the task whose changes are to be shown
	Say      string
	Copy     string     // into the clipboard
	Open     pageToOpen // another page, about iteration Of
	Of       int
	Edit     shownFile // to be opened in an editor
}

// pageToOpen is a page about an iteration.
type pageToOpen int

// The pages.
const (
	pageNone pageToOpen = iota
	pageTranscript
	pageReview
	pageChanges
)

// shownFile is a file of the project or, if it has a text, a temporary file with that text.
type shownFile struct{ Name, Text string }

// terminalUse is how a verb uses the terminal.
type terminalUse int

// The uses.
const (
	verbNoTerminal terminalUse = iota
	verbEdits                  // it opens an editor
	verbPrints                 // it takes long and prints: the screen comes back when the user has read the output
)

// pageBinding is one row of the table of keys of a page of type P.
type pageBinding[P any] struct {
	keyHint
	Do func(P) keyAct
}

// keyRow is a pageBinding. Its names are separated by spaces.
func keyRow[P any](names, short, help string, do func(P) keyAct) pageBinding[P] {
	return pageBinding[P]{keyHint{Keys: names, Short: short, Help: help}, do}
}

// verbEnd is more rows than any page has.
const verbEnd = 1 << 30

// moveKeys are the rows that scroll; screenful is how far a page key moves. Up is the keys for
// a screen up: not every page has all of them free.
func moveKeys[P interface{ Scroll(by int) }](up string, screenful func(P) int) []pageBinding[P] {
	by := func(n func(P) int) func(P) keyAct {
		return func(p P) keyAct {
			p.Scroll(n(p))
			return keyAct{}
		}
	}
	always := func(n int) func(P) keyAct { return by(func(P) int { return n }) }
	return []pageBinding[P]{
		keyRow("up k", "", "one row up", always(-1)),
		keyRow("down j", "", "one row down", always(1)),
		keyRow(up, "", "one screen up", by(func(p P) int { return -screenful(p) })),
		keyRow("pgdn space ctrl-d", "", "one screen down", by(screenful)),
		keyRow("g home", "", "the beginning", always(-verbEnd)),
		keyRow("G end", "", "the end", always(verbEnd)),
	}
}

// pageHints are the rows as people see them.
func pageHints[P any](table []pageBinding[P]) []keyHint {
	var all []keyHint
	for _, b := range table {
		all = append(all, b.keyHint)
	}
	return all
}

// doKey does what the table says of a key. It returns false if the table does not have it.
func doKey[P any](table []pageBinding[P], p P, e *tcell.EventKey) (keyAct, bool) {
	name := keyName(e)
	for _, b := range table {
		if slices.Contains(keyNames(b.Keys), name) {
			return b.Do(p), true
		}
	}
	return keyAct{}, false
}

// sure asks for confirmation: only y confirms.
type sure struct {
	Question string // without "(y/n)"
	After    keyAct // what follows a yes
}

// Answer is what a key answers.
func (s sure) Answer(e *tcell.EventKey) keyAct {
	if name := keyName(e); name == "y" || name == "Y" {
		return s.After
	}
	return keyAct{}
}

// Draw draws the question in the last row.
func (s sure) Draw(c canvas.Canvas) {
	const yes = " (y/n)"
	c.Text(1, 0, c.Tone(summary.Bad), termtext.Fit(s.Question, c.W-2-len(yes))+yes)
}
