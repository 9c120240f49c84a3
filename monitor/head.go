package monitor

import (
	"cmp"
	"strconv"

	"ralph/logs/termtext"
	"ralph/monitor/canvas"
	"ralph/state"
	"ralph/state/view"
	"ralph/state/view/summary"
)

// drawHeader draws two rows: the state, where the screen is, and how far the run is; what happens now.
func (u *ui) drawHeader(c canvas.Canvas) {
	v := u.shown
	style := c.Tone(v.Tone).Bold(true)
	state := " " + v.Mark + " " + v.Word + " "
	right, sign, path := view.Join(" · ", v.Iteration, v.Elapsed), u.notes.text(), ""
	for _, s := range u.stack()[1:] {
		path += " › " + s.name
	}
	if termtext.Width(state+path+sign+right)+min(termtext.Width(v.Project), 12)+7 > c.W {
		right = view.Join("/", numberOf(v.Number), numberOf(v.Most))
	}
	room := c.W - termtext.Width(state+sign+right) - 7
	name := termtext.Fit(v.Project, max(room-termtext.Width(path), 6))
	x := c.Text(c.Text(0, 0, style.Reverse(true), state)+1, 0, plain.Bold(true), name)
	x = c.Text(x, 0, c.Dim(), canvas.FitEnd(path, max(room-termtext.Width(name), 0)))
	if sign != "" && right != "" {
		right = " · " + right
	}
	if at := c.W - termtext.Width(sign+right) - 1; at > x {
		c.Text(c.Text(at, 0, c.Tone(summary.Warn), sign), 0, plain, right)
	}
	c.Text(1, 1, c.Tone(v.Tone), v.Sentence(c.W-2))
}

// numberOf is a number; empty for 0.
func numberOf(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// want is something that a person should do or know, with the key for it.
type want struct {
	key, text string
	tone      summary.Tone
}

// wants are what needs a person, the most urgent first.
func (u *ui) wants() (all []want) {
	v, m := u.shown, &u.model
	add := func(key, text string, tone summary.Tone) {
		if text != "" {
			all = append(all, want{key, text, tone})
		}
	}
	for _, problem := range v.Problems {
		add("", problem, summary.Bad)
	}
	if n := u.notes.questions; n > 0 {
		add("u", "answer "+termtext.Count(n, "question")+": "+termtext.Line(u.notes.question), summary.Warn)
	}
	if n := len(m.Status.Review); n > 0 && m.State == state.StatusReview {
		add("c", termtext.Count(n, "finding")+" to look at", summary.Warn)
	}
	switch {
	case v.Asked != "":
		add(map[bool]string{true: "p"}[v.Resumable], v.Asked, summary.Busy)
	case v.Advice != "" && (u.notes.questions == 0 || m.Status.Rule != state.RuleQuestion):
		add(map[bool]string{true: "p"}[v.Resumable && v.Alive], v.Advice, cmp.Or(v.Tone, summary.Busy))
	}
	if b := v.Breaker; v.Alive && b.Tone != summary.Good {
		add("", "stuck? "+view.Join(": ", b.Stuck, b.Says), b.Tone)
	}
	return all
}

// drawWants draws a row for each.
func drawWants(c canvas.Canvas, all []want) {
	for y, w := range all {
		style := c.Tone(w.tone).Bold(true)
		x := c.Text(1, y, style.Reverse(true), " "+cmp.Or(w.key, "!")+" ") + 1
		fit := canvas.FitEnd // advice ends with what to type
		if w.key == "u" {
			fit = termtext.Fit
		}
		c.Text(x, y, style, fit(w.text, c.W-x-1))
	}
}
