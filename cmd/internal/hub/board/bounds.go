package board

import (
	"html"
	"slices"

	"ralph/logs/termtext"
	"ralph/state"
	"ralph/state/question"
	"ralph/state/view/summary"
)

// What the lists of a page may take together, in bytes, so that the page always stays below
// 100 KiB.
const (
	roomAsked  = 18 << 10
	roomFound  = 10 << 10
	roomTasks  = 16 << 10
	roomChecks = 6 << 10
	roomUsage  = 3 << 10 // of each of its lists
	roomRows   = 14 << 10
	roomLog    = 18 << 10
)

// within keeps the first elements that fit into room bytes. text is what is shown of one; frame is the HTML around it.
func within[T any](all []T, room, frame int, text func(T) string) []T {
	for i, v := range all {
		if room -= frame + len(html.EscapeString(text(v))); room < 0 {
			return all[:i]
		}
	}
	return all
}

// fit cuts a text to a title's width.
func fit(s string) string { return termtext.Fit(termtext.Line(s), maxTitle) }

// trim bounds what the summary shows.
func (d *runData) trim() {
	d.What, d.Advice, d.Identity = termtext.Fit(d.What, 400), termtext.Fit(d.Advice, 400), termtext.Fit(d.Identity, 200)
	d.Asked, d.Plan.Task, d.Breaker.Reason = fit(d.Asked), fit(d.Plan.Task), fit(d.Breaker.Reason)
	d.Cost, d.Tokens = fit(d.Cost), fit(d.Tokens)
	same := func(s string) string { return s }
	for _, texts := range []*[]string{&d.Problems, &d.Plan.Slots, &d.Verdicts} {
		*texts = within(mapped(*texts, fit), roomUsage, 40, same)
	}
	d.Gauges = within(mapped(d.Gauges, func(g summary.Gauge) summary.Gauge {
		g.Label, g.Value, g.Note = fit(g.Label), fit(g.Value), fit(g.Note)
		return g
	}), roomUsage, 120, func(g summary.Gauge) string { return g.Label + g.Label + g.Value + g.Value + g.Note })
	d.Ends = within(mapped(d.Ends, func(e summary.End) summary.End { e.Text = fit(e.Text); return e }), roomUsage, 40,
		func(e summary.End) string { return e.Text })
	d.Checks = within(mapped(d.Checks, func(c summary.CheckLine) summary.CheckLine { c.Text = fit(c.Text); return c }),
		roomChecks, 60, func(c summary.CheckLine) string { return c.Text })
}

func mapped[T any](all []T, f func(T) T) []T {
	all = slices.Clone(all) // the originals belong to the model
	for i := range all {
		all[i] = f(all[i])
	}
	return all
}

// questions are the open questions, as many as there is room for.
func questions(open []question.Question) []question.Question {
	return within(mapped(open, bound), roomAsked, 1200, func(q question.Question) string {
		text := q.Title + q.Text
		for _, o := range q.Options {
			text += o
		}
		return text
	})
}

// findings are the items that a person has to look at, as many as there is room for.
func findings(all []state.ReviewItem) []state.ReviewItem {
	return within(mapped(all, func(i state.ReviewItem) state.ReviewItem {
		i.Text, i.Show = termtext.Fit(termtext.Line(i.Text), 400), fit(i.Show)
		return i
	}), roomFound, 500, func(i state.ReviewItem) string { return i.Text + i.Show })
}
