package monitor

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sahilm/fuzzy"

	"ralph/logs/termtext"
	"ralph/monitor/canvas"
	"ralph/state"
	"ralph/state/act"
	"ralph/state/view"
	"ralph/state/view/summary"
)

// tasksAge is how old the list of tasks may get: other programs edit plans, too.
const tasksAge = 2 * time.Second

// tasksPage is the page of tasks, or the list of them in the panel of the plan.
type tasksPage struct {
	u      *ui
	all    []shownTask
	at     map[string]int // index by id
	ready  bool           // the tasks were read
	why    string         // they could not be
	work   map[string]work
	detail *logPage // the page of the task that was opened last

	shown    []int // indexes of the tasks in the list
	query    string
	selected int // in shown
	top      int // first row on the screen
	height   int // rows, at the latest draw
	width    int
	head     int // rows above the first task

	quiet   bool      // it is in the panel: nothing is selected
	wanted  bool      // there was room for it in the panel
	reading bool      // the plan is being read
	stale   bool      // it has to be read again
	next    time.Time // when it is read again in any case
}

// openTasks opens the page of tasks.
func (u *ui) openTasks() {
	if why := u.noRalph(); why != "" {
		u.fail("no list of tasks: " + why)
		return
	}
	p := &tasksPage{u: u}
	u.open("tasks", p)
	p.read()
}

// Update reads the plan again if it may have changed.
func (p *tasksPage) Update(up view.Update) {
	if len(up.Events) > 0 {
		p.work = worked(&p.u.model.Run)
	}
	if changesPlan(up.Events) || time.Now().After(p.next) {
		p.read()
	}
}

// changesPlan reports whether the plan is different after these events.
func changesPlan(events []state.Event) bool {
	return slices.ContainsFunc(events, func(e state.Event) bool {
		switch e.Data.(type) {
		case state.IterationStart, state.IterationEnd, state.TaskChange:
			return true
		}
		return false
	})
}

// read reads the plan in the background, once at a time.
func (p *tasksPage) read() {
	if p.stale = p.reading; p.reading {
		return
	}
	p.reading = true
	ralph, began := p.u.ralph(), time.Now()
	p.u.background(func() func() {
		all, err := listTasks(ralph)
		return func() {
			p.reading, p.next = false, time.Now().Add(tasksAge+10*time.Since(began))
			switch {
			case p.stale:
				p.read()
			case err == nil:
				p.load(all)
			case !p.ready: // what was read before stays
				p.why = err.Error()
			}
		}
	})
}

// listTasks asks ralph for the tasks.
func listTasks(ralph act.Ralph) ([]shownTask, error) {
	out, err := ralph.Output(context.Background(), "task", "list", "--json")
	if err != nil {
		return nil, err
	}
	return readTasks(out)
}

// Keys are the keys of the page.
func (p *tasksPage) Keys() []binding {
	return slices.Concat([]binding{
		{"enter", "details", "the task with its criteria and history, and back", p.with(p.openDetails)},
	}, p.taskKeys(), []binding{
		{"J", "", "move the task down in the plan", p.with(func(t *shownTask) { p.move(t, 1) })},
		{"K", "", "move the task up in the plan", p.with(func(t *shownTask) { p.move(t, -1) })},
		{"/", "find", "find tasks: letters of the id and title in their order; an empty text shows all", p.askQuery},
	}, moveKeys("pgup ctrl-u", p.Scroll, func() int { return max(p.height-1, 1) }))
}

// taskKeys act on the selected task.
func (p *tasksPage) taskKeys() []binding {
	return []binding{
		{"a", "add", "add a task at the end of the plan", p.add},
		{"e", "edit", "edit the task in $EDITOR", p.with(p.edit)},
		{"d", "diff", "what the iterations of this run changed for the task, to look at and to undo",
			p.with(func(t *shownTask) { p.u.showChanges(t.ID, "task "+t.ID) })},
		{"x", "done", "mark the task as done, or open one that is done, blocked or dropped again (asks first)", p.with(p.tick)},
		{"u", "", "answer the questions of agents", p.u.openAnswers},
	}
}

// with does something with the selected task.
func (p *tasksPage) with(do func(t *shownTask)) func() {
	return func() {
		if t := p.task(); t != nil {
			do(t)
		} else {
			p.u.say("no task is selected")
		}
	}
}

// openDetails opens the page of a task.
func (p *tasksPage) openDetails(t *shownTask) {
	id, last := t.ID, p.details(t)
	p.detail = newText(p.u, "Task", "enter", func() []view.Line {
		if i, known := p.at[id]; known {
			last = p.details(&p.all[i])
		}
		return last
	})
	p.detail.title.Right = fmt.Sprintf("%s of %s", thousands(p.selected+1), thousands(len(p.shown)))
	p.detail.bare, p.detail.keys = true, p.taskKeys
	p.u.open("task", p.detail)
	p.detail.replace(last)
}

// Back ends a search.
func (p *tasksPage) Back() bool {
	searched := p.query != ""
	if searched {
		p.search("")
	}
	return searched
}

func (p *tasksPage) askQuery() {
	q := p.u.ask("/", p.query, p.search)
	q.typed, q.left = p.search, func() { p.search("") }
}

func (p *tasksPage) add() {
	p.u.ask("new task: ", "", func(text string) {
		if text = termtext.Line(text); text != "" {
			p.u.act("task", "add", "--", text)
		}
	})
}

func (p *tasksPage) edit(t *shownTask) {
	ralph, verb := p.u.o.Ralph, []string{"task", "edit", "--", t.ID}
	p.u.inTerminal(func() error { return editedBy(ralph, verb) })
	p.u.later = append(p.u.later, func() {
		defer p.u.lock()()
		p.read()
	})
}

// confirm asks before a verb that changes a task.
func (p *tasksPage) confirm(question string, t *shownTask, verb string) {
	id := t.ID
	p.u.confirm(fmt.Sprintf("%q %s", termtext.Fit(t.Title, 30), question), func() { p.u.act("task", verb, "--", id) })
}

func (p *tasksPage) tick(t *shownTask) {
	if t.pending() && t.State != "blocked" {
		p.confirm("mark it as done?", t, "done")
	} else {
		p.confirm("open it again?", t, "reopen")
	}
}

// move moves a task by one.
func (p *tasksPage) move(t *shownTask, by int) {
	i := p.neighbor(p.at[t.ID], by)
	where := "--after="
	if by < 0 {
		where = "--before="
	}
	switch {
	case p.query != "":
		p.u.say("a search hides the order; esc ends it")
	case i < 0:
		p.u.say("it cannot go further")
	case p.u.working > 0 || p.reading: // its neighbor may be another one then
		p.u.say("wait until the plan has been changed")
	default:
		p.u.act("task", "move", where+p.all[i].ID, "--", t.ID)
	}
}

// load shows tasks. The selected one stays selected; at first it is the one at hand, if it is left to do.
func (p *tasksPage) load(all []shownTask) {
	id, at, first := p.chosen(), p.selected, !p.ready
	p.all, p.at, p.ready, p.why = all, make(map[string]int, len(all)), true, ""
	for i := range all {
		p.at[all[i].ID] = i
	}
	p.work = worked(&p.u.model.Run)
	p.find()
	p.selected = min(at, max(len(p.shown)-1, 0))
	if p.choose(id); first {
		p.choose(p.u.model.Status.Task.ID)
		p.chooseLeft()
	}
	if p.detail != nil {
		p.detail.Update(view.Update{})
	}
}

// chosen is the id of the selected task; empty if there is none.
func (p *tasksPage) chosen() string {
	if t := p.task(); t != nil {
		return t.ID
	}
	return ""
}

// task is the selected one; nil if there is none.
func (p *tasksPage) task() *shownTask {
	if p.selected < 0 || p.selected >= len(p.shown) {
		return nil
	}
	return &p.all[p.shown[p.selected]]
}

// choose selects a task if it is listed.
func (p *tasksPage) choose(id string) {
	if i, known := p.at[id]; known {
		if row := slices.Index(p.shown, i); row >= 0 {
			p.selected = row
		}
	}
}

// chooseLeft selects the first task that is left to do, unless the selected one is.
func (p *tasksPage) chooseLeft() {
	left := func(i int) bool { return p.all[i].pending() && !p.all[i].Optional }
	if t := p.task(); t != nil && !t.pending() {
		p.selected = max(slices.IndexFunc(p.shown, left), 0)
	}
}

// find fills the list: all tasks, or those that match, best first.
func (p *tasksPage) find() {
	p.shown = make([]int, 0, len(p.all))
	if strings.TrimSpace(p.query) == "" {
		for i := range p.all {
			p.shown = append(p.shown, i)
		}
		return
	}
	for _, m := range fuzzy.FindFrom(strings.TrimSpace(p.query), p) {
		p.shown = append(p.shown, m.Index)
	}
}

// String is what a search looks at.
func (p *tasksPage) String(i int) string { return p.all[i].name }

// Len is how many tasks there are.
func (p *tasksPage) Len() int { return len(p.all) }

// search narrows the list; the best match is selected.
func (p *tasksPage) search(query string) {
	id := p.chosen()
	p.query = query
	p.find()
	p.selected, p.top = 0, 0
	if query == "" {
		p.choose(id)
	}
}

// Scroll moves by rows, up for a negative number.
func (p *tasksPage) Scroll(by int) {
	p.selected = min(max(p.selected+by, 0), max(len(p.shown)-1, 0))
}

// Click selects the task at a row of the list.
func (p *tasksPage) Click(x, y int) {
	if at := p.top + y - p.head; x < p.width && y >= p.head && at < len(p.shown) {
		p.selected = at
	}
}

// counts are the tasks that are done and those that count.
func (p *tasksPage) counts() (done, total int) {
	for i := range p.all {
		if t := &p.all[i]; !t.Optional && t.State != "dropped" {
			total++
			if t.State == "done" {
				done++
			}
		}
	}
	return done, total
}

// neighbor is the index of the task before or after one, on the same level and below the same task; -1: there is none.
func (p *tasksPage) neighbor(i, by int) int {
	depth := p.all[i].Depth
	for i += by; i >= 0 && i < len(p.all) && p.all[i].Depth >= depth; i += by {
		if p.all[i].Depth == depth {
			return i
		}
	}
	return -1
}

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
		for _, s := range []*string{&t.State, &t.Word, &t.Why, &t.Category, &t.Agent, &t.Model, &t.File, &t.Section} {
			*s = termtext.Line(*s)
		}
		t.named() // here, not in load: 20,000 names take as long to make as four frames to draw
	}
	return all, nil
}

// pending reports whether work on the task is left.
func (t *shownTask) pending() bool { return t.State != "done" && t.State != "dropped" }

// named sets the name.
func (t *shownTask) named() {
	words := strings.FieldsFunc(t.Title, func(r rune) bool { return strings.ContainsRune(" *:()[]", r) })
	t.name = t.Title
	if known := len(words) > 0 && words[0] == t.ID || len(t.ID) > 2 && slices.Contains(words, t.ID); !known &&
		!view.Computed(t.ID) {
		t.name = termtext.Line(t.ID) + "  " + t.Title
	}
}

// worker is the agent of the task; empty: the agent of the run.
func (t *shownTask) worker() string { return strings.TrimSpace(t.Agent + " " + t.Model) }

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

// details says all that is known about a task.
func (p *tasksPage) details(t *shownTask) (all []view.Line) {
	add := func(role view.Role, text string) {
		all = append(all, linesOf(text, role)...)
	}
	state := p.state(t)
	mark, tone := p.mark(t)
	add(view.RoleResult, t.name)
	add(roleOf(tone), view.Join(" · ", mark+" "+state, t.Why, p.about(t)))
	place := t.File
	if t.Line > 0 {
		place = view.Join(" ", t.File, fmt.Sprintf("line %d", t.Line))
	}
	for _, field := range []struct{ name, value string }{
		{"category", t.Category}, {"section", t.Section}, {"tags", strings.Join(t.Tags, ", ")},
		{"needs", strings.Join(t.DependsOn, ", ")}, {"agent", cmp.Or(t.worker(), p.work[t.ID].agent)},
		{"place", place},
	} {
		if field.value != "" {
			add(view.RoleNote, fmt.Sprintf("%-9s %s", field.name, termtext.Line(field.value)))
		}
	}
	criteria := ""
	for _, item := range t.Criteria {
		criteria += "- " + strings.ReplaceAll(strings.TrimSpace(item), "\n", "\n  ") + "\n"
	}
	for _, part := range []struct{ heading, body string }{
		{"", t.Description}, {"It is done when", criteria}, {"Notes", t.Notes},
	} {
		if strings.TrimSpace(part.body) != "" {
			all = append(all, view.Line{})
			add(view.RoleResult, part.heading)
			add(view.RoleText, strings.TrimSpace(part.body))
		}
	}
	return append(all, p.history(t)...)
}

// roleOf is the role of a line of this tone.
func roleOf(t summary.Tone) view.Role {
	return map[summary.Tone]view.Role{summary.Good: view.RoleGood, summary.Busy: view.RoleTool, summary.Warn: view.RoleWarning,
		summary.Bad: view.RoleError}[t]
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
func (p *tasksPage) history(t *shownTask) []view.Line {
	m, now := &p.u.model, p.u.o.Now()
	w := p.work[t.ID]
	heading := view.Join(" · ", "History", view.Prefix("attempts ", numberOf(max(t.Attempts, len(w.turns)))), w.span(now),
		view.Dollars(w.cost))
	all := []view.Line{{}, {Text: heading, Role: view.RoleResult}}
	if len(w.turns) == 0 {
		return append(all, view.Line{Text: "no turn of this run has worked on it", Role: view.RoleNote})
	}
	for _, i := range w.turns {
		if i >= len(m.Run.Iterations) {
			continue
		}
		row := summary.Row(m, i, now)
		all = append(all, view.Line{Text: view.Join("  ", fmt.Sprintf("%4d %s %8s", row.Number, row.Mark, row.Duration),
			row.Cost, row.Text), Role: roleOf(row.Tone)})
		it := &m.Run.Iterations[i]
		for _, why := range append([]string{view.Join(": ", view.Unless(state.RuleContinue, it.Rule), it.Reason)},
			it.Findings...) {
			if why = termtext.Line(why); why != "" && !it.Running() {
				all = append(all, view.Line{Text: "       " + why, Role: view.RoleNote})
			}
		}
	}
	return all
}

const headerRoom = 12 // minimum height for the names of the columns

// Draw draws the page. The cost depends on the rows on the screen, not on the plan.
func (p *tasksPage) Draw(c canvas.Canvas) {
	t := p.task()
	if c.W < twoColumns || t == nil {
		p.drawList(c)
		return
	}
	right := c.W * 5 / 12
	left := c.W - right
	p.drawList(c.Columns(0, left-1))
	drawText(c.Columns(left, right), canvas.Title{Name: "Task", Key: "enter"}, p.details(t))
	drawDivider(c.Columns(left-1, 1))
	c.Text(left-1, 0, c.Dim(), "┬")
}

// figures are what stands to the right of a title, as far as there is room.
func figures(width int, tries, time, cost, found string) string {
	switch {
	case width >= 64:
		return fmt.Sprintf("%5s %8s %8s %5s", tries, time, cost, found)
	case width >= 50:
		return fmt.Sprintf("%5s %8s", tries, time)
	}
	return ""
}

// drawPanel draws the tasks around the one at hand, below the names of the columns.
func (p *tasksPage) drawPanel(c canvas.Canvas) {
	p.choose(p.u.model.Status.Task.ID)
	p.chooseLeft()
	done, total := p.counts()
	c.Title(canvas.Title{Name: "Tasks", Key: "t", Right: fmt.Sprintf("%s/%s done", thousands(done), thousands(total))})
	c = c.Rows(1, c.H-1)
	top := max(min(p.selected-c.H/2, len(p.shown)-c.H), 0)
	for y := 0; y < c.H && top+y < len(p.shown); y++ {
		p.drawTask(c.Rows(y, 1), top+y)
	}
}

// drawList draws the tasks around the selected one.
func (p *tasksPage) drawList(c canvas.Canvas) {
	done, total := p.counts()
	right := fmt.Sprintf("%s/%s done", thousands(done), thousands(total))
	if p.query != "" {
		right = fmt.Sprintf("%s of %s match %q", thousands(len(p.shown)), thousands(len(p.all)), termtext.Line(p.query))
	}
	if !p.ready {
		right = ""
	}
	c.Title(canvas.Title{Name: "Tasks", Key: "t", Focused: true, Right: right})
	p.width, p.head = c.W, 0
	if c = c.Rows(1, c.H-1); c.H >= headerRoom && c.W >= 50 {
		heads := figures(c.W, "tries", "time", "cost", "found")
		c.Text(3, 0, c.Dim(), "task")
		c.Text(c.W-len(heads)-1, 0, c.Dim(), heads)
		p.head, c = 1, c.Rows(1, c.H-1)
	}
	p.height = c.H
	switch {
	case p.why != "":
		c.Text(1, 0, c.Tone(summary.Bad), termtext.Fit(p.why, c.W-2))
		return
	case !p.ready:
		c.Text(1, 0, c.Dim(), "reading the plan …")
		return
	case len(p.all) == 0:
		c.Text(1, 0, c.Dim(), "the plan has no tasks; a adds one")
		return
	case len(p.shown) == 0:
		c.Text(1, 0, c.Dim(), "nothing matches; esc shows all tasks")
		return
	}
	p.top = c.First(p.top, p.selected, len(p.shown))
	for y := 0; y < c.H && p.top+y < len(p.shown); y++ {
		p.drawTask(c.Rows(y, 1), p.top+y)
	}
}

func (p *tasksPage) drawTask(c canvas.Canvas, row int) {
	t := &p.all[p.shown[row]]
	state := p.state(t)
	mark, tone := p.mark(t)
	style, icon, side := plain, c.Tone(tone), c.Dim()
	selected := row == p.selected && !p.quiet
	switch {
	case selected:
		style = style.Reverse(true)
		icon, side = style, style
		c.Text(0, 0, style, strings.Repeat(" ", c.W))
	case !t.pending() || t.Optional:
		style = c.Dim()
	case state == "active":
		style = style.Bold(true)
	}
	w := p.work[t.ID]
	x := c.Text(1, 0, icon, mark) + 1
	if p.query == "" {
		x += min(2*t.Depth, 12)
	}
	tries, found := "", ""
	if n := max(t.Attempts, len(w.turns)); n > 0 {
		tries = fmt.Sprintf("%d×", n)
	}
	if w.found > 0 {
		found = fmt.Sprintf("!%d", w.found)
	}
	right := figures(c.W, tries, w.span(p.u.o.Now()), view.Dollars(w.cost), found)
	more := view.Join(" · ", t.Why, p.about(t))
	if strings.TrimSpace(right) == "" || t.Why != "" && x+termtext.Width(t.name+more+right)+3 > c.W {
		right = "" // why it is not done is worth more than what it took
	}
	room := c.W - termtext.Width(right) - 1
	c.Text(room, 0, side, right)
	named := room
	if t.Why != "" && !p.quiet {
		named = max(room*3/5, room-2-termtext.Width(more))
	}
	if more == "" && c.W >= 100 {
		more = cmp.Or(t.worker(), w.agent)
	}
	x = c.Text(x, 0, style, termtext.Fit(t.name, max(named-x, 0)))
	if room-x > 12 && more != "" {
		c.Text(x+2, 0, side, termtext.Fit(more, room-x-2))
	}
}

func thousands(n int) string { return termtext.Thousands(int64(n)) }
