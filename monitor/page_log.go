package monitor

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"ralph/logs"
	"ralph/logs/termtext"
	"ralph/monitor/canvas"
	"ralph/state/view"
)

// logPage is a page of lines: the live log, or what is to be read about an iteration or a task.
type logPage struct {
	*logView
	u      *ui
	title  canvas.Title
	about  string             // follows the title where there is room; empty: the file
	live   bool               // lines are added at its end: it follows them
	keys   func() []binding   // besides those of every log; nil: none
	tail   *logs.Tail         // of raw output; nil: it is none
	path   string             // the file with the lines; empty: that of the live log
	remake func() []view.Line // all of them, made anew at each update; nil: they are added
}

// newText returns a page of lines that are made anew, not read from a file.
func newText(u *ui, name, key string, remake func() []view.Line) *logPage {
	p := &logPage{u: u, logView: newLogView(), title: canvas.Title{Name: name, Key: key, Focused: true}, remake: remake}
	p.noOlder, p.follow = true, false
	return p
}

// Close ends the reading of raw output.
func (p *logPage) Close() error {
	if p.tail == nil {
		return nil
	}
	return p.tail.Close()
}

// Keys are the keys of the page.
func (p *logPage) Keys() []binding {
	var own []binding
	if p.keys != nil {
		own = p.keys()
	}
	return slices.Concat(own, p.textKeys(), moveKeys(allUp, p.Scroll, p.screenful))
}

// textKeys are the keys of every log.
func (p *logPage) textKeys() []binding {
	return []binding{
		{"o", "open", "open a clean copy of what is shown in $PAGER", p.openInPager},
		{"/", "search", "search backwards; a query in lower case matches any case", func() { p.u.ask("/", "", p.find) }},
		{"n", "", "next match, towards older lines", func() { p.next(-1) }},
		{"N", "", "next match, towards newer lines", func() { p.next(1) }},
		{"f", "", "follow the end of the log, or stop", func() {
			if p.follow {
				p.follow = false
			} else {
				p.toEnd()
			}
		}},
		{"w", "", "wrap long lines, or cut them", func() { p.wrap = !p.wrap }},
	}
}

// Scroll moves by rows.
func (p *logPage) Scroll(by int) {
	switch by {
	case -far:
		p.toStart()
	case far:
		p.toEnd()
	default:
		p.scroll(by)
	}
	p.u.feed.Poke() // older lines may be wanted
}

func (p *logPage) screenful() int { return max(p.height-1, 1) }

// Back ends a search.
func (p *logPage) Back() bool {
	searched := p.query != ""
	p.setQuery("")
	return searched
}

// find searches for a text.
func (p *logPage) find(text string) {
	p.setQuery(termtext.Line(text))
	switch {
	case p.query == "" || p.search(-1):
	case p.noOlder:
		p.u.say("no match for %q", p.query)
	default:
		p.seek = true
		p.u.say("searching older lines …")
	}
	p.u.feed.Poke()
}

// next goes to another match.
func (p *logPage) next(direction int) {
	switch {
	case p.query == "":
		p.u.say("search first: /")
	case !p.search(direction):
		p.u.say("no match for %q", p.query)
	}
}

// openInPager shows the file with the lines or, if there is none, the lines.
func (p *logPage) openInPager() {
	if p.remake == nil {
		p.u.pageFile(p.file())
		return
	}
	var text strings.Builder
	for _, l := range p.logView.lines {
		text.WriteString(l.Text + "\n")
	}
	p.u.inTerminal(func() error { return inPager("ralph.txt", text.String()) })
}

func (p *logPage) file() string { return cmp.Or(p.path, p.u.feed.Reader().LiveLogPath()) }

// Update takes what has happened since.
func (p *logPage) Update(view.Update) {
	switch {
	case p.remake != nil:
		p.replace(p.remake())
	case p.tail != nil:
		all, err := p.tail.Poll()
		if err != nil {
			p.u.fail(err.Error())
		}
		for _, text := range all {
			p.append(view.RawLines(string(text)))
		}
	}
}

const rawBacklog = 1 << 20 // bytes of raw output that are loaded

// openRaw shows the raw output of an iteration.
func (u *ui) openRaw(n int) {
	run := u.runID()
	path := u.feed.Reader().RawPath(run, n)
	switch latest := u.model.Iteration(); {
	case latest < 1:
		u.say("no iteration has begun yet, so there is no raw output")
		return
	case !exists(path) && n == latest && u.model.Active():
		u.say("iteration %d has printed nothing yet", n)
		return
	case !exists(path):
		u.say("there is no raw output of iteration %d", n)
		return
	}
	p := &logPage{u: u, logView: newLogView(), live: true, tail: logs.NewTail(path, rawBacklog), path: path,
		title: canvas.Title{Name: fmt.Sprintf("Raw output of iteration %d", n), Key: "R", Focused: true}}
	p.noOlder = true
	p.keys = func() []binding { return neighbours(n, u.openRaw) }
	u.open("raw", p)
	p.Update(view.Update{})
}

// neighbours are the keys that show the same of another iteration.
func neighbours(n int, open func(n int)) []binding {
	return []binding{
		{"left", "", "the iteration before", func() { open(n - 1) }},
		{"right", "", "the next iteration", func() { open(n + 1) }},
	}
}

// Draw draws a title and the visible rows.
func (p *logPage) Draw(c canvas.Canvas) {
	t, v := p.title, p.logView
	state := ""
	switch {
	case p.live && v.follow:
		state = "following"
	case p.live:
		state = "scrolled back, f follows"
	}
	if !v.wrap {
		state = view.Join(", ", state, "unwrapped")
	}
	t.Right = view.Join(" · ", v.progress(), t.Right, state)
	c.Title(t)
	about := p.about
	if p.remake == nil {
		about = view.Within(filepath.Dir(p.u.feed.Reader().Dir()), p.file())
	}
	x := termtext.Width(t.Name+t.Key) + 4
	if room := c.W - x - termtext.Width(t.Right) - 8; room >= min(termtext.Width(about), 10) && about != "" {
		c.Text(x, 0, c.Dim(), termtext.Fit(about, room)+" ")
	}
	drawLines(c.Rows(1, c.H-1), v)
}
