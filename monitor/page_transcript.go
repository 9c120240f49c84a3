package monitor

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gdamore/tcell/v2"

	"ralph/logs/termtext"
	"ralph/monitor/canvas"
	"ralph/state"
	"ralph/state/view"
	"ralph/state/view/summary"
)

// transcriptPage shows what an agent said and did in an iteration: its words, its tool calls with their answers below
// them, and what sub-agents did below the call that started them.
type transcriptPage struct {
	u      *ui
	run    string
	number int    // of the iteration
	title  string // of its task
	steps  []*transcriptStep
	calls  map[string]*transcriptStep // by id of the tool call
	last   state.Event                // the latest one
	early  []state.Event              // that came before load
	ready  bool
	why    string // it cannot be shown
	failed int    // tools

	rows   []transcriptRow
	width  int // for which rows are
	cursor int // row
	top    int
	height int // rows, at the latest draw
	follow bool
}

// maxTranscript bounds the events of one iteration that are read, in bytes.
const maxTranscript = 8 << 20

// openTranscript shows what the agent says and does in an iteration.
func (u *ui) openTranscript(n int) {
	i := u.indexOf(n)
	if i < 0 {
		u.say("there is no iteration %d to show", n)
		return
	}
	p := newTranscript(u, u.runID(), n, u.model.Run.Iterations[i].Task)
	u.open("transcript", p)
	r := u.feed.Reader()
	u.background(func() func() {
		events, err := view.EventsOfIteration(r, p.run, n, maxTranscript)
		return func() {
			if err != nil {
				p.ready, p.why = true, termtext.Line(err.Error())
				return
			}
			p.load(events)
		}
	})
}

// newTranscript returns a page that waits for its events.
func newTranscript(u *ui, run string, n int, title string) *transcriptPage {
	return &transcriptPage{u: u, run: run, number: n, title: title, calls: map[string]*transcriptStep{}, follow: true}
}

// Keys are the keys of the page.
func (p *transcriptPage) Keys() []binding {
	return append([]binding{
		{"enter", "fold", "fold the tool call at the cursor, or unfold it", p.fold},
		{"z", "fold all", "fold all tool calls, or unfold them", p.foldAll},
		{"r", "review", "review the iteration: how it ended, its checks and findings",
			func() { p.u.openReview(p.number) }},
		{"d", "diff", "what the iteration changed", func() { p.u.openChanges(p.number) }},
		{"left", "", "the iteration before", func() { p.u.openTranscript(p.number - 1) }},
		{"right", "", "the next iteration", func() { p.u.openTranscript(p.number + 1) }},
		{"o", "open", "open a copy of the transcript in $PAGER", func() {
			name, text := fmt.Sprintf("iteration-%d.txt", p.number), p.text()
			p.u.inTerminal(func() error { return inPager(name, text) })
		}},
		{"f", "", "follow the end, or stop", func() {
			if p.follow = !p.follow; p.follow {
				p.cursor = max(len(p.rows)-1, 0)
			}
		}},
	}, moveKeys(allUp, p.Scroll, func() int { return max(p.height, 2) - 1 })...)
}

// Update adds what has happened.
func (p *transcriptPage) Update(up view.Update) { p.receive(up.Events) }

// transcriptStep is one thing that happened: words, a tool call, or anything else in a few lines.
type transcriptStep struct {
	at     time.Time
	role   view.Role
	lines  []string          // of a call only the first one: its name and argument
	sub    []*transcriptStep // of the sub-agent that it started
	call   *call             // nil: it is none
	folded bool              // the answer of the call, and what is below it
	chosen bool              // a person has folded or unfolded it
}

// call is the rest of a tool call.
type call struct {
	tool     state.Tool
	hunk     []string
	answer   []string
	answered bool
	failed   bool
}

// Bounds of what is shown.
const (
	maxSteps  = 20_000
	maxAnswer = 1_000 // lines of one answer
)

// load shows events that were read from the files, and those that came in the meantime.
func (p *transcriptPage) load(events []state.Event) {
	p.ready = true
	early := p.early
	p.early = nil
	p.receive(events)
	p.receive(early)
}

// receive adds what has happened since. It skips events of other iterations, and those it has.
func (p *transcriptPage) receive(events []state.Event) {
	if !p.ready {
		p.early = append(p.early, events...)
		return
	}
	for _, e := range events {
		if e.Iteration != p.number || e.Run != p.run {
			continue
		}
		if known := e.Seq <= p.last.Seq; e.Seq > 0 && known ||
			e.Seq == 0 && !e.Time.After(p.last.Time) && p.last.Seq > 0 {
			continue
		}
		p.add(e)
		p.last = e
		p.width = 0
	}
	if over := len(p.steps) - maxSteps; over > 0 {
		p.steps = slices.Delete(p.steps, 0, over)
	}
}

func (p *transcriptPage) add(e state.Event) {
	switch d := e.Data.(type) {
	case state.Tool:
		p.called(e, d)
	case state.ToolResult:
		p.answered(e, d)
	case state.FinalMessage:
		if text := strings.TrimSpace(d.Text); d.Error || text != "" && !p.said(text) {
			p.addEvent(e)
		}
	case state.Usage, state.Phase, state.Decision: // the end of the iteration has these
	default:
		p.addEvent(e)
	}
}

// said reports whether the latest words end with the text.
func (p *transcriptPage) said(text string) bool {
	for _, s := range slices.Backward(p.steps) {
		if s.role == view.RoleText && s.call == nil {
			return strings.HasSuffix(text, strings.TrimSpace(s.lines[len(s.lines)-1]))
		}
	}
	return false
}

// addEvent adds an event that is only lines.
func (p *transcriptPage) addEvent(e state.Event) {
	s := &transcriptStep{at: e.Time}
	for i, l := range view.Lines(e, view.LineOptions{Dir: p.u.o.Dir}) {
		if i > 0 && l.First && l.Role != s.role {
			p.steps = append(p.steps, s)
			s = &transcriptStep{at: e.Time}
		}
		if len(s.lines) == 0 {
			s.role = l.Role
		}
		s.lines = append(s.lines, l.Text)
	}
	if len(s.lines) > 0 {
		p.steps = append(p.steps, s)
	}
}

// called adds a tool call. A sub-agent's call goes below the one that started the sub-agent.
func (p *transcriptPage) called(e state.Event, d state.Tool) *transcriptStep {
	hunk := d.Hunk
	d.Hunk = ""
	s := &transcriptStep{at: e.Time, role: view.RoleTool, call: &call{tool: d, hunk: clean(hunk, 0)}, folded: hunk == ""}
	for _, l := range view.Lines(state.Event{Time: e.Time, Data: d}, view.LineOptions{Dir: p.u.o.Dir}) {
		s.lines = append(s.lines, l.Text)
		break
	}
	if len(s.lines) == 0 {
		s.lines = []string{termtext.Line(d.Name)}
	}
	if d.ID != "" {
		p.calls[d.ID] = s
	}
	if parent := p.calls[d.Parent]; d.Parent != "" && parent != nil && parent != s {
		parent.sub = append(parent.sub, s)
		parent.open()
		return s
	}
	p.steps = append(p.steps, s)
	return s
}

// open shows what is below a call, unless a person has folded it.
func (s *transcriptStep) open() { s.folded = s.folded && s.chosen }

// answered puts an answer below its call, even if other events came in between.
func (p *transcriptPage) answered(e state.Event, d state.ToolResult) {
	s := p.calls[d.Tool.ID]
	if d.Tool.ID == "" || s == nil {
		if s = p.waiting(d.Tool); s == nil {
			s = p.called(e, d.Tool)
		}
	}
	c := s.call
	c.answered, c.failed = true, d.Error
	c.answer = append(c.answer, clean(view.Within(p.u.o.Dir, d.Text), maxAnswer)...)
	if d.Error {
		p.failed++
		s.open()
	}
}

// waiting is the latest call without an id that has no answer yet; nil if there is none.
func (p *transcriptPage) waiting(t state.Tool) *transcriptStep {
	for _, s := range slices.Backward(p.steps) {
		if c := s.call; c != nil && c.tool.ID == "" && !c.answered && c.tool.Name == t.Name && c.tool.Arg == t.Arg {
			return s
		}
	}
	return nil
}

// clean splits text into lines that can be printed; at most that many, or all of them if 0.
func clean(text string, most int) []string {
	text = strings.Trim(text, "\n")
	if strings.TrimSpace(text) == "" {
		return nil
	}
	var all []string
	for _, l := range view.RawLines(text) {
		all = append(all, strings.TrimRight(l.Text, " "))
	}
	if over := len(all) - most; most > 0 && over > 0 {
		all = append(all[:most], fmt.Sprintf("… %s more", termtext.Count(over, "line")))
	}
	return all
}

// words is the whole text of a step.
func (s *transcriptStep) words() string {
	all := slices.Clone(s.lines)
	if c := s.call; c != nil {
		all = slices.Concat(all, c.hunk, c.answer)
	}
	return strings.Join(all, "\n")
}

// text is the whole transcript.
func (p *transcriptPage) text() string {
	var b strings.Builder
	var write func(all []*transcriptStep, indent string)
	write = func(all []*transcriptStep, indent string) {
		for _, s := range all {
			mark := ""
			if s.call != nil {
				mark = "> "
			}
			for i, line := range strings.Split(s.words(), "\n") {
				if i == 1 && mark != "" {
					mark = "    "
				}
				b.WriteString(indent + mark + line + "\n")
			}
			write(s.sub, indent+"    ")
		}
	}
	write(p.steps, "")
	return b.String()
}

// Scroll moves the cursor.
func (p *transcriptPage) Scroll(by int) {
	p.cursor = min(max(p.cursor+by, 0), max(len(p.rows)-1, 0))
	p.follow = by > 0 && p.cursor == len(p.rows)-1
}

// Click moves the cursor to a row.
func (p *transcriptPage) Click(_, y int) {
	if at := p.top + y; at < len(p.rows) {
		p.cursor, p.follow = at, false
	}
}

// at is the step at the cursor; nil if there is none.
func (p *transcriptPage) at() *transcriptStep {
	if p.cursor < 0 || p.cursor >= len(p.rows) {
		return nil
	}
	return p.rows[p.cursor].step
}

func (p *transcriptPage) fold() {
	s := p.at()
	if s == nil || s.call == nil {
		p.u.say("only tool calls fold")
		return
	}
	s.folded, s.chosen, p.width, p.follow = !s.folded, true, 0, false
}

func (p *transcriptPage) foldAll() {
	open := false
	var walk func(all []*transcriptStep, do func(*transcriptStep))
	walk = func(all []*transcriptStep, do func(*transcriptStep)) {
		for _, s := range all {
			if s.call != nil {
				do(s)
			}
			walk(s.sub, do)
		}
	}
	walk(p.steps, func(s *transcriptStep) { open = open || !s.folded })
	walk(p.steps, func(s *transcriptStep) { s.folded, s.chosen = open, true })
	p.width = 0
}

// transcriptRow is one row of the page.
type transcriptRow struct {
	step  *transcriptStep
	text  string
	depth int
	head  bool // the first row of a step
	kind  byte // of the rows below a call: '+', '-', '|' or '!'; 0: it belongs to the step itself
}

const (
	stamped = 90 // minimum width for the times
	indent  = 2  // cells for each level
)

// layOut makes the rows for a width. The cursor stays on its step.
func (p *transcriptPage) layOut(width int) {
	if width == p.width {
		return
	}
	at, below := p.at(), 0
	for i := p.cursor; i > 0 && at != nil && !p.rows[i].head; i-- {
		below++
	}
	p.rows, p.width = p.rows[:0], width
	for _, s := range p.steps {
		p.rowsOf(s, 0)
	}
	for i := range p.rows {
		if p.rows[i].step == at && p.rows[i].head {
			p.cursor = i
			for below > 0 && i+1 < len(p.rows) && p.rows[i+1].step == at {
				i, below = i+1, below-1
				p.cursor = i
			}
			break
		}
	}
	if p.follow {
		p.cursor = len(p.rows) - 1
	}
	p.cursor = min(max(p.cursor, 0), max(len(p.rows)-1, 0))
}

func (p *transcriptPage) rowsOf(s *transcriptStep, depth int) {
	room := max(p.width-depth*indent-3, 8)
	add := func(kind byte, text string) {
		for _, part := range termtext.Wrap(text, room) {
			p.rows = append(p.rows, transcriptRow{step: s, text: part, depth: depth, kind: kind})
		}
	}
	first := len(p.rows)
	if s.call != nil {
		p.rows = append(p.rows, transcriptRow{step: s, text: s.lines[0], depth: depth})
	} else {
		for _, line := range s.lines {
			add(0, line)
		}
	}
	if first == len(p.rows) {
		p.rows = append(p.rows, transcriptRow{step: s, depth: depth})
	}
	p.rows[first].head = true
	if s.call == nil || s.folded {
		return
	}
	room -= 2
	for _, line := range s.call.hunk {
		kind := byte('|')
		if line != "" && (line[0] == '+' || line[0] == '-') {
			kind = line[0]
		}
		add(kind, line)
	}
	for _, below := range s.sub {
		p.rowsOf(below, depth+1)
	}
	kind := byte('|')
	if s.call.failed {
		kind = '!'
	}
	for _, line := range s.call.answer {
		add(kind, line)
	}
}

// Draw draws the page. The cost depends on the rows on the screen, unless something happened.
func (p *transcriptPage) Draw(c canvas.Canvas) {
	name := fmt.Sprintf("Transcript of iteration %d", p.number)
	stamps := c.W >= stamped
	text := c.Rows(1, c.H-1)
	if stamps {
		text = text.Columns(9, c.W-9)
	}
	p.height = text.H
	p.layOut(text.W)
	x := termtext.Width(name) + 9
	right := p.right()
	c.Title(canvas.Title{Name: name, Key: "enter", Focused: true, Right: right})
	if room := c.W - x - termtext.Width(right) - 6; p.title != "" && room >= 10 {
		c.Text(x, 0, c.Dim(), termtext.Fit(termtext.Line(p.title), room)+" ")
	}
	switch {
	case p.why != "":
		text.Text(1, 0, c.Tone(summary.Bad), termtext.Fit(p.why, text.W-2))
		return
	case !p.ready:
		text.Text(1, 0, c.Dim(), "reading the events …")
		return
	case len(p.rows) == 0:
		text.Text(1, 0, c.Dim(), termtext.Fit("the agent has neither said nor done anything yet", text.W-2))
		return
	}
	p.top = c.Rows(0, text.H).First(p.top, p.cursor, len(p.rows))
	for y := 0; y < text.H && p.top+y < len(p.rows); y++ {
		r := &p.rows[p.top+y]
		if stamps && r.head && !r.step.at.IsZero() {
			c.Text(0, y+1, c.Dim(), r.step.at.In(p.u.o.Now().Location()).Format(time.TimeOnly))
		}
		r.draw(text.Rows(y, 1), p.top+y == p.cursor)
	}
}

// right is the counts at the right of the title.
func (p *transcriptPage) right() string {
	calls, failed, following := "", "", ""
	if n := len(p.calls); n > 0 {
		calls = termtext.Count(n, "call")
	}
	if p.failed > 0 {
		failed = fmt.Sprintf("%d failed", p.failed)
	}
	if p.follow {
		following = "following"
	}
	return view.Join(" · ", calls, failed, following)
}

func (r *transcriptRow) draw(c canvas.Canvas, selected bool) {
	style := styleOf(c, r)
	if selected {
		style = tcell.StyleDefault.Reverse(true)
		c.Text(0, 0, style, strings.Repeat(" ", c.W))
	}
	x := r.depth * indent
	switch {
	case r.kind == '|' || r.kind == '!':
		c.Text(x+1, 0, style, "│ "+r.text)
		return
	case r.kind != 0:
		c.Text(x+1, 0, style, "  "+r.text)
		return
	case r.step.call == nil:
		mark := " "
		if r.head {
			mark = canvas.Mark(r.step.role)
		}
		c.Text(c.Text(x, 0, style, mark+" "), 0, style, r.text)
		return
	}
	how, tone := r.step.call.how(r.step)
	side := c.Tone(tone)
	if tone == summary.Calm {
		side = c.Dim()
	}
	if selected {
		side = style
	}
	at := c.W - termtext.Width(how) - 1
	sign := "▾ "
	if r.step.folded {
		sign = "▸ "
	}
	end := c.Text(c.Text(x, 0, style, sign), 0, style, termtext.Fit(r.text, max(at-x-4, 4)))
	if at > end {
		c.Text(at, 0, side, how)
	}
}

// how sums up a call: whether it succeeded, and how many nested calls and folded lines it has.
func (c *call) how(s *transcriptStep) (text string, tone summary.Tone) {
	var size []string
	if n := len(s.sub); n > 0 {
		size = append(size, termtext.Count(n, "call"))
	}
	if n := len(c.answer); n > 0 && s.folded {
		size = append(size, termtext.Count(n, "line"))
	}
	switch {
	case c.failed:
		size, tone = append(size, "✗ failed"), summary.Bad
	case c.answered:
		size, tone = append(size, "✓"), summary.Calm
	default:
		size, tone = append(size, "no answer yet"), summary.Busy
	}
	return strings.Join(size, " · "), tone
}

func styleOf(c canvas.Canvas, r *transcriptRow) tcell.Style {
	switch r.kind {
	case '+':
		return c.Tone(summary.Good)
	case '-':
		return c.Tone(summary.Bad).Bold(false)
	case '|':
		return c.Dim()
	case '!':
		return c.Tone(summary.Bad).Bold(false)
	}
	return c.Role(r.step.role)
}
