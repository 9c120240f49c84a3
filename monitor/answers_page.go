package monitor

// This file is the page of the questions that wait for a person: questions and keys
// in, cells and verbs out.

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gdamore/tcell/v2"

	"ralph/logs/termtext"
	"ralph/monitor/canvas"
	"ralph/state"
	"ralph/state/question"
	"ralph/state/view"
	"ralph/state/view/summary"
)

// answersPage is the open page. What a person types is the answer to the selected question.
type answersPage struct {
	all      []question.Question // that are open
	selected int
	line     inputLine
	rows     []target // what the latest draw put on each row
}

// openAnswersPage is a page of the open questions of a project; nil: there are none.
func openAnswersPage(r *state.Reader) (*answersPage, error) {
	list, err := question.In(r).List()
	return newAnswersPage(list), err
}

// newAnswersPage is a page of the open ones among these questions; nil if there is none.
func newAnswersPage(list []question.Question) *answersPage {
	open := slices.DeleteFunc(slices.Clone(list), func(q question.Question) bool { return !q.Open() })
	if len(open) == 0 {
		return nil
	}
	return &answersPage{all: open}
}

// target is what a row on the screen shows.
type target struct {
	question int // its index
	option   int // its number; 0: the row is none
}

// Click selects the question at a row below the title. On an option it types its number.
func (p *answersPage) Click(_, y int) {
	if y < 0 || y >= len(p.rows) {
		return
	}
	at := p.rows[y]
	if p.move(at.question - p.selected); at.option > 0 {
		p.line = inputLine{Text: strconv.Itoa(at.option)}
	}
}

// Option reports whether a row below the title is an option.
func (p *answersPage) Option(y int) bool { return y >= 0 && y < len(p.rows) && p.rows[y].option > 0 }

// answerAct is what to do after a key. The zero value: nothing.
type answerAct struct {
	Close bool
	Verb  []string // of ralph
	Say   string
}

// Key takes a key.
func (p *answersPage) Key(e *tcell.EventKey) answerAct {
	switch e.Key() {
	case tcell.KeyUp, tcell.KeyBacktab:
		p.move(-1)
		return answerAct{}
	case tcell.KeyDown, tcell.KeyTab:
		p.move(1)
		return answerAct{}
	}
	switch p.line.Key(e) {
	case inputLeft:
		return answerAct{Close: true}
	case inputEntered:
		return p.answer()
	}
	return answerAct{}
}

// move selects another question, and drops what was typed for the one before.
func (p *answersPage) move(by int) {
	to := min(max(p.selected+by, 0), len(p.all)-1)
	if to != p.selected {
		p.selected, p.line = to, inputLine{}
	}
}

// answer makes the verb. A number alone chooses an option where there are some.
func (p *answersPage) answer() answerAct {
	q, text := p.all[p.selected], strings.TrimSpace(p.line.Text)
	n, err := strconv.Atoi(text)
	switch {
	case text == "":
		return answerAct{Say: "type an answer first, or leave with esc"}
	case err == nil && len(q.Options) > 0 && (n < 1 || n > len(q.Options)):
		return answerAct{Say: fmt.Sprintf("%s has the options 1 to %d", q.ID, len(q.Options))}
	case err == nil && len(q.Options) > 0:
		return answerAct{Close: true, Verb: []string{"answer", q.ID, "--option", strconv.Itoa(n)}}
	}
	return answerAct{Close: true, Verb: []string{"answer", q.ID, "--", text}}
}

// Draw draws the selected question, with the others around it in a line each.
func (p *answersPage) Draw(c canvas.Canvas) {
	c.Title(canvas.Title{Name: "Questions", Key: "u", Focused: true,
		Right: fmt.Sprintf("%d of %d", p.selected+1, len(p.all))})
	c = c.Rows(1, c.H-1)
	type row struct {
		x     int
		text  string
		style tcell.Style
		of    target
	}
	var rows []row
	var of target
	add := func(x int, style tcell.Style, text string) {
		for line := range strings.Lines(text) {
			for _, part := range termtext.Wrap(termtext.Line(line), max(c.W-x-1, 1)) {
				rows = append(rows, row{x, part, style, of})
			}
		}
	}
	plain, at, end := tcell.StyleDefault, 0, 0
	for i, q := range p.all {
		of = target{question: i}
		if i != p.selected {
			rows = append(rows, row{1, termtext.Fit("  "+q.ID+" "+termtext.Line(q.Text), c.W-2), c.Dim(), of})
			continue
		}
		at = len(rows)
		add(1, c.Tone(summary.Warn).Bold(true), "▸ "+q.ID+" "+q.Text)
		for n, option := range q.Options {
			of.option = n + 1
			add(5, plain, fmt.Sprintf("%d %s", n+1, option))
		}
		of.option = 0
		add(5, c.Dim(), view.Prefix("task: ", q.Title))
		if q.Context != "" && q.Context != q.Text {
			add(5, c.Dim(), q.Context)
		}
		end = len(rows)
	}
	top := max(min(at, end-c.H, len(rows)-c.H), 0)
	if end-at > c.H {
		top = at
	}
	p.rows = nil
	for y, r := range rows[top:min(top+c.H, len(rows))] {
		c.Text(r.x, y, r.style, r.text)
		p.rows = append(p.rows, r.of)
	}
}

// DrawAsk draws the row in which the answer is typed.
func (p *answersPage) DrawAsk(c canvas.Canvas) {
	q := p.all[p.selected]
	ask := "answer to " + q.ID + ": "
	if len(q.Options) > 0 {
		ask = fmt.Sprintf("answer to %s (1 to %d, or a text): ", q.ID, len(q.Options))
	}
	p.line.Draw(c, ask)
}
