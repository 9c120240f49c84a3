package monitor

import (
	"cmp"
	"time"

	"ralph/logs"
	"ralph/logs/termtext"
	"ralph/state/view"
	"ralph/state/view/summary"
)

// lock locks u and returns its unlock.
func (u *ui) lock() func() {
	u.mu.Lock()
	return u.mu.Unlock
}

// askBefore asks before a verb that throws work away.
func (u *ui) askBefore(verb string) {
	defer u.lock()()
	if !u.model.Alive {
		u.say("no runner is alive here; start one with: ralph")
		return
	}
	u.asks, u.verb = askToAct, verb
}

func (u *ui) askSearch() {
	defer u.lock()()
	u.asks, u.line, u.help = askQuery, inputLine{}, false
}

func (u *ui) askForNote() {
	defer u.lock()()
	u.asks, u.line, u.help = askNote, inputLine{}, false
}

func (u *ui) search(direction int) {
	defer u.lock()()
	v := u.shown()
	switch {
	case v.query == "":
		u.say("search first: /")
	case !v.search(direction):
		u.say("no match for %q", v.query)
	}
}

func (u *ui) pauseOrResume() {
	u.mu.Lock()
	verb := "pause"
	if summary.Of(&u.model, u.o.Now()).Resumable {
		verb = "resume"
	}
	u.mu.Unlock()
	u.control(verb)
}

// show shows only panel p, or all panels again.
func (u *ui) show(p panel) {
	defer u.lock()()
	u.help, u.timeline = false, nil
	u.closePage()
	if u.alone == p {
		u.alone = panelHeader
		return
	}
	u.alone = p
	if p == panelIterations || p == panelLog {
		u.focus = p
	}
}

func (u *ui) showNumber() {
	if p := panel(u.pressed[0] - '0'); p >= panelPlan && p < panelKeys {
		u.show(p)
	}
}

func (u *ui) nextFocus() {
	defer u.lock()()
	if u.alone == panelHeader && u.page == nil && !u.help {
		u.focus = panelIterations + panelLog - u.focus
	}
}

func (u *ui) toggleHelp() {
	defer u.lock()()
	u.help, u.about, u.helpTop = !u.help, false, 0
}

func (u *ui) toggleMouse() {
	u.mu.Lock()
	u.mouse = !u.mouse
	on := u.mouse
	if on {
		u.say("mouse on: click selects, double click opens, wheel scrolls")
	} else {
		u.say("mouse off: the terminal selects text")
	}
	u.mu.Unlock()
	u.app.EnableMouse(on)
}

func (u *ui) toggleFollow() {
	defer u.lock()()
	if v := u.shown(); v.follow {
		v.follow = false
	} else {
		v.toEnd()
	}
}

func (u *ui) toggleWrap() {
	defer u.lock()()
	v := u.shown()
	v.wrap, v.shift = !v.wrap, 0
}

// back closes one thing: a failure, help, a search, a page or a single panel.
func (u *ui) back() {
	defer u.lock()()
	switch v := u.shown(); {
	case u.failure != "":
		u.failure = ""
	case u.help:
		u.help = false
	case v.query != "":
		v.setQuery("")
	case u.page != nil:
		u.closePage()
	case u.timeline != nil:
		u.timeline = nil
	default:
		u.alone = panelHeader
	}
}

func (u *ui) quit() { u.app.Stop() }

// toShell suspends this process, as Ctrl-Z does, if a shell can resume it.
func (u *ui) toShell() {
	if underShell() {
		u.app.Suspend(stopSelf)
		return
	}
	defer u.lock()()
	u.say("there is no shell to return to")
}

// listed reports whether keys now move the selection in the list of iterations.
func (u *ui) listed() bool { return u.focus == panelIterations && u.page == nil && u.alone != panelLog }

func (u *ui) screenful() int {
	defer u.lock()()
	return max(u.shown().height-1, 1)
}

func (u *ui) scroll(by int) {
	defer u.lock()()
	switch {
	case u.help:
		u.helpTop += by // drawing limits it to the page
	case u.palette != nil:
		u.palette.Scroll(by)
	case u.top() != nil:
		u.top().Scroll(by)
	case u.timeline != nil && u.page == nil:
		u.timeline.Scroll(by)
	case u.listed():
		u.selected = moveIteration(&u.model.Run, u.selected, by)
	default:
		u.shown().scroll(by)
		u.feed.Poke() // older lines may be wanted
	}
}

func (u *ui) toStart() {
	defer u.lock()()
	switch {
	case u.help:
		u.helpTop = 0
	case u.listed():
		u.selected = 0
	default:
		u.shown().toStart()
		u.feed.Poke()
	}
}

func (u *ui) toEnd() {
	defer u.lock()()
	switch {
	case u.help:
		u.helpTop = 1 << 20
	case u.listed():
		u.selected = max(len(u.model.Run.Iterations)-1, 0)
	default:
		u.shown().toEnd()
	}
}

// sideways scrolls an unwrapped log, or shows the raw output of the iteration before
// or after.
func (u *ui) sideways(by int) {
	u.mu.Lock()
	if u.timeline != nil && u.page == nil {
		defer u.mu.Unlock()
		u.selects(u.timeline.Step(&u.model.Run, by))
		return
	}
	v, p := u.shown(), u.page
	if !v.wrap {
		v.shift = min(max(v.shift+by*v.width/2, 0), view.MaxLine)
	}
	wrap := v.wrap
	u.mu.Unlock()
	switch {
	case p == nil || !wrap || p.of == 0 || p.of+by < 1:
	case p.tail != nil:
		u.openRawOf(p.of + by)
	default:
		u.openReviewOf(p.of + by)
	}
}

// olderBytes is how much of the events is loaded at once for a log that is scrolled back.
const olderBytes = 1 << 20

const rawBacklog = 1 << 20 // bytes of raw output that are loaded

// chosen is the selected iteration or, outside of the list, the latest one.
func (u *ui) chosen() int {
	if i := len(u.model.Run.Iterations) - 1 - u.selected; u.focus == panelIterations && i >= 0 {
		return u.model.Run.Iterations[i].Number
	}
	return u.model.Iteration()
}

// selects makes an iteration of the timeline the chosen one. u is locked.
func (u *ui) selects(number int) {
	if i := u.indexOf(number); i >= 0 {
		u.focus, u.selected = panelIterations, len(u.model.Run.Iterations)-1-i
	}
}

// selectedNumber is the number of the selected iteration; 0: the newest is selected,
// whichever that is.
func (u *ui) selectedNumber() int {
	if i := len(u.model.Run.Iterations) - 1 - u.selected; u.selected > 0 && i >= 0 {
		return u.model.Run.Iterations[i].Number
	}
	return 0
}

// rowOf is the row of an iteration in the list, counted from the newest. For one of another
// run, it is the newest.
func (u *ui) rowOf(number int, run string) int {
	if i := u.indexOf(number); u.model.Run.ID == run && i >= 0 {
		return len(u.model.Run.Iterations) - 1 - i
	}
	return 0
}

// run is the id of the run on the screen.
func (u *ui) run() string { return cmp.Or(u.model.Run.ID, u.model.Status.RunID) }

// openReview shows the result of the chosen iteration, or goes back.
func (u *ui) openReview() { u.toggleOf(u.openReviewOf) }

// openRaw shows the raw output of the chosen iteration, or goes back.
func (u *ui) openRaw() { u.toggleOf(u.openRawOf) }

func (u *ui) toggleOf(open func(n int)) {
	u.mu.Lock()
	was, n := u.page != nil, u.chosen()
	u.help = false
	if was {
		u.closePage()
	}
	u.mu.Unlock()
	if !was {
		open(n)
	}
}

// closePage goes back to the panels.
func (u *ui) closePage() {
	if u.page != nil && u.page.tail != nil {
		_ = u.page.tail.Close()
	}
	u.page = nil
}

func (u *ui) openRawOf(n int) {
	defer u.lock()()
	run := u.run()
	path := u.feed.Reader().RawPath(run, n)
	switch latest := u.model.Iteration(); {
	case run == "" || n < 1:
		u.say("no iteration has begun yet, so there is no raw output")
		return
	case !exists(path) && n == latest && u.model.Active():
		u.say("iteration %d has printed nothing yet", n)
		return
	case !exists(path):
		u.say("there is no raw output of iteration %d", n)
		return
	}
	u.closePage()
	u.page = &reading{logView: newLogView(), of: n, tail: logs.NewTail(path, rawBacklog)}
	u.page.noOlder = true
	u.readRaw()
}

// readRaw appends new raw output.
func (u *ui) readRaw() {
	lines, err := u.page.tail.Poll()
	if err != nil {
		u.say("%s", termtext.Line(err.Error()))
	}
	for _, text := range lines {
		u.page.append(view.RawLines(string(text)))
	}
}

// readMore loads new raw output, and older lines for a log that is scrolled back. It
// runs in the goroutine of the feed.
func (u *ui) readMore() {
	u.mu.Lock()
	if u.page != nil && u.page.tail != nil {
		u.readRaw()
	}
	wanted := (u.log.needOlder || u.log.query != "") && !u.log.noOlder && u.page == nil
	before := u.log.oldest()
	held := map[int64]bool{}
	if wanted {
		held = u.log.times()
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
		u.say("%s", termtext.Line(err.Error()))
	}
	asked := u.log.needOlder
	if before.Equal(u.log.oldest()) {
		u.log.prepend(lines)
	}
	switch v := u.log; {
	case v.seek && v.search(-1):
		v.seek = false
	case v.seek && v.noOlder:
		v.seek = false
		u.say("no match for %q", v.query)
	}
	if !u.log.noOlder && u.log.query != "" {
		u.feed.Poke() // a search covers the whole log
	}
	if u.log.noOlder && asked {
		from := u.log.oldest().Local().Format(time.TimeOnly)
		u.say("the beginning, %s; o opens the whole log", from)
	}
}
