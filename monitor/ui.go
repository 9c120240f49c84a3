package monitor

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"

	"ralph/logs/termtext"
	"ralph/monitor/canvas"
	"ralph/state/act"
	"ralph/state/view"
	"ralph/state/view/follow"
	"ralph/state/view/summary"
)

// signals pass between the goroutines without mu.
type signals struct {
	pending atomic.Bool   // a redraw is queued
	started chan struct{} // closed by the first draw
	first   sync.Once
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
	lines view.Log             // of the feed's goroutine
	act   func(verb ...string) // runs a verb of ralph in the background; mu is held

	mu      sync.Mutex // for what follows
	pages   *tview.Pages
	run     *runPage // the lowest one
	pressed string   // the latest key
	prompt  *prompt  // nil: nothing is asked
	message string
	until   time.Time // when message disappears
	failure string    // stays until the user has read it
	working int       // verbs that are being run
	later   []func()  // what a key asks for that must not hold mu
	model   view.Model
	shown   summary.Summary // of the model, at the latest draw
	mouse   bool
	notes   noteSign
	spots   []keySpot // of the keys in the last row, at the latest draw
}

func newUI(o Options, f *follow.Follower) *ui {
	u := &ui{Box: tview.NewBox(), o: o, feed: f, lines: view.Log{LineOptions: view.LineOptions{Dir: o.Dir}},
		app: tview.NewApplication(), pages: tview.NewPages(), signals: signals{started: make(chan struct{})}}
	u.SetBackgroundColor(tcell.ColorDefault)
	u.pages.SetBackgroundColor(tcell.ColorDefault)
	u.act = u.runVerb
	u.run = newRunPage(u)
	u.open("run", u.run)
	return u
}

// lock locks u and returns its unlock.
func (u *ui) lock() func() {
	u.mu.Lock()
	return u.mu.Unlock
}

// keys work on every page.
func (u *ui) keys() []binding {
	return []binding{
		{"i", "note", "write a note into the next prompt", func() {
			u.ask("note for the next prompt: ", "", func(text string) { u.act("note", "--", text) })
		}},
		{"M", "", "mouse on or off: a click selects, or presses the key named in the last row; a double click opens; " +
			"off, the terminal selects text", u.toggleMouse},
		{"ctrl-l", "", "redraw the screen", func() { u.later = append(u.later, u.o.Screen.Sync) }},
		{"esc", "", "back", u.back},
		{"?", "help", "the keys of this page, and back", u.openHelp},
		{"q ctrl-c", "quit", "quit this screen; the run continues", func() { u.later = append(u.later, u.app.Stop) }},
	}
}

// hints are the keys that the last row names.
func (u *ui) hints() []binding {
	all := slices.Concat(u.front().page.Keys(), u.keys())
	if u.pages.GetPageCount() > 1 || u.run.alone || u.run.past != nil {
		all = slices.Insert(all, 0, binding{keys: "esc", short: "back"})
	}
	return all
}

// apply takes an update of the feed. news is true if more than the time is different.
func (u *ui) apply(up view.Update) (news bool) {
	var lines []view.Line
	for _, e := range up.LogEvents() {
		lines = append(lines, oneLine(e, u.lines.Lines(e))...)
	}
	notes := u.notes.read(u.feed.Reader()) // without the lock: only this goroutine writes u.notes
	u.mu.Lock()
	defer u.mu.Unlock()
	was, is := u.model.Snapshot, up.Snapshot
	was.At, was.Age, was.Status.Timestamp = is.At, is.Age, is.Status.Timestamp
	news = lines != nil || len(up.Events) > 0 || notes != u.notes || !reflect.DeepEqual(was, is)
	u.notes = notes
	u.model.Apply(up)
	u.run.add(lines, up.Gap)
	for _, s := range u.stack() {
		if p, ok := s.page.(updater); ok {
			p.Update(up)
		}
	}
	return news
}

// runID is the id of the run on the screen.
func (u *ui) runID() string { return cmp.Or(u.model.Run.ID, u.model.Status.RunID) }

// indexOf finds an iteration in the model; -1: it is not there.
func (u *ui) indexOf(n int) int {
	return slices.IndexFunc(u.model.Run.Iterations, func(it view.Iteration) bool { return it.Number == n })
}

// Draw draws everything; tview calls it in its event loop.
func (u *ui) Draw(screen tcell.Screen) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.first.Do(func() { close(u.started) })
	screen.HideCursor()
	x, y, w, h := u.GetInnerRect()
	c := canvas.Canvas{Screen: screen, X: x, Y: y, W: w, H: h, Theme: u.theme}
	u.shown = summary.Of(&u.model, u.o.Now())
	u.pages.SetRect(x, y, w, h) // the run's screen has a header of its own, and leaves the last row free
	if u.pages.GetPageCount() > 1 {
		u.drawHeader(c.Rows(0, 2))
		u.pages.SetRect(x, y+2, w, max(h-3, 0))
	}
	u.pages.Draw(screen)
	if h > 1 {
		u.drawLast(c.Rows(h-1, 1))
	}
}

// drawLast draws the last row: a question, a message or the keys.
func (u *ui) drawLast(c canvas.Canvas) {
	u.spots = nil
	x := 0
	switch {
	case u.prompt != nil:
		u.prompt.draw(c)
		return
	case u.failure != "":
		const read = " (esc)"
		x = c.Text(1, 0, c.Tone(summary.Bad), termtext.Fit(u.failure, c.W-2-len(read)))
		x = c.Text(x, 0, c.Dim(), read) + 2
	case u.message != "" && time.Now().Before(u.until):
		x = c.Text(1, 0, plain.Bold(true), termtext.Fit(u.message, c.W-2)) + 2
	}
	if x < c.W {
		u.spots = drawKeyRow(c.Columns(x, c.W-x), u.hints())
	}
}

// key handles one key in the event loop.
func (u *ui) key(e *tcell.EventKey) {
	u.mu.Lock()
	u.message = "" // it was about an earlier key
	if u.prompt != nil {
		u.answer(e)
	} else {
		u.press(keyName(e))
	}
	u.doLater()
}

// doLater unlocks u, and then does what a key has asked for.
func (u *ui) doLater() {
	all := u.later
	u.later = nil
	u.mu.Unlock()
	for _, do := range all {
		do()
	}
}

// say shows a message for six seconds.
func (u *ui) say(format string, args ...any) {
	u.message, u.until = fmt.Sprintf(format, args...), time.Now().Add(6*time.Second)
}

// fail shows what went wrong until the user closes it: six seconds are easily missed.
func (u *ui) fail(text string) { u.failure, u.message = termtext.Line(text), "" }

// noRalph says why no verb of ralph can be run; empty: it can.
func (u *ui) noRalph() string {
	if len(u.o.Ralph) > 0 {
		return ""
	}
	return cmp.Or(u.o.NoControl, "this screen cannot run ralph")
}

// ralph runs verbs.
func (u *ui) ralph() act.Ralph { return act.Ralph{Command: u.o.Ralph} }

// runVerb runs ralph with arguments in the background and shows its result.
func (u *ui) runVerb(verb ...string) {
	if why := u.noRalph(); why != "" {
		u.fail(verb[0] + " failed: " + why)
		return
	}
	u.say("%s …", verb[0])
	u.working++
	u.background(func() func() {
		text, ok := said(u.ralph(), verb)
		return func() {
			if u.working--; ok {
				u.say("%s", text)
			} else {
				u.fail(text)
			}
			for _, s := range u.stack() {
				if p, shown := s.page.(*tasksPage); shown {
					p.read() // it may have changed the plan
				}
			}
		}
	})
}

// said returns the last line that a verb printed, or why it failed.
func said(ralph act.Ralph, verb []string) (text string, ok bool) {
	name := verb[0]
	if name == "task" || name == "agent" {
		name += " " + verb[1]
	}
	all := ralph.Run(context.Background(), verb...)
	if all.Err != nil {
		return name + " failed: " + all.Line(), false
	}
	return cmp.Or(all.Line(), name+" requested"), true
}

// background calls read in a goroutine, without the lock, and then what it returns, with it.
func (u *ui) background(read func() (show func())) {
	go func() {
		show := read()
		defer u.redraw()
		defer u.lock()()
		show()
	}()
}

// alive reports whether there is a runner to act on. If not, it says so.
func (u *ui) alive() bool {
	if !u.model.Alive {
		u.say("no runner is alive here; start one with: ralph")
	}
	return u.model.Alive
}

// toggleMouse lets the screen have the mouse, or the terminal.
func (u *ui) toggleMouse() {
	u.mouse = !u.mouse
	if u.mouse {
		u.say("mouse on: click selects, double click opens, wheel scrolls")
	} else {
		u.say("mouse off: the terminal selects text")
	}
	on := u.mouse
	u.later = append(u.later, func() { u.app.EnableMouse(on) })
}

// PasteHandler takes what is pasted for the prompt; as keys it could do anything.
func (u *ui) PasteHandler() func(string, func(tview.Primitive)) {
	return func(text string, _ func(tview.Primitive)) {
		defer u.lock()()
		if u.prompt != nil && u.prompt.field != nil {
			for _, r := range termtext.Line(text) {
				u.answer(tcell.NewEventKey(tcell.KeyRune, r, tcell.ModNone))
			}
		}
	}
}

// MouseHandler handles the mouse: the wheel scrolls what is below it, a click selects it or presses the
// key that is named there, and a double click opens it.
func (u *ui) MouseHandler() func(tview.MouseAction, *tcell.EventMouse, func(tview.Primitive)) (bool, tview.Primitive) {
	return func(action tview.MouseAction, e *tcell.EventMouse, _ func(tview.Primitive)) (bool, tview.Primitive) {
		u.mu.Lock()
		defer u.doLater()
		top := u.front()
		x, y := e.Position()
		_, first, _, _ := top.GetRect()
		_, _, _, h := u.GetRect()
		last := y == h-1
		p, clicks := top.page.(clicker)
		y -= first
		switch action {
		case tview.MouseLeftDown:
			at := slices.IndexFunc(u.spots, func(s keySpot) bool { return x >= s.X && x < s.End })
			switch {
			case last && at >= 0:
				u.message = ""
				u.press(u.spots[at].Key)
			case !last && clicks && y > 0:
				p.Click(x, y-1)
			}
		case tview.MouseLeftDoubleClick:
			if u.prompt == nil && !last && clicks && y > 0 {
				u.press("enter")
			}
		case tview.MouseScrollUp:
			top.page.Scroll(-3)
		case tview.MouseScrollDown:
			top.page.Scroll(3)
		default:
			return false, nil
		}
		return true, nil
	}
}
