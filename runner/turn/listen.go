package turn

import (
	"fmt"
	"sync"
	"time"

	"ralph/logs"
	"ralph/runner/agent"
	"ralph/state"
)

// Bounds of the narration and the answers of tools of one call that go into events, in bytes. What is beyond them is only
// in its raw output: nobody could read it, and the logs rotate, and would keep none of it.
const (
	shownMost   = 32 << 20
	shownAtOnce = 4 << 20
	shownSecond = 256 << 10 // more for each second since the call began
	shownHead   = 256       // of each event, besides its text
)

// listener adds what the decoder of a call reports to the transcript, and hands it on without its secrets. Of a flood of
// narration and of what tools print, it hands on only a part.
type listener struct {
	hide  func(state.Payload) state.Payload
	show  func(state.Payload)
	keep  func(state.Payload)
	raw   string // what has all that the agent prints
	spent spent

	keys  logs.PrivateKeys
	began time.Time
	shown int  // bytes
	told  bool // that something is left out
}

func (t *turn) listener(transcript *agent.Transcript) *listener {
	var circles agent.StuckWatch
	return &listener{hide: t.redacted, show: t.send, spent: spent{show: t.send}, began: time.Now(),
		raw: fmt.Sprintf("%d.raw", t.a.Origin.Iteration),
		keep: func(p state.Payload) {
			transcript.Add(p)
			transcript.Repeats = circles.See(p)
		}}
}

func (l *listener) take(p state.Payload) {
	n, bulk := 0, false
	switch d := p.(type) {
	case state.Usage:
		l.keep(d)
		l.spent.so(d)
		return
	case state.FinalMessage:
		l.spent.tell()
	case state.Text: // perhaps one line of a key
		d.Text = l.keys.Cut(d.Text)
		n, bulk, p = shownHead+len(d.Text), d.Source == state.FromModel, d
	case state.ToolResult:
		n, bulk = shownHead+len(d.Text), !d.Error
	}
	most := min(shownMost, shownAtOnce+int(time.Since(l.began).Seconds()*shownSecond))
	if bulk && l.shown+n > most || l.shown+n > shownMost {
		if l.keep(p); !l.told {
			l.told = true
			l.show(state.Text{Text: "(this is more than anybody can read: the rest is in " + l.raw + ")", Source: state.FromHint})
		}
		return
	}
	l.shown += n
	p = l.hide(p)
	l.keep(p)
	l.show(p)
}

// tellEvery is how often events say what a call has spent so far. Each message of an agent says it.
const tellEvery = time.Second

// spent hands on what a call has spent so far: at once, then the latest once a second.
type spent struct {
	show func(state.Payload)

	mu     sync.Mutex
	latest state.Payload // not handed on yet; nil: nothing
	timer  *time.Timer   // runs for a second after something was handed on; nil: it does not
}

func (s *spent) so(u state.Usage) {
	s.mu.Lock()
	waits := s.timer != nil
	s.latest = u
	s.mu.Unlock()
	if !waits {
		s.tell()
	}
}

// tell hands on what is left.
func (s *spent) tell() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.timer != nil {
		s.timer.Stop()
		s.timer = nil
	}
	if s.latest != nil {
		s.show(s.latest)
		s.latest, s.timer = nil, time.AfterFunc(tellEvery, s.tell)
	}
}
