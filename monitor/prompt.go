package monitor

import (
	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"

	"ralph/logs/termtext"
	"ralph/monitor/canvas"
	"ralph/state/view/summary"
)

// maxLine bounds what a person types, in bytes.
const maxLine = 2000

// prompt is what the last row asks: a text, or y or n. It takes all keys.
type prompt struct {
	question string
	field    *tview.InputField // nil: y or n
	entered  func(text string) // after Enter, or y
	typed    func(text string) // after each change; nil: nothing
	left     func()            // without an answer; nil: nothing
	moves    func(by int)      // for the keys that move in a list; nil: nothing
}

// confirm asks before something that throws work away. Only y confirms.
func (u *ui) confirm(question string, then func()) {
	u.prompt = &prompt{question: question, entered: func(string) { then() }}
}

// ask opens a prompt in which the user edits a text.
func (u *ui) ask(question, text string, entered func(text string)) *prompt {
	field := tview.NewInputField().SetText(text).SetFieldStyle(plain).SetLabelStyle(plain.Bold(true)).
		SetAcceptanceFunc(tview.InputFieldMaxLength(maxLine))
	field.SetBackgroundColor(tcell.ColorDefault)
	field.Focus(func(tview.Primitive) {})
	u.prompt = &prompt{question: question, field: field, entered: entered}
	return u.prompt
}

// answer handles a key while the prompt is open.
func (u *ui) answer(e *tcell.EventKey) {
	q, name := u.prompt, keyName(e)
	rows := map[string]int{"up": -1, "backtab": -1, "down": 1, "tab": 1, "pgup": -10, "pgdn": 10}[name]
	switch {
	case q.field == nil:
		if u.prompt = nil; name == "y" || name == "Y" {
			q.entered("")
		}
	case name == "enter":
		u.prompt = nil
		q.entered(q.field.GetText())
	case name == "esc" || name == "ctrl-c":
		if u.prompt = nil; q.left != nil {
			q.left()
		}
	case rows != 0:
		if q.moves != nil {
			q.moves(rows)
		}
	default:
		before := q.field.GetText()
		q.field.InputHandler()(e, func(tview.Primitive) {})
		if text := q.field.GetText(); q.typed != nil && text != before {
			q.typed(text)
		}
	}
}

// draw draws the prompt. The question gets at most two thirds of the row.
func (q *prompt) draw(c canvas.Canvas) {
	if q.field == nil {
		const yes = " (y/n)"
		c.Text(1, 0, c.Tone(summary.Bad), termtext.Fit(q.question, c.W-2-len(yes))+yes)
		return
	}
	label := q.question
	if room := c.W * 2 / 3; termtext.Width(label) > room {
		label = termtext.Fit(label, room-1) + " "
	}
	q.field.SetLabel(tview.Escape(label)).SetRect(c.X+1, c.Y, c.W-1, 1)
	q.field.Draw(c.Screen)
}
