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
	all    bool // answers are shown, not only those of calls that failed
	failed int  // calls
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
	u.open("transcript", u.transcriptOf(n))
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
		return append([]binding{
			{"enter z", "answers", "show the answers to all tool calls, or only to those that failed", p.unfold},
			{"d", "diff", "what the iteration changed", func() { u.openChanges(n) }},
		}, neighbours(n, u.openTranscript)...)
	}
	return p
}

// unfold shows all answers, or hides them, and keeps the place.
func (p *transcriptPage) unfold() {
	at := p.logView.lines
	if n := p.top.line - p.first; n < len(at) {
		at = at[:n+1]
	}
	p.all = !p.all
	p.replace(p.lines())
	for _, was := range slices.Backward(at) {
		i := slices.IndexFunc(p.logView.lines, func(l view.Line) bool { return l.First && l.At.Equal(was.At) })
		if was.First && i >= 0 {
			p.top = place{p.first + i, 0}
			break
		}
	}
}

// Update adds what has happened.
func (p *transcriptPage) Update(up view.Update) { p.receive(up.Events) }

// transcriptStep is one thing that happened: a tool call, or anything else in a few lines.
type transcriptStep struct {
	lines    []view.Line       // of a call: its name and argument, and what it edits
	sub      []*transcriptStep // of the sub-agent that it started
	answer   []view.Line
	tool     state.Tool
	call     bool
	answered bool
	failed   bool
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
	s := &transcriptStep{tool: d, call: true, lines: view.Lines(state.Event{Time: e.Time, Data: d}, p.log.LineOptions)}
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
		s.lines = append(s.lines, l)
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
		role = view.RoleError
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

// lines are the whole transcript.
func (p *transcriptPage) lines() (all []view.Line) {
	var add func(steps []*transcriptStep, indent string)
	add = func(steps []*transcriptStep, indent string) {
		for _, s := range steps {
			for i, l := range s.lines {
				if l.Text = indent + l.Text; s.call && i == 0 {
					l.Text += " · " + s.how()
				}
				all = append(all, l)
			}
			add(s.sub, indent+"  ")
			for _, l := range s.answer {
				if l.Text = indent + l.Text; p.all || s.failed {
					all = append(all, l)
				}
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
	switch {
	case s.failed:
		return "✗ failed"
	case !s.answered:
		return "no answer yet"
	case len(s.answer) == 0:
		return "✓"
	}
	return "✓ " + termtext.Count(len(s.answer), "line")
}
