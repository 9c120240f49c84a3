package board

import (
	"context"
	"fmt"
	"html"
	"slices"
	"time"

	"ralph/logs/termtext"
	"ralph/state"
	"ralph/state/act"
	"ralph/state/question"
	"ralph/state/report"
	"ralph/state/view"
	"ralph/state/view/summary"
)

// Bounds of a page, so that it stays below 100 KiB.
const (
	maxRows  = 60
	maxTasks = 80
	maxBars  = 300
	maxTitle = 160 // cells
)

// runParts are the parts of the page of a run, each a template.
func runParts() []string {
	return []string{"now", "asked", "plan", "checks", "usage", "time", "iterations"}
}

// runData is what the parts show.
type runData struct {
	summary.Summary
	project
	shell
	Run       string
	Rows      []summary.IterationRow
	Tasks     []act.Task
	More      int // tasks that are left out
	MoreAsked int // questions and findings that are left out
	Questions []question.Question
	Review    []state.ReviewItem
	Bars      []report.Bar
	Uses      []report.Use
	Verdicts  []string
}

// LatestNotes are the latest few notes. The log has the others.
func (d runData) LatestNotes() []view.Note {
	return mapped(d.Notes[max(0, len(d.Notes)-8):], func(n view.Note) view.Note { n.Text = fit(n.Text); return n })
}

// Accepts reports whether findings can be accepted now.
func (d runData) Accepts() bool { return !d.Alive && d.Word == "REVIEW" }

// shell is what every page needs: whether it acts, and where the token of a form belongs.
type shell struct {
	Acts  bool
	Token string
}

func (f *feed) data(ctx context.Context, now time.Time) runData {
	asked := openQuestions(f.project)
	f.mu.Lock()
	defer f.mu.Unlock()
	m := &f.model
	s := f.fresh(ctx, now)
	d := runData{Summary: summary.Of(m, now), project: f.project, Run: m.Status.RunID,
		Review: findings(m.Status.Review), Questions: questions(asked), shell: shell{f.board.Actions, f.board.mark}}
	d.Rows = rowsOf(m, now)
	for _, said := range state.VerdictLines(m.Status.Verdicts) {
		d.Verdicts = append(d.Verdicts, termtext.Line(said))
	}
	d.MoreAsked = len(asked) - len(d.Questions) + len(m.Status.Review) - len(d.Review)
	d.trim()
	d.Tasks = window(s.tasks)
	d.More = len(s.tasks) - len(d.Tasks)
	if s.report != nil && s.report.Run == d.Run {
		d.Uses = s.report.Uses()
		if d.Bars = s.report.Bars(); len(d.Bars) > maxBars {
			d.Bars = nil // the report has it
		}
	}
	return d
}

// rowsOf are the latest iterations, the latest first.
func rowsOf(m *view.Model, now time.Time) (rows []summary.IterationRow) {
	for i := len(m.Run.Iterations) - 1; i >= 0 && len(rows) < maxRows; i-- {
		row := summary.Row(m, i, now)
		row.Title, row.Text = termtext.Fit(row.Title, maxTitle), termtext.Fit(row.Text, maxTitle)
		rows = append(rows, row)
	}
	return within(rows, roomRows, 200, func(r summary.IterationRow) string { return r.Title + r.Text })
}

// window is a part of the tasks. It begins with the last few that are done.
func window(all []act.Task) []act.Task {
	first := slices.IndexFunc(all, func(t act.Task) bool { return t.State != "done" && t.State != "dropped" })
	if len(all) <= maxTasks {
		first = 0
	}
	first = min(max(first-10, 0), max(len(all)-maxTasks, 0))
	shown := slices.Clone(all[first:min(first+maxTasks, len(all))])
	for i := range shown {
		shown[i].Title, shown[i].Why = termtext.Fit(shown[i].Title, maxTitle), termtext.Fit(shown[i].Why, maxTitle)
	}
	return within(shown, roomTasks, 600, func(t act.Task) string {
		return t.Title + t.Title + t.Title + t.ID + t.ID + t.Why
	})
}

// bound keeps a question from filling the page.
func bound(q question.Question) question.Question {
	const text, options = 2000, 12
	cut := func(s string) string {
		if len(s) > text {
			return fmt.Sprintf("%s… (ralph questions %s has it whole)", termtext.Clean(s[:text]), q.ID)
		}
		return s
	}
	q.Title, q.Text = fit(q.Title), cut(q.Text)
	q.Options = q.Options[:min(len(q.Options), options)]
	for i := range q.Options {
		q.Options[i] = termtext.Fit(q.Options[i], maxTitle)
	}
	return q
}

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
	d.Asked, d.Plan.Task, d.Breaker.Says = fit(d.Asked), fit(d.Plan.Task), fit(d.Breaker.Says)
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
