package monitor

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ralph/logs/termtext"
	"ralph/monitor/canvas"
	"ralph/state/question"
	"ralph/state/view"
)

// answersPage shows the questions that wait for a person. The last row asks for the answer to the selected one.
type answersPage struct {
	*logPage
	all      []question.Question
	selected int
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
		u.open("answers", newAnswers(u, all))
	}
}

func newAnswers(u *ui, all []question.Question) *answersPage {
	p := &answersPage{logPage: newText(u, "Questions", "u", nil), all: all}
	p.remake = func() []view.Line { return p.lines }
	p.bare = true
	p.ask("answer to "+all[0].ID, "")
	return p
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

// Draw draws the selected question, with the others around it in a line each.
func (p *answersPage) Draw(c canvas.Canvas) {
	var all []view.Line
	add := func(role view.Role, indent, text string) {
		for _, l := range linesOf(text, role) {
			l.Text = indent + l.Text
			all = append(all, l)
		}
	}
	at := 0
	for i, q := range p.all {
		if i != p.selected {
			add(view.RoleNote, "  ", termtext.Fit(q.ID+" "+termtext.Line(q.Text), c.W-4))
			continue
		}
		at = len(all)
		add(view.RoleWarning, "▸ ", q.ID+" "+q.Text)
		for n, option := range q.Options {
			add(view.RoleText, "    ", fmt.Sprintf("%d %s", n+1, option))
		}
		add(view.RoleNote, "    ", view.Prefix("task: ", q.Title))
		if q.Context != q.Text {
			add(view.RoleNote, "    ", q.Context)
		}
	}
	p.replace(all)
	p.top = place{p.first + at, 0}
	p.title.Right = fmt.Sprintf("%d of %d", p.selected+1, len(p.all))
	p.logPage.Draw(c)
}
