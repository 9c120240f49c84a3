package monitor

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"

	"ralph/logs/termtext"
	"ralph/monitor/canvas"
	"ralph/state"
	"ralph/state/view"
	"ralph/state/view/follow"
	"ralph/state/view/summary"
)

// questionKind is what the last row of the screen asks.
type questionKind int

const (
	askNothing questionKind = iota
	askQuery
	askNote
	askToAct
	askAnswer
	askToCopy
	askFilter
)

// questionBefore is what askToAct asks.
func questionBefore(verb string, m *view.Model) string {
	what := "end the run now and stop the agent?"
	turns := 0
	for i := range m.Run.Iterations {
		if m.Run.Iterations[i].Running() {
			turns++
		}
	}
	switch {
	case verb == "skip" && turns > 1:
		what = fmt.Sprintf("end all %d current turns and take the next tasks? (one of them: ralph skip TASK)", turns)
	case verb == "skip" && m.State == state.StatusRunning:
		what = "end this iteration and take the next task?"
	case verb == "skip":
		what = "put off the task that comes next?"
	}
	return what + " (y/n)"
}

// lastRow is what the last row of the screen shows instead of the keys.
type lastRow struct {
	asks    questionKind
	verb    string       // of askToAct; the text of askToCopy
	answers *answersPage // of askAnswer
	line    inputLine
	message string
	until   time.Time // when message disappears
	mayCopy bool      // a person has allowed to write to the clipboard
	failure string    // stays until the user has read it
}

// sight is what the screen shows.
type sight struct {
	page     *reading      // over the panels; nil: none
	over     []coverPage   // over it, each over the one before
	timeline *timelinePage // over the panels; nil: it is closed
	palette  *palettePage  // over all of it; nil: it is closed
	list     *taskPage     // the tasks in the panel of the plan
	pressed  string        // the latest key
	alone    panel         // the only panel shown; panelHeader: all
	focus    panel         // panelIterations or panelLog
	selected int           // iteration in the list, 0 is the newest
	about    bool          // the help begins with the current panel
	help     bool          // the page of keys
	helpTop  int           // its first row
	spread
}

// spread is where the latest draw put things, for the mouse.
type spread struct {
	places  []rect
	spots   []keySpot // of the keys in the last row
	listTop int       // the first row of the list of iterations
}

// signals pass between the goroutines without mu.
type signals struct {
	pending atomic.Bool   // a redraw is queued
	started chan struct{} // closed by the first draw
	first   sync.Once
	crash   atomic.Value // error: a goroutine has panicked
}

// ui is the state of the screen. The goroutine of the feed and the event loop share
// it under mu. Neither waits while it holds mu.
type ui struct {
	*tview.Box
	signals
	o     Options
	app   *tview.Application
	feed  *follow.Follower
	theme canvas.Theme
	table []binding
	do    map[string]func(*ui)

	mu sync.Mutex // for what follows
	sight
	lastRow
	model view.Model
	lines view.Log // of the feed's goroutine
	log   *logView
	plan  []string // the tasks, before the first run
	mouse bool
	notes noteSign
	undone
}

func newUI(o Options, f *follow.Follower) *ui {
	u := &ui{
		Box: tview.NewBox(), o: o, feed: f, lines: view.Log{LineOptions: view.LineOptions{Dir: o.Dir}},
		log: newLogView(), table: bindings(), sight: sight{focus: panelLog, list: &taskPage{tasksPage: newTasksPage()}},
		signals: signals{started: make(chan struct{})},
	}
	u.SetBackgroundColor(tcell.ColorDefault)
	u.do = dispatch(u.table)
	return u
}

// apply takes an update of the feed.
func (u *ui) apply(up view.Update) {
	var lines []view.Line
	for _, e := range up.LogEvents() {
		lines = append(lines, u.lines.Lines(e)...)
	}
	var plan []string
	if up.State == view.StateNone && u.o.Plan != nil {
		up.Status.Task, plan = u.o.Plan()
	}
	notes := u.notes.read(u.feed.Reader()) // without the lock: only this goroutine writes u.notes
	u.mu.Lock()
	defer u.mu.Unlock()
	u.plan, u.notes = plan, notes
	run, selected := u.model.Run.ID, u.selectedNumber()
	u.model.Apply(up)
	u.markUndone()
	u.selected = u.rowOf(selected, run)
	if up.Gap {
		u.log.clear() // a log with a gap would mislead
	}
	u.log.append(lines)
	u.renew()
	u.renewTasks(up.Events)
	u.renewFiltered(up.LogEvents())
	u.renewTranscripts(up.Events)
}

// Draw draws everything; tview calls it in its event loop.
func (u *ui) Draw(screen tcell.Screen) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.first.Do(func() { close(u.started) })
	u.DrawForSubclass(screen, u)
	x, y, w, h := u.GetInnerRect()
	c := canvas.Canvas{Screen: screen, X: x, Y: y, W: w, H: h, Theme: u.theme}
	v := summary.Of(&u.model, u.o.Now())
	alone := u.alone
	if u.page != nil || u.timeline != nil || len(u.over) > 0 || u.palette != nil || u.help || u.answers != nil {
		alone = panelLog
	}
	u.places = layout(w, h, alone, contents{len(v.Gauges), len(u.model.Run.Iterations), len(v.Checks), len(v.Notes),
		len(v.Plan.Slots), u.panelTasks(w, h), boundsOf(v)})
	for _, p := range u.places {
		u.drawPanel(c.Rows(p.y, p.h).Columns(p.x, p.w), p.panel, v)
		if p.panel == panelLog && p.x > 0 {
			drawDivider(c, p, u.places)
		}
	}
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

func (u *ui) drawPanel(c canvas.Canvas, p panel, v summary.Summary) {
	focused := u.focus == p && u.alone == panelHeader
	switch p {
	case panelHeader:
		drawHeader(c, v, u.notes)
	case panelPlan:
		if below := drawPlan(c, v); below.H > 0 {
			u.list.DrawPanel(below, scene{Model: &u.model, Now: u.o.Now()})
		}
	case panelUsage:
		drawUsage(c, v, &u.model.Run)
	case panelEnds:
		drawEnds(c, v)
	case panelIterations:
		u.listTop = drawIterations(c, &u.model, iterationsLook{Selected: u.selected, Top: u.listTop,
			Focused: u.focus == p, Now: u.o.Now()})
	case panelChecks:
		drawChecks(c, v, u.o.Now())
	case panelLog:
		u.shown().height = c.H - 1 // for the page keys, whatever is drawn here
		switch {
		case u.palette != nil:
			u.palette.Draw(c)
		case u.answers != nil:
			u.answers.Draw(c)
		case u.help:
			u.helpTop = drawHelp(c, u.aboutHints(u.hints(v)), u.helpTop)
			c.Text(8, 0, c.Dim(), view.Prefix(" ralph ", termtext.Line(u.o.Version))+" ")
		case u.top() != nil:
			u.top().Draw(c, scene{Model: &u.model, Now: u.o.Now()})
		case u.page != nil:
			t := canvas.Title{Name: fmt.Sprintf("Review of iteration %d", u.page.of), Key: "r", Focused: true}
			switch {
			case u.page.filter != nil:
				t = canvas.Title{Name: "Log: " + u.page.filter.Name, Key: "F", Focused: true}
				if u.page.busy {
					t.Name += ", reading …"
				}
			case u.page.tail != nil:
				t = canvas.Title{Name: fmt.Sprintf("Raw output of iteration %d", u.page.of), Key: "R", Focused: true,
					File: u.file()}
			}
			drawLog(c, t, u.page.logView)
		case u.timeline != nil:
			u.timeline.Draw(c, &u.model, u.o.Now(), v.Plan.Ahead)
		case u.listsTasks():
			drawTasks(c, u.plan)
		default:
			drawLog(c, canvas.Title{Name: "Live log", Key: "6", Focused: focused, File: u.file()}, u.log)
		}
	case panelKeys:
		u.drawLast(c, v)
	}
}

// drawLast draws the last row: a question, a message or the keys.
func (u *ui) drawLast(c canvas.Canvas, v summary.Summary) {
	u.spots = nil
	switch {
	case u.palette != nil:
		u.palette.DrawAsk(c)
	case u.asks == askAnswer && (u.message == "" || time.Now().After(u.until)):
		u.answers.DrawAsk(c)
	case u.asks == askQuery:
		u.line.Draw(c, "/")
	case u.asks == askFilter:
		u.line.Draw(c, askFor)
	case u.asks == askNote:
		u.line.Draw(c, "note for the next prompt: ")
	case u.asks == askToCopy:
		c.Text(1, 0, c.Tone(summary.Warn), termtext.Fit("write to the terminal's clipboard (OSC 52)? (y/n)", c.W-2))
	case u.asks == askToAct:
		c.Text(1, 0, c.Tone(summary.Bad), termtext.Fit(questionBefore(u.verb, &u.model), c.W-2))
	case u.top() != nil && u.top().Asks():
		u.top().DrawAsk(c)
	case u.failure != "":
		const read = " (esc)"
		x := c.Text(1, 0, c.Tone(summary.Bad), termtext.Fit(u.failure, c.W-2-len(read)))
		u.drawKeysFrom(c, c.Text(x, 0, c.Dim(), read), v)
	case u.message != "" && time.Now().Before(u.until):
		u.drawKeysFrom(c, c.Text(1, 0, plain.Bold(true), termtext.Fit(u.message, c.W-2)), v)
	default:
		u.spots = drawKeyRow(c, u.hints(v))
	}
}

// drawKeysFrom draws the keys beside a message that ends at x, as far as there is room.
func (u *ui) drawKeysFrom(c canvas.Canvas, x int, v summary.Summary) {
	if room := c.W - x - 2; room > 0 {
		u.spots = drawKeyRow(c.Columns(x+2, room), u.hints(v))
	}
}

// key handles one key in the event loop.
func (u *ui) key(e *tcell.EventKey) {
	u.mu.Lock()
	asks := u.asks
	u.message = "" // it was about an earlier key, and may stand where the next one asks
	u.mu.Unlock()
	switch asks {
	case askQuery, askNote, askFilter:
		u.keyInput(e, asks)
		return
	case askAnswer:
		u.keyAnswer(e)
		return
	case askToCopy:
		defer u.lock()()
		u.asks = askNothing
		if name := keyName(e); name == "y" || name == "Y" {
			u.mayCopy = true
			u.copies(u.verb)
		}
		return
	case askToAct:
		u.mu.Lock()
		u.asks = askNothing
		verb := u.verb
		u.mu.Unlock()
		if name := keyName(e); name == "y" || name == "Y" {
			u.control(verb)
		}
		return
	}
	if u.keyOfPalette(e) || u.keyOfPage(e) {
		return
	}
	u.pressed = keyName(e)
	if do := u.do[u.pressed]; do != nil {
		do(u)
	}
}

// keyInput edits the line that a person types.
func (u *ui) keyInput(e *tcell.EventKey, asks questionKind) {
	u.mu.Lock()
	defer u.mu.Unlock()
	switch u.line.Key(e) {
	case inputLeft:
		u.asks = askNothing
	case inputEntered:
		u.asks = askNothing
		switch asks {
		case askNote:
			u.act("note", "--", u.line.Text)
			return
		case askFilter:
			u.openFiltered(u.line.Text)
			return
		}
		v := u.shown()
		v.setQuery(termtext.Line(u.line.Text))
		switch {
		case v.query == "" || v.search(-1):
		case v.noOlder:
			u.say("no match for %q", v.query)
		default:
			v.seek = true
			u.say("searching older lines …")
		}
		u.feed.Poke()
	}
}

// shown returns the log on which keys act.
func (u *ui) shown() *logView {
	if u.page != nil {
		return u.page.logView
	}
	return u.log
}

// listsTasks reports whether the plan stands in the place of the log.
func (u *ui) listsTasks() bool { return len(u.plan) > 0 && len(u.log.lines) == 0 }

// say shows a message for six seconds.
func (u *ui) say(format string, args ...any) {
	u.message, u.until = fmt.Sprintf(format, args...), time.Now().Add(6*time.Second)
}

// fail shows what went wrong until the user closes it: six seconds are easily missed.
func (u *ui) fail(text string) { u.failure, u.message = termtext.Line(text), "" }
