package monitor

import (
	"fmt"
	"slices"
	"time"

	"ralph/monitor/canvas"
	"ralph/state"
	"ralph/state/view"
	"ralph/state/view/summary"
)

// runPage is the run's screen: the panels. It is the lowest page.
type runPage struct {
	u        *ui
	log      *logPage
	tasks    *tasksPage // in the panel of the plan
	plan     []string   // the tasks, before the first run
	alone    panel      // the only panel shown; panelHeader: all
	focus    panel      // panelIterations or panelLog
	selected int        // number of an iteration; 0: the newest, whichever that is
	listTop  int        // the first row of the list of iterations
	places   []rect     // of the panels, at the latest draw
}

func newRunPage(u *ui) *runPage {
	r := &runPage{u: u, focus: panelLog, tasks: &tasksPage{u: u}}
	r.log = &logPage{u: u, logView: newLogView(), title: canvas.Title{Name: "Live log", Key: "6"}, live: true}
	return r
}

// pageKeys are the keys that open pages. To add a page, add a row.
func (r *runPage) pageKeys() []binding {
	u := r.u
	model := ""
	if u.model.Alive {
		model = "model"
	}
	return []binding{
		{"enter", "read", "the transcript of the iteration: what the agent said and did, checks, verdicts and findings",
			func() { u.openTranscript(r.chosen()) }},
		{"t", "tasks", "the tasks of the plan: look at them, find and change them; the list has keys of its own",
			u.openTasks},
		{"d", "diff", "what the iteration changed: files and hunks; from there, u takes it back",
			func() { u.openChanges(r.chosen()) }},
		{"R", "", "the raw output of the iteration, in $PAGER", func() { u.openRaw(r.chosen()) }},
		{"m", model, "choose agent and model from the next turn on: type to narrow the list, or any name", u.openModels},
	}
}

// Keys are the keys of the page.
func (r *runPage) Keys() []binding {
	u := r.u
	pause, skip, abort := "pause", "skip", "abort"
	if !u.model.Alive {
		pause, skip, abort = "", "", ""
	}
	if u.shown.Resumable && pause != "" {
		pause = "resume"
	}
	answer := ""
	if u.notes.questions > 0 {
		answer = "answer" // it stands first: a person has to do it
	}
	return slices.Concat([]binding{
		{"u", answer, "answer the questions of agents: a number chooses an option, anything else is the answer", u.openAnswers},
		{"p", pause, "pause after this iteration, or resume", func() {
			verb := "pause"
			if u.shown.Resumable {
				verb = "resume"
			}
			if len(u.o.Ralph) == 0 || u.alive() {
				u.act(verb)
			}
		}},
		{"s", skip, "end this iteration and take the next task (asks first)", func() {
			r.actAfter("skip", questionBeforeSkip(&u.model))
		}},
		{"a", abort, "end the run now (asks first)", func() { r.actAfter("abort", "end the run now and stop the agent?") }},
		{"l", "log", "live log only, and back", func() { r.show(panelLog) }},
	}, r.pageKeys(), r.log.textKeys(), []binding{
		{"tab backtab", "", "move between iterations and log", func() {
			if r.alone == panelHeader {
				r.focus = panelIterations + panelLog - r.focus
			}
		}},
		{"1 2 3 4 5 6", "", "one panel alone, by the number in its title, and back",
			func() { r.show(panel(u.pressed[0] - '0')) }},
	}, moveKeys(allUp, r.Scroll, r.log.screenful))
}

// actAfter runs a verb after a question.
func (r *runPage) actAfter(verb, question string) {
	if r.u.alive() {
		r.u.confirm(question, func() {
			if r.u.alive() {
				r.u.act(verb)
			}
		})
	}
}

func questionBeforeSkip(m *view.Model) string {
	turns := 0
	for i := range m.Run.Iterations {
		if m.Run.Iterations[i].Running() {
			turns++
		}
	}
	switch {
	case turns > 1:
		return fmt.Sprintf("end all %d current turns and take the next tasks? (one of them: ralph skip TASK)", turns)
	case m.State == state.StatusRunning:
		return "end this iteration and take the next task?"
	}
	return "put off the task that comes next?"
}

// show shows only panel p, or all panels again.
func (r *runPage) show(p panel) {
	if r.alone == p {
		r.alone = panelHeader
		return
	}
	r.alone = p
	if p == panelIterations || p == panelLog {
		r.focus = p
	}
}

// Back ends a search, or shows all panels again.
func (r *runPage) Back() bool {
	if !r.log.Back() {
		r.alone = panelHeader
	}
	return true
}

// listed reports whether keys move the selection in the list of iterations.
func (r *runPage) listed() bool { return r.focus == panelIterations && r.alone != panelLog }

// Scroll moves in the list of iterations or in the log.
func (r *runPage) Scroll(by int) {
	if r.listed() {
		r.choose(moveIteration(&r.u.model.Run, r.index(), by))
		return
	}
	r.log.Scroll(by)
}

// placeAt is the panel at a position.
func (r *runPage) placeAt(x, y int) (at rect) {
	for _, p := range r.places {
		if x >= p.x && x < p.x+p.w && y >= p.y && y < p.y+p.h {
			at = p
		}
	}
	return at
}

// Click selects the iteration there.
func (r *runPage) Click(x, y int) {
	if p := r.placeAt(x, y+1); p.panel == panelIterations && y+1 > p.y {
		if all := groups(&r.u.model.Run); r.listTop+y-p.y < len(all) {
			r.choose(all[r.listTop+y-p.y].first)
		}
	}
}

// point makes the panel at a position the one that scrolls.
func (r *runPage) point(x, y int) {
	if p := r.placeAt(x, y).panel; p == panelIterations || p == panelLog {
		r.focus = p
	}
}

// add takes new lines of the log, and the tasks before the first run.
func (r *runPage) add(lines []view.Line, gap bool, plan []string) {
	if r.plan = plan; gap {
		r.log.clear() // a log with a gap would mislead
	}
	r.log.append(lines)
}

// Update reads the tasks in the panel again when the run has changed the plan: nobody edits it there.
func (r *runPage) Update(up view.Update) {
	if r.tasks.wanted && changesPlan(up.Events) {
		r.tasks.read()
	}
}

// taskRows is how many rows the list in the panel wants on a screen of this size; the list is read when there is room
// for it.
func (r *runPage) taskRows(w, h int) int {
	if r.alone != panelPlan && (w < twoColumns || h < columnHeight) || len(r.u.o.Ralph) == 0 ||
		r.u.model.State == view.StateNone {
		return 0
	}
	if !r.tasks.wanted {
		r.tasks.wanted = true
		r.tasks.read()
	}
	return len(r.tasks.all)
}

// Draw draws the panels.
func (r *runPage) Draw(c canvas.Canvas) {
	w, h := c.W, c.H
	v := r.u.shown
	r.places = layout(w, h, r.alone, contents{len(v.Gauges), len(r.u.model.Run.Iterations), len(v.Checks), len(v.Notes),
		len(v.Plan.Slots), r.taskRows(w, h), v.Ends})
	for _, at := range r.places {
		for _, p := range panels() {
			if p.panel == at.panel {
				p.draw(r, c.Rows(at.y, at.h).Columns(at.x, at.w), v)
			}
		}
		if at.panel == panelLog && at.x > 0 {
			drawDivider(c, at, r.places)
		}
	}
}

// drawPlan draws the plan and, where there is room, its tasks.
func (r *runPage) drawPlan(c canvas.Canvas, v summary.Summary) {
	if below := drawPlan(c, v); below.H > 0 {
		r.tasks.drawPanel(below)
	}
}

// drawLog draws the live log or, before the first run, the tasks.
func (r *runPage) drawLog(c canvas.Canvas, _ summary.Summary) {
	if len(r.plan) > 0 && len(r.log.logView.lines) == 0 {
		drawTasks(c, r.plan)
		return
	}
	r.log.title.Focused = r.focus == panelLog && r.alone == panelHeader
	r.log.Draw(c)
}

// drawDivider draws the line between the log and the panels to its left.
func drawDivider(c canvas.Canvas, log rect, all []rect) {
	x := log.x - 2
	for y := log.y; y < log.y+log.h; y++ {
		c.Text(x, y, c.Dim(), "│")
	}
	for _, p := range all {
		if p.x == 0 && p.w == x {
			c.Text(x, p.y, c.Dim(), "┤")
		}
	}
	c.Text(x, log.y, c.Dim(), "┬─")
}

// chosen is the number of the selected iteration or, outside of the list, of the latest one.
func (r *runPage) chosen() int {
	if i := r.index(); r.focus == panelIterations && i >= 0 {
		return r.u.model.Run.Iterations[i].Number
	}
	return r.u.model.Iteration()
}

// index is the index of the selected iteration; -1: there is none.
func (r *runPage) index() int {
	if i := r.u.indexOf(r.selected); i >= 0 {
		return i
	}
	return len(r.u.model.Run.Iterations) - 1
}

// choose selects an iteration by its index.
func (r *runPage) choose(i int) {
	all := r.u.model.Run.Iterations
	if r.selected = 0; i >= 0 && i < len(all)-1 {
		r.selected = all[i].Number
	}
}

// olderBytes is how much of the events is loaded at once for a log that is scrolled back.
const olderBytes = 1 << 20

// readOlder loads older lines when the log is scrolled back. Call it on the feed's goroutine.
func (r *runPage) readOlder() {
	u, v := r.u, r.log
	u.mu.Lock()
	wanted := (v.needOlder || v.query != "") && !v.noOlder && u.front().page == r
	before := v.oldest()
	held := map[int64]bool{}
	if wanted {
		held = v.times()
	}
	u.mu.Unlock()
	if !wanted {
		return
	}
	var lines []view.Line
	log := view.Log{LineOptions: u.lines.LineOptions}
	events, err := view.EventsBefore(u.feed.Reader(), before, olderBytes)
	for _, e := range events {
		// Events are looked up by time. If the clock was set back, some may be here already.
		if !held[e.Time.UnixNano()] {
			lines = append(lines, log.Lines(e)...)
		}
	}
	defer u.lock()()
	if err != nil {
		u.fail(err.Error())
	}
	asked := v.needOlder
	if before.Equal(v.oldest()) {
		v.prepend(lines)
	}
	switch {
	case v.seek && v.search(-1):
		v.seek = false
	case v.seek && v.noOlder:
		v.seek = false
		u.say("no match for %q", v.query)
	}
	if !v.noOlder && v.query != "" {
		u.feed.Poke() // a search covers the whole log
	}
	if v.noOlder && asked {
		u.say("the beginning, %s; o opens the whole log", v.oldest().Local().Format(time.TimeOnly))
	}
}
