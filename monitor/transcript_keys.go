package monitor

import (
	"fmt"

	"github.com/gdamore/tcell/v2"

	"ralph/monitor/canvas"
)

func transcriptBindings() []pageBinding[*transcriptPage] {
	turn := func(by int) func(*transcriptPage) keyAct {
		return func(p *transcriptPage) keyAct {
			p.turn(by)
			return keyAct{}
		}
	}
	other := func(open pageToOpen, by int) func(*transcriptPage) keyAct {
		return func(p *transcriptPage) keyAct { return keyAct{Close: true, Open: open, Of: p.Number + by} }
	}
	return append([]pageBinding[*transcriptPage]{
		keyRow("esc", "back", "back", func(*transcriptPage) keyAct { return keyAct{Close: true} }),
		keyRow("enter", "fold", "fold the tool call at the cursor, or unfold it", (*transcriptPage).fold),
		keyRow("z", "fold all", "fold all tool calls, or unfold them", (*transcriptPage).foldAll),
		keyRow("]", "next turn", "the next turn: where the agent speaks again", turn(1)),
		keyRow("[", "", "the turn before", turn(-1)),
		keyRow("r", "review", "review the iteration: how it ended, its checks and findings", other(pageReview, 0)),
		keyRow("d", "diff", "what the iteration changed", other(pageChanges, 0)),
		keyRow("left", "", "the iteration before", other(pageTranscript, -1)),
		keyRow("right", "", "the next iteration", other(pageTranscript, 1)),
		keyRow("e", "", "open the file of the tool call in $EDITOR, else a copy of the transcript", (*transcriptPage).edit),
		keyRow("y", "copy", "copy what stands at the cursor into the clipboard of the terminal (asks once)",
			(*transcriptPage).yank),
		keyRow("f", "", "follow the end, or stop", (*transcriptPage).toggleFollow),
	}, moveKeys("pgup b ctrl-u", func(p *transcriptPage) int { return max(p.height, 2) - 1 })...)
}

// Hints are the keys of the page.
func (p *transcriptPage) Hints() []keyHint { return pageHints(transcriptBindings()) }

// Asks is false: the page asks nothing.
func (p *transcriptPage) Asks() bool { return false }

// DrawAsk draws nothing.
func (p *transcriptPage) DrawAsk(_ canvas.Canvas) {}

// Key handles a key. It returns false if the page does not know it.
func (p *transcriptPage) Key(e *tcell.EventKey) (keyAct, bool) {
	return doKey(transcriptBindings(), p, e)
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

func (p *transcriptPage) fold() keyAct {
	s := p.at()
	if s == nil || s.call == nil {
		return keyAct{Say: "only tool calls fold"}
	}
	s.folded, s.chosen, p.width, p.follow = !s.folded, true, 0, false
	return keyAct{}
}

func (p *transcriptPage) foldAll() keyAct {
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
	return keyAct{}
}

// turn moves to the next turn, or to the one before.
func (p *transcriptPage) turn(by int) {
	p.follow = false
	for i := range p.turns {
		at := p.turns[i]
		if by < 0 {
			at = p.turns[len(p.turns)-1-i]
		}
		if (at-p.cursor)*by > 0 {
			p.cursor, p.top = at, max(min(at, len(p.rows)-p.height), 0)
			return
		}
	}
}

func (p *transcriptPage) edit() keyAct {
	if s := p.at(); s != nil && s.call != nil && s.call.tool.File {
		return keyAct{Edit: shownFile{Name: s.call.tool.Arg}}
	}
	return keyAct{Edit: shownFile{Name: fmt.Sprintf("iteration-%d.txt", p.Number), Text: p.text()}}
}

func (p *transcriptPage) yank() keyAct {
	s := p.at()
	if s == nil {
		return keyAct{Say: "there is nothing to copy"}
	}
	return keyAct{Copy: s.words()}
}

func (p *transcriptPage) toggleFollow() keyAct {
	if p.follow = !p.follow; p.follow {
		p.cursor = max(len(p.rows)-1, 0)
	}
	return keyAct{}
}
