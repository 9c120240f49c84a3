package monitor

// The files transcript*.go are the page of what an agent said and did in an iteration: its
// words, its tool calls with their answers below them, and what sub-agents did below the
// call that started them. They read nothing and run nothing.

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"ralph/logs/termtext"
	"ralph/state"
	"ralph/state/view"
)

// transcriptSubject is the iteration that is shown.
type transcriptSubject struct {
	Run    string
	Number int
	Title  string // of its task
	Dir    string // the project; paths in it are shown relative to it
}

// transcriptPage is the page of a transcript. It is not safe for concurrent use.
type transcriptPage struct {
	transcriptSubject
	steps  []*transcriptStep
	calls  map[string]*transcriptStep // by id of the tool call
	last   state.Event                // the latest one
	early  []state.Event              // that came before Load
	ready  bool
	why    string // it cannot be shown
	failed int    // tools
	transcriptSight
}

// transcriptSight is the visible part of the page.
type transcriptSight struct {
	rows   []transcriptRow
	turns  []int // the rows at which turns begin
	width  int   // for which rows are
	cursor int   // row
	top    int
	height int // rows, at the latest draw
	follow bool
}

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

// newTranscript returns a page that waits for its events.
func newTranscript(s transcriptSubject) *transcriptPage {
	return &transcriptPage{transcriptSubject: s, calls: map[string]*transcriptStep{}, transcriptSight: transcriptSight{follow: true}}
}

// Load shows events that were read from the files, and those that came in the meantime.
func (p *transcriptPage) Load(events []state.Event) {
	p.ready = true
	early := p.early
	p.early = nil
	p.Add(events)
	p.Add(early)
}

// Fail shows why there are none.
func (p *transcriptPage) Fail(why string) { p.ready, p.why = true, termtext.Line(why) }

// Add adds what has happened since. It skips events of other iterations, and those it has.
func (p *transcriptPage) Add(events []state.Event) {
	if !p.ready {
		p.early = append(p.early, events...)
		return
	}
	for _, e := range events {
		if e.Iteration != p.Number || e.Run != p.Run {
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
	for i, l := range view.Lines(e, view.LineOptions{Dir: p.Dir}) {
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

// called adds a tool call, below the one that started the sub-agent that makes it.
func (p *transcriptPage) called(e state.Event, d state.Tool) *transcriptStep {
	hunk := d.Hunk
	d.Hunk = ""
	s := &transcriptStep{at: e.Time, role: view.RoleTool, call: &call{tool: d, hunk: clean(hunk, 0)}, folded: hunk == ""}
	for _, l := range view.Lines(state.Event{Time: e.Time, Data: d}, view.LineOptions{Dir: p.Dir}) {
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
	c.answer = append(c.answer, clean(view.Within(p.Dir, d.Text), maxAnswer)...)
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

// words is the whole text of a step, to be copied.
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
