package monitor

import (
	"github.com/gdamore/tcell/v2"

	"ralph/logs/termtext"
	"ralph/monitor/canvas"
)

// maxLine bounds what a person types, in bytes.
const maxLine = 2000

// inputLine is a text that a person types.
type inputLine struct{ Text string }

// inputEdge says whether a key has ended an inputLine.
type inputEdge int

// The edges.
const (
	inputTyping inputEdge = iota
	inputEntered
	inputLeft // without an answer
)

// Key changes the text.
func (l *inputLine) Key(e *tcell.EventKey) inputEdge {
	switch e.Key() {
	case tcell.KeyEnter:
		return inputEntered
	case tcell.KeyEscape, tcell.KeyCtrlC:
		return inputLeft
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
	return inputTyping
}

// Draw draws a question and the text; of a long text the end. The question leaves it a third of the row.
func (l *inputLine) Draw(c canvas.Canvas, question string) {
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
