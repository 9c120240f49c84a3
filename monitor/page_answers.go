package monitor

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gdamore/tcell/v2"

	"ralph/logs/termtext"
	"ralph/monitor/canvas"
	"ralph/state/question"
	"ralph/state/view"
	"ralph/state/view/summary"
)

// answersPage shows the questions that wait for a person. The last row asks for the answer to the selected one.
type answersPage struct {
	u        *ui
	all      []question.Question
	selected int
	rows     []target // what the latest draw put on each row
}

// target is what a row on the screen shows.
type target struct {
	question int // its index
	option   int // its number; 0: the row is none
}

// openAnswers opens the page of the questions that wait for a person.
func (u *ui) openAnswers() {
	all, err := question.In(u.feed.Reader()).List()
	all = slices.DeleteFunc(all, func(q question.Question) bool { return !q.Open() })
	switch {
	case err != nil:
		u.fail(err.Error())
	case len(all) == 0:
		u.say("no question waits for an answer")
	default:
		p := &answersPage{u: u, all: all}
		u.open("answers", p)
		p.ask("answer to "+all[0].ID, "")
	}
}

// ask asks for the answer to the selected question.
func (p *answersPage) ask(words, text string) {
	if n := len(p.all[p.selected].Options); n > 0 {
		words += fmt.Sprintf(" (1 to %d, or a text)", n)
	}
	q := p.u.ask(words+": ", text, p.answer)
	q.left, q.moves = p.u.closeFront, p.Scroll
}

// answer runs the verb. A number alone chooses an option where there are some.
func (p *answersPage) answer(text string) {
	q := p.all[p.selected]
	text = strings.TrimSpace(text)
	n, err := strconv.Atoi(text)
	verb := []string{"answer", q.ID, "--", text}
	switch {
	case text == "":
		p.ask("type an answer to "+q.ID+", or leave with esc", "")
		return
	case err == nil && len(q.Options) > 0 && (n < 1 || n > len(q.Options)):
		p.ask(q.ID+" has no option "+text, text)
		return
	case err == nil && len(q.Options) > 0:
		verb = []string{"answer", q.ID, "--option", strconv.Itoa(n)}
	}
	p.u.closeFront()
	p.u.act(verb...)
}

// Keys are none: what is typed is the answer.
func (p *answersPage) Keys() []binding { return nil }

// Scroll selects another question, and drops what was typed for the one before.
func (p *answersPage) Scroll(by int) {
	if to := min(max(p.selected+by, 0), len(p.all)-1); to != p.selected {
		p.selected = to
		p.ask("answer to "+p.all[to].ID, "")
	}
}

// Click selects the question at a row below the title. On an option it types its number.
func (p *answersPage) Click(_, y int) {
	if y < 0 || y >= len(p.rows) {
		return
	}
	at := p.rows[y]
	if p.Scroll(at.question - p.selected); at.option > 0 {
		p.ask("answer to "+p.all[p.selected].ID, strconv.Itoa(at.option))
	}
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
	at, end := 0, 0
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
