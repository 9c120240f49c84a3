package monitor

// This file is the monitor's command palette: a person types until one command, panel,
// iteration or task is left, and it says which. It runs nothing itself.

import (
	"fmt"
	"regexp"
	"slices"
	"sort"
	"strings"

	"github.com/gdamore/tcell/v2"
	"github.com/sahilm/fuzzy"

	"ralph/logs/termtext"
	"ralph/monitor/canvas"
	"ralph/state/view/summary"
)

// paletteEntry is something to choose: one of the last four says what.
type paletteEntry struct {
	Kind string // "key", "verb", "panel", "iteration", "task"
	Name string
	Key  string // to press
	Verb string // of ralph
	Task string // id
	Turn int    // iteration to review
}

func (e paletteEntry) text() string { return e.Kind + " " + e.Name }

// palettePage is the palette. It is not safe for concurrent use.
type palettePage struct {
	filterList[paletteEntry]
	all   []paletteEntry
	turns int // iterations of the run
}

// newPalettePage returns a palette for these entries, and the iterations up to a number.
func newPalettePage(all []paletteEntry, turns int) *palettePage {
	p := &palettePage{all: all, turns: turns}
	p.Find = p.find
	p.Narrow()
	return p
}

// Add adds entries that were read in the meantime. What a person moved to stays selected.
func (p *palettePage) Add(all []paletteEntry) {
	var was paletteEntry
	if row, ok := p.Row(); ok && p.Selected > 0 {
		was = row
	}
	p.all = append(p.all, all...)
	p.Narrow()
	p.Selected = max(slices.Index(p.Shown, was), 0)
}

type paletteSource []paletteEntry

func (s paletteSource) String(i int) string { return s[i].text() }
func (s paletteSource) Len() int            { return len(s) }

// find narrows the list. A number also names an iteration.
func (p *palettePage) find(typed string) (shown []paletteEntry) {
	if typed == "" {
		return p.all
	}
	if n := p.turn(typed); n > 0 {
		shown = append(shown, paletteEntry{Kind: "iteration", Name: fmt.Sprintf("review iteration %d", n), Turn: n})
	}
	var found []paletteEntry
	for _, m := range fuzzy.FindFrom(typed, paletteSource(p.all)) {
		found = append(found, p.all[m.Index])
	}
	text := strings.ToLower(typed)
	apart := func(e paletteEntry) int { // what begins with the text comes first, then what contains it as it is
		switch name := strings.ToLower(e.text()); {
		case strings.HasPrefix(strings.ToLower(e.Name), text):
			return 0
		case strings.Contains(name, text):
			return 1
		}
		return 2
	}
	sort.SliceStable(found, func(i, j int) bool { return apart(found[i]) < apart(found[j]) })
	return append(shown, found...)
}

// turn is the number of the iteration that the text names; 0: none.
func (p *palettePage) turn(text string) (n int) {
	digits := regexp.MustCompile(`^(?:iteration |review )?(\d{1,6})$`).FindStringSubmatch(text)
	if digits == nil {
		return 0
	}
	if _, err := fmt.Sscan(digits[1], &n); err != nil || n > p.turns {
		return 0
	}
	return n
}

// Key handles a key. It returns what was chosen, and whether the palette is to be closed.
func (p *palettePage) Key(e *tcell.EventKey) (chosen paletteEntry, closed bool) {
	edge := p.filterList.Key(e)
	if edge == inputEntered {
		chosen, _ = p.Row()
	}
	return chosen, edge != inputTyping
}

// Draw draws the palette.
func (p *palettePage) Draw(c canvas.Canvas) {
	c.Title(canvas.Title{Name: "Commands, panels and tasks", Key: ":", Focused: true,
		Right: fmt.Sprintf("%d of %d", len(p.Shown), len(p.all))})
	c = c.Rows(1, c.H-1)
	if len(p.Shown) == 0 {
		c.Text(1, 0, c.Tone(summary.Warn), termtext.Fit("nothing matches; esc goes back", c.W-2))
		return
	}
	p.filterList.Draw(c, func(row canvas.Canvas, e paletteEntry, style tcell.Style) {
		side := style
		if style == tcell.StyleDefault {
			side = c.Dim()
		}
		row.Text(1, 0, side, e.Kind)
		row.Text(11, 0, style.Bold(true), termtext.Fit(e.Key, 7))
		row.Text(19, 0, style, termtext.Fit(termtext.Line(e.Name), max(c.W-20, 0)))
	})
}

// DrawAsk draws what is typed in the last row.
func (p *palettePage) DrawAsk(c canvas.Canvas) { p.Line.Draw(c, ":") }
