package keys

import (
	"github.com/gdamore/tcell/v2"

	"ralph/logs/termtext"
	"ralph/monitor/canvas"
)

// maxLine bounds what a person types, in bytes.
const maxLine = 2000

// Line is a text that a person types.
type Line struct{ Text string }

// Edge says whether a key has ended a Line.
type Edge int

// The edges.
const (
	Typing Edge = iota
	Entered
	Left // without an answer
)

// Key changes the text.
func (l *Line) Key(e *tcell.EventKey) Edge {
	switch e.Key() {
	case tcell.KeyEnter:
		return Entered
	case tcell.KeyEscape, tcell.KeyCtrlC:
		return Left
	case tcell.KeyBackspace, tcell.KeyBackspace2:
		if r := []rune(l.Text); len(r) > 0 {
			l.Text = string(r[:len(r)-1])
		}
	case tcell.KeyCtrlU:
		l.Text = ""
	case tcell.KeyRune:
		if len(l.Text) < maxLine {
			l.Text += string(e.Rune())
		}
	}
	return Typing
}

// Draw draws a question and the text; of a long text the end. The question leaves it a third of the row.
func (l *Line) Draw(c canvas.Canvas, question string) {
	plain := tcell.StyleDefault
	if room := c.W * 2 / 3; termtext.Width(question) > room {
		question = termtext.Fit(question, room-1) + " "
	}
	x := c.Text(1, 0, plain.Bold(true), question)
	text := []rune(l.Text)
	for len(text) > 0 && termtext.Width(string(text)) > c.W-x-2 {
		text = text[1:]
	}
	x = c.Text(x, 0, plain, string(text))
	c.Text(x, 0, plain.Reverse(true), " ")
}
