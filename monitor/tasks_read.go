package monitor

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"ralph/logs/termtext"
	"ralph/state"
	"ralph/state/act"
	"ralph/state/view"
	"ralph/state/view/summary"
)

// shownTask is a row of `ralph task list --json`.
type shownTask struct {
	act.Task
	name string // id and title, as far as the id tells more
}

// readTasks reads what `ralph task list --json` prints. The texts of one line are clean then.
func readTasks(data []byte) ([]shownTask, error) {
	var all []shownTask
	if err := json.Unmarshal(data, &all); err != nil {
		return nil, fmt.Errorf("read the list of tasks: %w", err)
	}
	for i := range all {
		t := &all[i]
		t.Title = termtext.Line(t.Title)
		for _, s := range []*string{&t.State, &t.Word, &t.Why, &t.Category, &t.Agent, &t.Model, &t.AgentFrom, &t.File,
			&t.Section} {
			*s = termtext.Line(*s)
		}
		t.named() // here, not in Load: 20,000 names take as long to make as four frames to draw
	}
	return all, nil
}

// pending reports whether work on the task is left.
func (t *shownTask) pending() bool { return t.State != "done" && t.State != "dropped" }

// named sets the name.
func (t *shownTask) named() {
	if t.name != "" {
		return
	}
	words := strings.FieldsFunc(t.Title, func(r rune) bool { return strings.ContainsRune(" *:()[]", r) })
	t.name = t.Title
	if known := len(words) > 0 && words[0] == t.ID || len(t.ID) > 2 && slices.Contains(words, t.ID); !known &&
		!view.Computed(t.ID) {
		t.name = termtext.Line(t.ID) + "  " + t.Title
	}
}

// Name is the title, after the id where that tells more.
func (t *shownTask) Name() string {
	t.named()
	return t.name
}

// worker is the agent of the task; empty: the agent of the run.
func (t *shownTask) worker() string { return strings.TrimSpace(t.Agent + " " + t.Model) }

// workerFrom is worker with where its name comes from.
func (t *shownTask) workerFrom() string {
	if t.worker() == "" || t.AgentFrom == "" {
		return t.worker()
	}
	return fmt.Sprintf("%s (named by the %s)", t.worker(), t.AgentFrom)
}

// work is what the run on the screen did for a task.
type work struct {
	turns   []int // indexes of its iterations
	seconds float64
	cost    float64
	agent   string    // of the latest turn
	found   int       // findings
	since   time.Time // of the turn that runs; zero: none
}

func (w work) span(now time.Time) string {
	d := view.Seconds(w.seconds)
	if !w.since.IsZero() {
		d += max(now.Sub(w.since), 0)
	}
	if d <= 0 {
		return ""
	}
	return view.Span(d)
}

// worked sums the iterations of a run up by task.
func worked(r *view.Run) map[string]work {
	all := map[string]work{}
	for i := range r.Iterations {
		it := &r.Iterations[i]
		if it.TaskID == "" {
			continue
		}
		w := all[it.TaskID]
		w.turns = append(w.turns, i)
		w.seconds += it.Seconds
		w.cost += it.CostUSD
		w.found += it.Found
		w.agent = cmp.Or(it.Agent, w.agent)
		if it.Running() {
			w.since = it.StartedAt
		}
		all[it.TaskID] = w
	}
	return all
}

// state is the state of a task. Where the plan has no word for it, a task is active while a turn works on it.
func (p *tasksPage) state(t *shownTask) string {
	if t.State == "open" && !p.work[t.ID].since.IsZero() {
		return "active"
	}
	return t.State
}

// mark is the mark of a task; one that is open and cannot be worked on looks blocked.
func (p *tasksPage) mark(t *shownTask) (mark string, tone summary.Tone) {
	state := p.state(t)
	if state == "open" && t.Why != "" {
		state = "blocked"
	}
	return summary.TaskMark(state)
}

// taskText is a line of the details.
type taskText struct {
	text string
	tone summary.Tone
	bold bool
	dim  bool
}

// details says all that is known about a task.
func (p *tasksPage) details(t *shownTask, m *view.Model, now time.Time) (all []taskText) {
	state := p.state(t)
	mark, tone := p.mark(t)
	all = append(all, taskText{text: t.name, bold: true},
		taskText{text: view.Join(" · ", mark+" "+state, t.Why, p.about(t)), tone: tone})
	place := t.File
	if t.Line > 0 {
		place = view.Join(" ", t.File, fmt.Sprintf("line %d", t.Line))
	}
	for _, field := range []struct{ name, value string }{
		{"category", t.Category}, {"section", t.Section}, {"tags", strings.Join(t.Tags, ", ")},
		{"needs", strings.Join(t.DependsOn, ", ")}, {"agent", cmp.Or(t.workerFrom(), p.work[t.ID].agent)},
		{"place", place},
	} {
		if field.value != "" {
			all = append(all, taskText{text: fmt.Sprintf("%-9s %s", field.name, termtext.Line(field.value)), dim: true})
		}
	}
	for _, part := range []struct{ heading, body string }{
		{"", t.Description}, {"It is done when", bullets(t.Criteria)}, {"Notes", t.Notes},
	} {
		body := strings.TrimSpace(termtext.Clean(part.body))
		if body == "" {
			continue
		}
		all = append(all, taskText{})
		if part.heading != "" {
			all = append(all, taskText{text: part.heading, bold: true})
		}
		for line := range strings.Lines(body) {
			all = append(all, taskText{text: strings.TrimRight(line, "\n")})
		}
	}
	return append(all, p.history(t, m, now)...)
}

func bullets(items []string) string {
	var b strings.Builder
	for _, item := range items {
		b.WriteString("- " + strings.ReplaceAll(strings.TrimSpace(item), "\n", "\n  ") + "\n")
	}
	return b.String()
}

// about says why a task cannot be worked on, and gives the file's own word for its state.
func (p *tasksPage) about(t *shownTask) string {
	var all []string
	if t.Optional {
		all = append(all, "optional")
	}
	if t.Word != "" {
		all = append(all, fmt.Sprintf("marked %q", t.Word))
	}
	for _, id := range t.DependsOn {
		if i, known := p.at[id]; t.pending() && (!known || p.all[i].State != "done") {
			all = append(all, "waits for "+termtext.Line(id))
		}
	}
	return strings.Join(all, " · ")
}

// history lists the iterations of this run that worked on a task.
func (p *tasksPage) history(t *shownTask, m *view.Model, now time.Time) []taskText {
	w := p.work[t.ID]
	heading := view.Join(" · ", "History", view.Prefix("attempts ", number(max(t.Attempts, len(w.turns)))), w.span(now),
		view.Dollars(w.cost))
	all := []taskText{{}, {text: heading, bold: true}}
	if len(w.turns) == 0 {
		return append(all, taskText{text: "no turn of this run has worked on it", dim: true})
	}
	for _, i := range w.turns {
		if i >= len(m.Run.Iterations) {
			continue
		}
		row := summary.Row(m, i, now)
		all = append(all, taskText{text: view.Join("  ", fmt.Sprintf("%4d %s %8s", row.Number, row.Mark, row.Duration),
			row.Cost, row.Text), tone: row.Tone})
		it := &m.Run.Iterations[i]
		for _, why := range append([]string{view.Join(": ", view.Unless(state.RuleContinue, it.Rule), it.Reason)},
			it.Findings...) {
			if why = termtext.Line(why); why != "" && !it.Running() {
				all = append(all, taskText{text: "       " + why, dim: true})
			}
		}
	}
	return all
}

func number(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}
