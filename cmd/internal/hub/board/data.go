package board

import (
	"context"
	"fmt"
	"html"
	"math"
	"slices"
	"strings"
	"time"

	"ralph/logs/termtext"
	"ralph/state"
	"ralph/state/act"
	"ralph/state/question"
	"ralph/state/report"
	"ralph/state/view"
	"ralph/state/view/summary"
)

// Bounds of a page, so that it stays below 60 KiB.
const (
	maxRows  = 60
	maxTasks = 80
	maxOpen  = 12  // tasks that are not folded
	maxTitle = 160 // cells
	maxCells = 50  // iterations in a strip
)

// runParts are the parts of the page of a run, each a template.
func runParts() []string {
	return []string{"head", "strip", "plan", "facts", "asked", "iterations"}
}

// runData is what the parts show.
type runData struct {
	summary.Summary
	runLinks
	shell
	Rows      []summary.IterationRow
	Strip     strip
	Done      []act.Task // the latest
	Open      []act.Task // the next
	Later     []act.Task
	More      int // tasks that are left out
	MoreAsked int // questions and findings that are left out
	Questions []question.Question
	Review    []state.ReviewItem
	Uses      []report.Use
	Verdicts  []string
}

// Waits says what a person has to do; empty: nothing.
func (d runData) Waits() string {
	all := ""
	for _, some := range []struct {
		n    int
		word string
	}{{len(d.Questions), "question"}, {len(d.Review), "finding"}, {d.MoreAsked, "more item"}} {
		if some.n > 0 {
			all = view.Join(", ", all, termtext.Count(some.n, some.word))
		}
	}
	return view.Prefix("for you: ", all)
}

// asking is a question with its form.
type asking struct {
	question.Question
	project
	shell
	Run string
}

// With is a question on the page of the run. Its own page has all of its text.
func (d runData) With(q question.Question) asking {
	if short := termtext.Fit(q.Text, 600); short != q.Text {
		q.Text = short
	}
	return asking{q, d.project, d.shell, d.Run}
}

// found is a finding with its form.
type found struct {
	state.ReviewItem
	project
	shell
	Run     string
	Accepts bool
	Diff    string // HTML
}

// Brief is the finding as the title of what is folded.
func (f found) Brief() string { return termtext.Fit(f.Text, 80) }

// Finding is a finding on the page of the run.
func (d runData) Finding(i state.ReviewItem) found {
	return found{i, d.project, d.shell, d.Run, d.Accepts(), ""}
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
	d := runData{Summary: summary.Of(m, now), runLinks: runLinks{f.project, m.Status.RunID}, Strip: stripOf(m, maxCells, now),
		Review: findings(m.Status.Review), Questions: questions(asked), shell: shell{f.board.Actions, f.board.mark},
		Rows: rowsOf(m, now), Verdicts: state.VerdictLines(m.Status.Verdicts)}
	d.MoreAsked = len(asked) - len(d.Questions) + len(m.Status.Review) - len(d.Review)
	d.trim()
	tasks := window(s.tasks)
	d.More = len(s.tasks) - len(tasks)
	for _, t := range tasks {
		switch {
		case over(t):
			d.Done = append(d.Done, t)
		case len(d.Open) < maxOpen:
			d.Open = append(d.Open, t)
		default:
			d.Later = append(d.Later, t)
		}
	}
	if s.report != nil && s.report.Run == d.Run {
		d.Uses = s.report.Uses()
	}
	return d
}

// strip is a picture of the latest iterations: a bar each, as high as it took long, with a gap where the run waited.
type strip struct {
	Cells []cell
	W     int
}

type cell struct {
	Number  int
	Tone    summary.Tone
	Title   string
	X, Y, H int
}

const (
	pitch  = 16 // from bar to bar
	height = 28
	waited = 2 * time.Minute // between two iterations, so that it shows
)

func stripOf(m *view.Model, most int, now time.Time) (s strip) {
	all := m.Run.Iterations
	first, longest := max(0, len(all)-most), 1.0
	took := func(it *view.Iteration) float64 {
		if it.Running() {
			return now.Sub(it.StartedAt).Seconds()
		}
		return it.Seconds
	}
	for i := first; i < len(all); i++ {
		longest = max(longest, took(&all[i]))
	}
	for i := first; i < len(all); i++ {
		row := summary.Row(m, i, now)
		if i > first && all[i].StartedAt.Sub(all[i-1].Ended) > waited && !all[i-1].Ended.IsZero() {
			s.W += pitch
		}
		h := 6 + int((height-6)*math.Sqrt(max(0, took(&all[i]))/longest))
		s.Cells = append(s.Cells, cell{row.Number, row.Tone, fmt.Sprintf("%d · %s",
			row.Number, view.Join(" · ", termtext.Fit(row.Title, 40), termtext.Fit(row.Text, 40), row.Duration, row.Cost)), s.W, height - h, h})
		s.W += pitch
	}
	s.Cells = within(s.Cells, roomStrip, 170, func(c cell) string { return c.Title })
	return s
}

func shortRow(m *view.Model, i int, now time.Time) summary.IterationRow {
	row := summary.Row(m, i, now)
	row.Title, row.Text = fit(row.Title), fit(row.Text)
	return row
}

// rowsOf are the latest iterations, the latest first.
func rowsOf(m *view.Model, now time.Time) (rows []summary.IterationRow) {
	for i := len(m.Run.Iterations) - 1; i >= 0 && len(rows) < maxRows; i-- {
		rows = append(rows, shortRow(m, i, now))
	}
	return within(rows, roomRows, 300, func(r summary.IterationRow) string { return r.Title + r.Text })
}

// over reports whether nothing is left to do for a task.
func over(t act.Task) bool { return t.State == "done" || t.State == "dropped" }

// unproven reports whether only the agent says that a task is done.
func unproven(t act.Task) bool { return t.Proof == state.ProofWord && len(t.Work) > 0 }

func fitTask(t act.Task) act.Task {
	t.Title, t.Why = fit(t.Title), fit(t.Why)
	return t
}

// window is a part of the tasks. It begins with the last few that are done.
func window(all []act.Task) []act.Task {
	first := slices.IndexFunc(all, func(t act.Task) bool { return !over(t) })
	if len(all) <= maxTasks {
		first = 0
	}
	first = min(max(first-10, 0), max(len(all)-maxTasks, 0))
	return within(mapped(all[first:min(first+maxTasks, len(all))], fitTask), roomTasks, 200, func(t act.Task) string { return t.Title + t.ID + t.ID + t.ID + t.Why })
}

// bound keeps a question from filling the page.
func bound(q question.Question) question.Question {
	const most, options = 2000, 12
	if len(q.Text) > most {
		q.Text = fmt.Sprintf("%s… (ralph questions %s has it whole)", termtext.Clean(q.Text[:most]), q.ID)
	}
	q.Title, q.Options = fit(q.Title), mapped(q.Options[:min(len(q.Options), options)], fit)
	return q
}

// What the lists of a page may take together, in bytes, so that the page always stays below
// 60 KiB.
const (
	roomAsked  = 8 << 10
	roomFound  = 5 << 10
	roomTasks  = 9 << 10
	roomChecks = 2 << 10
	roomUsage  = 3 << 9 // of each of its lists
	roomRows   = 6 << 10
	roomLog    = 9 << 10
	roomStrip  = 9 << 10
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
		return q.Title + q.Text + strings.Join(q.Options, "")
	})
}

// findings are the items that a person has to look at, as many as there is room for.
func findings(all []state.ReviewItem) []state.ReviewItem {
	return within(mapped(all, func(i state.ReviewItem) state.ReviewItem {
		i.Text, i.Show = termtext.Fit(termtext.Line(i.Text), 400), fit(i.Show)
		return i
	}), roomFound, 500, func(i state.ReviewItem) string { return i.Text + i.Show })
}
