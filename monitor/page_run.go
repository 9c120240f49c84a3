package monitor

import (
	"fmt"
	"slices"
	"time"

	"github.com/rivo/tview"

	"ralph/monitor/canvas"
	"ralph/state"
	"ralph/state/view"
)

// runPage is the run's screen: the lowest page.
type runPage struct {
	u        *ui
	log      *logPage
	past     *transcriptPage // of the selected iteration; nil: the log is shown
	tasks    *tasksPage      // beside the log, where there is room
	list     *timelinePage   // below them
	alone    bool            // only the log is shown
	selected int             // number of an iteration; 0: the newest, whichever that is
	cells    []cell          // of the strip, at the latest draw
	strip    *region
	below    *region // the list
}

func newRunPage(u *ui) *runPage {
	r := &runPage{u: u, tasks: &tasksPage{u: u, quiet: true}, list: &timelinePage{u: u}}
	r.log = &logPage{u: u, logView: newLogView(), title: canvas.Title{Name: "Live log", Key: "l"}, live: true}
	return r
}

// pageKeys are the keys that open pages. To add a page, add a row.
func (r *runPage) pageKeys() []binding {
	u := r.u
	model := ""
	if u.model.Alive {
		model = "model"
	}
	return slices.Concat([]binding{
		{"t", "tasks", "the tasks of the plan: look at them, find and change them; the list has keys of its own",
			u.openTasks},
	}, r.iterationKeys(), []binding{
		{"c", "checks", "checks, findings, and what the agent was told", u.openChecks},
		{"T", "timeline", "the iterations as a list", u.openTimeline},
		{"m", model, "choose agent and model from the next turn on: type to narrow the list, or any name", u.openModels},
	})
}

// iterationKeys show the selected iteration.
func (r *runPage) iterationKeys() []binding {
	u, older := r.u, ""
	if len(u.model.Run.Iterations) > 1 {
		older = "older"
	}
	return []binding{
		{"enter", "read", "the transcript of the iteration: what the agent said and did, checks, verdicts and findings",
			func() { u.openTranscript(r.chosen()) }},
		{"d", "diff", "what the iteration changed: files and hunks; from there, u takes it back",
			func() { u.openChanges(r.chosen()) }},
		{"left", older, "the iteration before, in the place of the log", func() { r.choose(r.index() - 1) }},
		{"right", "", "the next iteration; after the latest one, the log", func() { r.choose(r.index() + 1) }},
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
		{"a", abort, "end the run now (asks first); ralph stop ends it after this iteration", func() { r.actAfter("abort", "end the run now and stop the agent?") }},
		{"l", "log", "the log alone, and back", func() { r.alone = !r.alone }},
	}, r.pageKeys(), r.main().textKeys(), moveKeys(allUp, r.Scroll, func() int { return r.main().screenful() }))
}

// main is the log, or the transcript in its place.
func (r *runPage) main() *logPage {
	if r.past != nil {
		return r.past.logPage
	}
	return r.log
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

// Back ends a search, goes back to the log, or shows the other parts again.
func (r *runPage) Back() bool {
	switch {
	case r.main().Back():
	case r.past != nil:
		r.choose(len(r.u.model.Run.Iterations) - 1)
	default:
		r.alone = false
	}
	return true
}

// Scroll moves in the log.
func (r *runPage) Scroll(by int) { r.main().Scroll(by) }

// Click selects the iteration there.
func (r *runPage) Click(x, y int) {
	y++
	if r.strip.InRect(x, y) {
		for _, one := range r.cells {
			if x == one.x || x == one.x+1 {
				r.choose(one.index)
			}
		}
	}
	if _, top, _, _ := r.below.GetRect(); r.below.InRect(x, y) && y > top {
		r.list.Click(x, y-top-1)
	}
}

// add takes new lines of the log.
func (r *runPage) add(lines []view.Line, gap bool) {
	if gap {
		r.log.clear() // a log with a gap would mislead
	}
	r.log.append(lines)
}

// Update reads the plan again when the run has changed it: nobody edits it here.
func (r *runPage) Update(up view.Update) {
	if len(r.u.o.Ralph) > 0 && (changesPlan(up.Events) || !r.tasks.wanted) {
		r.tasks.wanted = true
		r.tasks.read()
	}
	if r.past != nil {
		r.past.Update(up)
	}
}

const (
	twoColumns   = 120 // minimum width for the log beside the facts
	columnHeight = 22  // and minimum height
)

// Draw lays the parts out: what needs a person, the strip and the facts come first, the log gets the rest.
func (r *runPage) Draw(c canvas.Canvas) {
	v, wants := r.u.shown, r.u.wants()
	part := func(draw func(c canvas.Canvas)) *region { return &region{tview.NewBox(), r.u, draw} }
	page := tview.NewFlex().SetDirection(tview.FlexRow).AddItem(part(r.u.drawHeader), min(2, c.H), 0, false)
	main := part(r.drawMain)
	room := c.H - 3 // the last row is for the keys
	fixed := func(n int, draw func(canvas.Canvas)) *region {
		p := part(draw)
		n = max(min(n, room), 0)
		page.AddItem(p, n, 0, false)
		room -= n
		return p
	}
	r.below = part(r.list.Draw)
	if !r.alone {
		fixed(min(len(wants), max(c.H/8, 1)), func(c canvas.Canvas) { drawWants(c, wants) })
	}
	wide, width, strip := c.W >= twoColumns && c.H >= columnHeight, c.W, 1
	if wide {
		width = min(c.W*2/5, 90)
	} else if c.H >= 20 {
		strip = 2
	}
	facts, needs := r.facts(v, wide && width >= 60), 0
	for _, f := range facts {
		needs += len(f.rows(width-labels-2, f.most()))
	}
	switch {
	case r.alone:
		page.AddItem(main, 0, 1, false)
	case wide:
		r.strip = fixed(strip, r.drawStrip)
		left := tview.NewFlex().SetDirection(tview.FlexRow)
		needs = min(needs, room)
		left.AddItem(part(func(c canvas.Canvas) { drawFacts(c, facts) }), needs, 0, false)
		if room -= needs; room >= 12 {
			left.AddItem(part(r.drawPace), min(room/3, 9), 0, false)
			room -= min(room/3, 9)
		}
		if n := min(len(r.tasks.all)+1, room/2); n > 1 && !r.fresh() {
			left.AddItem(part(r.tasks.drawPanel), n, 0, false)
		}
		left.AddItem(r.below, 0, 1, false)
		page.AddItem(tview.NewFlex().AddItem(left, width, 0, false).AddItem(part(drawDivider), 2, 0, false).
			AddItem(main, 0, 1, false), 0, 1, false)
	default:
		n := min(needs, room-strip-max(room/2, 4))
		if n < len(facts) { // a row each, the log keeps half of the screen
			n = min(len(facts), room-strip-max(room/2, 4))
		}
		fixed(n, func(c canvas.Canvas) { drawFacts(c, facts) })
		r.strip = fixed(strip, r.drawStrip)
		if room >= 20 {
			fixed(5, r.drawPace)
		}
		page.AddItem(main, 0, 1, false)
	}
	page.AddItem(nil, min(1, max(c.H-2, 0)), 0, false)
	page.SetRect(c.X, c.Y, c.W, c.H)
	page.Draw(c.Screen)
}

// drawMain draws the log; the transcript of an iteration in its place; or, before the first run, the tasks.
func (r *runPage) drawMain(c canvas.Canvas) {
	if r.fresh() && len(r.tasks.all) > 0 {
		r.tasks.drawPanel(c)
		return
	}
	r.main().Draw(c)
}

// fresh reports whether nothing has run here yet.
func (r *runPage) fresh() bool { return r.u.model.State == view.StateNone }

// drawDivider draws the line between the log and what is to its left.
func drawDivider(c canvas.Canvas) {
	for y := range c.H {
		c.Text(0, y, c.Dim(), "│")
	}
}

// chosen is the number of the selected iteration, or of the latest one.
func (r *runPage) chosen() int {
	if i := r.index(); r.selected > 0 && i >= 0 {
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

// choose selects an iteration by its index, and shows it in the place of the log.
func (r *runPage) choose(i int) {
	all := r.u.model.Run.Iterations
	was := r.selected
	if r.selected = 0; i < len(all)-1 && len(all) > 0 {
		r.selected = all[max(i, 0)].Number
	}
	if r.selected == 0 {
		r.past = nil
	} else if r.selected != was {
		r.past = r.u.transcriptOf(r.selected)
	}
}

// olderBytes is how much of the events is loaded at once for a log that is scrolled back.
const olderBytes = 1 << 20

// readOlder loads older lines when the log is scrolled back, and reports whether it did. Call it on the feed's goroutine.
func (r *runPage) readOlder() bool {
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
		return false
	}
	var lines []view.Line
	log := view.Log{LineOptions: u.lines.LineOptions}
	events, err := view.EventsBefore(u.feed.Reader(), before, olderBytes)
	for _, e := range events {
		// Events are looked up by time. If the clock was set back, some may be here already.
		if !held[e.Time.UnixNano()] {
			lines = append(lines, oneLine(e, log.Lines(e))...)
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
	return true
}
