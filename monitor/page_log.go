package monitor

import (
	"path/filepath"
	"slices"
	"strings"

	"ralph/logs/termtext"
	"ralph/monitor/canvas"
	"ralph/state"
	"ralph/state/view"
)

// logPage is a page of lines: the live log, or what is to be read about an iteration or a task.
type logPage struct {
	*logView
	u      *ui
	title  canvas.Title
	about  string             // follows the title where there is room
	live   bool               // lines are added at its end: it follows them
	keys   func() []binding   // besides those of every log; nil: none
	remake func() []view.Line // all of them, made anew at each update; nil: it is the live log
}

// newText returns a page of lines that are made anew, not read from a file.
func newText(u *ui, name, key string, remake func() []view.Line) *logPage {
	p := &logPage{u: u, logView: newLogView(), title: canvas.Title{Name: name, Key: key, Focused: true}, remake: remake}
	p.noOlder, p.follow = true, false
	return p
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

// openInPager shows the file of the live log, or the lines.
func (p *logPage) openInPager() {
	if p.remake == nil {
		p.u.pageFile(p.u.feed.Reader().LiveLogPath())
		return
	}
	var text strings.Builder
	for _, l := range p.logView.lines {
		text.WriteString(l.Text + "\n")
	}
	p.u.inTerminal(func() error { return inPager("ralph.txt", text.String()) })
}

// Update takes what has happened since.
func (p *logPage) Update(view.Update) {
	if p.remake != nil {
		p.replace(p.remake())
	}
}

// oneLine leaves of a tool call one line, unless it failed. The transcript has the rest.
func oneLine(e state.Event, lines []view.Line) []view.Line {
	switch d := e.Data.(type) {
	case state.Tool:
		if len(lines) > 1 {
			lines[0].Text += edited(d.Hunk)
			return lines[:1]
		}
	case state.ToolResult:
		if !d.Error {
			return nil
		}
	}
	return lines
}

// Draw draws a title and the visible rows.
func (p *logPage) Draw(c canvas.Canvas) {
	t, v := p.title, p.logView
	drawLines(c.Rows(1, c.H-1), v)
	state := ""
	switch last := v.lastTop(); {
	case p.live && v.follow:
		state = "following"
	case p.live:
		state = "scrolled back, f follows"
	case v.top.before(last):
		state = "more below"
	case v.first < v.top.line:
		state = "the end"
	}
	if !v.wrap {
		state = view.Join(", ", state, "unwrapped")
	}
	t.Right = view.Join(" · ", v.progress(), t.Right, state)
	c.Title(t)
	about := p.about
	if p.remake == nil {
		about = view.Within(filepath.Dir(p.u.feed.Reader().Dir()), p.u.feed.Reader().LiveLogPath())
	}
	x := termtext.Width(t.Name+t.Key) + 4
	if room := c.W - x - termtext.Width(t.Right) - 6; room >= min(termtext.Width(about), 10) && about != "" {
		c.Text(x, 0, c.Dim(), termtext.Fit(about, room)+" ")
	}
}
