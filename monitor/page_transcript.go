package monitor

import (
	"fmt"
	"slices"
	"strings"

	"ralph/logs/termtext"
	"ralph/state"
	"ralph/state/view"
)

// transcriptPage shows what an agent said and did in an iteration: its words, its tool calls with their answers below
// them, and what sub-agents did below the call that started them.
type transcriptPage struct {
	*logPage
	run    string
	number int // of the iteration
	log    view.Log
	steps  []*transcriptStep
	calls  map[string]*transcriptStep // by id of the tool call
	last   int64                      // number of the latest event
	early  []state.Event              // that came before load
	ready  bool
	all    bool              // every call is open, not only those that failed or were opened
	failed int               // calls
	owners []*transcriptStep // of the lines
}

// Bounds of what is shown.
const (
	maxTranscript = 8 << 20 // bytes of the events of one iteration
	maxAnswer     = 1_000   // lines of one answer
)

// openTranscript shows what the agent says and does in an iteration.
func (u *ui) openTranscript(n int) {
	if u.indexOf(n) < 0 {
		u.say("there is no iteration %d to show", n)
		return
	}
	p := u.transcriptOf(n)
	p.marks = true
	u.open("transcript", p)
}

// transcriptOf returns a page that reads the events of an iteration.
func (u *ui) transcriptOf(n int) *transcriptPage {
	p := newTranscript(u, u.runID(), n)
	if i := u.indexOf(n); i >= 0 {
		p.about = termtext.Line(u.model.Run.Iterations[i].Task)
	}
	r := u.feed.Reader()
	u.background(func() func() {
		events, err := view.EventsOfIteration(r, p.run, n, maxTranscript)
		return func() {
			if p.load(events); err != nil {
				u.fail(err.Error())
			}
		}
	})
	return p
}

// newTranscript returns a page that waits for its events.
func newTranscript(u *ui, run string, n int) *transcriptPage {
	p := &transcriptPage{run: run, number: n, calls: map[string]*transcriptStep{},
		log: view.Log{LineOptions: view.LineOptions{Dir: u.o.Dir}}}
	p.logPage = newText(u, fmt.Sprintf("Transcript of iteration %d", n), "enter", p.lines)
	p.live, p.follow = true, true
	p.keys = func() []binding {
		return []binding{
			{"enter", "open", "open the tool call under the cursor: what it changed and its answer; or close it", p.toggle},
			{"z", "all", "open all tool calls, or only those that failed", func() { p.change(func() { p.all = !p.all }) }},
			{"d", "diff", "what the iteration changed", func() { u.openChanges(n) }},
			{"left", "", "the iteration before", func() { u.openTranscript(n - 1) }},
			{"right", "", "the next iteration", func() { u.openTranscript(n + 1) }},
		}
	}
	return p
}

// Keys are the keys of the page.
func (p *transcriptPage) Keys() []binding {
	return slices.Concat(p.keys(), p.textKeys(), moveKeys(allUp, p.Scroll, p.screenful))
}

// Scroll moves the cursor by lines.
func (p *transcriptPage) Scroll(by int) {
	if by == far || by == -far || !p.marks {
		p.mark = p.first
		p.logPage.Scroll(by)
		return
	}
	p.markLine(p.marked() + by)
}

// Click moves the cursor to a row.
func (p *transcriptPage) Click(_, y int) { p.markLine(p.move(p.top, y).line) }

// toggle opens or closes the call under the cursor.
func (p *transcriptPage) toggle() {
	if s := p.step(); s == nil || !s.call {
		p.u.say("there is no tool call under the cursor")
	} else {
		p.change(func() { s.open = !s.open })
	}
}

// step is what the line under the cursor belongs to; nil: nothing.
func (p *transcriptPage) step() *transcriptStep {
	if at := p.marked() - p.first; at >= 0 && at < len(p.owners) {
		return p.owners[at]
	}
	return nil
}

// change makes the lines anew, and keeps what is under the cursor where it is on the screen.
func (p *transcriptPage) change(do func()) {
	s, y := p.step(), 0
	header := func() int { return p.first + max(slices.Index(p.owners, s), 0) }
	p.mark = header()
	for n := p.top.line; n < p.mark; n++ {
		y += p.rowsOf(n)
	}
	y -= p.top.row
	do()
	p.replace(p.lines())
	p.follow, p.mark = false, header()
	p.top = p.move(place{p.mark, 0}, -max(y, 0))
}

// Update adds what has happened.
func (p *transcriptPage) Update(up view.Update) { p.receive(up.Events) }

// transcriptStep is one thing that happened: a tool call, or anything else in a few lines.
type transcriptStep struct {
	lines    []view.Line       // of a call: its name and argument
	hunk     []view.Line       // what it edits
	sub      []*transcriptStep // of the sub-agent that it started
	answer   []view.Line
	tool     state.Tool
	call     bool
	answered bool
	failed   bool
	open     bool
}

// load shows events that were read from the files, and those that came in the meantime.
func (p *transcriptPage) load(events []state.Event) {
	p.ready = true
	p.receive(append(events, p.early...))
	p.early = nil
}

// receive adds what has happened since. It skips events of other iterations, and those it has.
func (p *transcriptPage) receive(events []state.Event) {
	if !p.ready {
		p.early = append(p.early, events...)
		return
	}
	last := p.last
	for _, e := range events {
		if e.Iteration == p.number && e.Run == p.run && e.Seq > p.last {
			p.last = e.Seq
			p.add(e)
		}
	}
	if p.last == last {
		return
	}
	p.title.Right = ""
	if n := len(p.calls); n > 0 {
		p.title.Right = termtext.Count(n, "call")
	}
	if p.failed > 0 {
		p.title.Right = view.Join(" · ", p.title.Right, fmt.Sprintf("%d failed", p.failed))
	}
	p.replace(p.lines())
}

func (p *transcriptPage) add(e state.Event) {
	switch d := e.Data.(type) {
	case state.Tool:
		p.called(e, d)
	case state.ToolResult:
		p.answered(e, d)
	case state.Usage, state.Phase, state.Decision: // the end of the iteration has these
	default:
		p.steps = append(p.steps, &transcriptStep{lines: p.log.Lines(e)})
	}
}

// called adds a tool call. A sub-agent's call goes below the one that started the sub-agent.
func (p *transcriptPage) called(e state.Event, d state.Tool) *transcriptStep {
	hunk := d.Hunk
	d.Hunk = ""
	s := &transcriptStep{call: true, lines: view.Lines(state.Event{Time: e.Time, Data: d}, p.log.LineOptions)}
	d.Hunk = hunk
	s.tool = d
	if len(s.lines) == 0 {
		s.lines = []view.Line{{At: e.Time, Text: termtext.Line(d.Name), Role: view.RoleTool, First: true}}
	}
	s.lines = s.lines[:1]
	for _, l := range linesOf(hunk, view.RoleAnswer) {
		switch l.Text[:min(1, len(l.Text))] {
		case "+":
			l.Role = view.RoleGood
		case "-":
			l.Role = view.RoleError
		}
		s.hunk = append(s.hunk, l)
	}
	if parent := p.calls[d.Parent]; parent != nil && parent != p.calls[d.ID] {
		parent.sub = append(parent.sub, s)
	} else {
		p.steps = append(p.steps, s)
	}
	if d.ID != "" {
		p.calls[d.ID] = s
	}
	return s
}

// answered puts an answer below its call, even if other events came in between.
func (p *transcriptPage) answered(e state.Event, d state.ToolResult) {
	s := p.calls[d.Tool.ID]
	for _, one := range slices.Backward(p.steps) { // of a call without an id
		if s == nil && one.call && !one.answered && one.tool.ID == "" && one.tool.Name == d.Tool.Name && one.tool.Arg == d.Tool.Arg {
			s = one
		}
	}
	if s == nil {
		s = p.called(e, d.Tool)
	}
	role := view.RoleAnswer
	if s.answered, s.failed = true, d.Error; d.Error {
		role, s.open = view.RoleError, true
		p.failed++
	}
	answer := linesOf(view.Within(p.u.o.Dir, d.Text), role)
	if over := len(answer) - maxAnswer; over > 0 {
		answer = append(answer[:maxAnswer], view.Line{Text: fmt.Sprintf("… %s more", termtext.Count(over, "line")), Role: role})
	}
	s.answer = append(s.answer, answer...)
}

// linesOf splits a text into lines of a role; none if it is blank.
func linesOf(text string, role view.Role) []view.Line {
	if strings.TrimSpace(text) == "" {
		return nil
	}
	all := view.RawLines(strings.Trim(text, "\n"))
	for i := range all {
		all[i].Role = role
	}
	return all
}

// lines are the whole transcript: a tool call is one line, and what is below it if it is open.
func (p *transcriptPage) lines() (all []view.Line) {
	p.owners = nil
	var add func(steps []*transcriptStep, indent string)
	add = func(steps []*transcriptStep, indent string) {
		put := func(s *transcriptStep, lines []view.Line) {
			for _, l := range lines {
				l.Text = indent + l.Text
				all, p.owners = append(all, l), append(p.owners, s)
			}
		}
		for _, s := range steps {
			put(s, s.lines)
			if s.call {
				all[len(all)-1].Text += s.how()
			}
			open := p.all || s.open
			if open {
				put(s, s.hunk)
			}
			add(s.sub, indent+"  ")
			if open {
				put(s, s.answer)
			}
		}
	}
	add(p.steps, "")
	if len(all) == 0 {
		all = []view.Line{{Text: "the agent has neither said nor done anything yet", Role: view.RoleNote}}
	}
	return all
}

// how sums up a call: whether it succeeded, and how long its answer is.
func (s *transcriptStep) how() string {
	end := " · ✓"
	switch {
	case s.failed:
		end = " · ✗ failed"
	case !s.answered:
		end = " · no answer yet"
	case len(s.answer) > 0:
		end += " " + termtext.Count(len(s.answer), "line")
	}
	return edited(s.tool.Hunk) + end
}

// edited is how many lines an edit adds and deletes; empty: it is none.
func edited(hunk string) string {
	if hunk == "" {
		return ""
	}
	added, deleted := view.HunkLines(hunk)
	return fmt.Sprintf(" +%d -%d", added, deleted)
}
