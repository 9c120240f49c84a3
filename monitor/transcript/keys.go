package transcript

import (
	"fmt"

	"github.com/gdamore/tcell/v2"

	"ralph/monitor/canvas"
	"ralph/monitor/keys"
	"ralph/monitor/page"
)

func bindings() []page.Binding[*Page] {
	turn := func(by int) func(*Page) page.Act {
		return func(p *Page) page.Act {
			p.turn(by)
			return page.Act{}
		}
	}
	other := func(open page.Open, by int) func(*Page) page.Act {
		return func(p *Page) page.Act { return page.Act{Close: true, Open: open, Of: p.Number + by} }
	}
	return append([]page.Binding[*Page]{
		page.Row("esc", "back", "back", func(*Page) page.Act { return page.Act{Close: true} }),
		page.Row("enter", "fold", "fold the tool call at the cursor, or unfold it", (*Page).fold),
		page.Row("z", "fold all", "fold all tool calls, or unfold them", (*Page).foldAll),
		page.Row("]", "next turn", "the next turn: where the agent speaks again", turn(1)),
		page.Row("[", "", "the turn before", turn(-1)),
		page.Row("r", "review", "review the iteration: how it ended, its checks and findings", other(page.Review, 0)),
		page.Row("d", "diff", "what the iteration changed", other(page.Changes, 0)),
		page.Row("left", "", "the iteration before", other(page.Transcript, -1)),
		page.Row("right", "", "the next iteration", other(page.Transcript, 1)),
		page.Row("e", "", "open the file of the tool call in $EDITOR, else a copy of the transcript", (*Page).edit),
		page.Row("y", "copy", "copy what stands at the cursor into the clipboard of the terminal (asks once)",
			(*Page).yank),
		page.Row("f", "", "follow the end, or stop", (*Page).toggleFollow),
	}, page.Moves("pgup b ctrl-u", func(p *Page) int { return max(p.height, 2) - 1 })...)
}

// Hints are the keys of the page.
func (p *Page) Hints() []keys.Hint { return page.Hints(bindings()) }

// Asks is false: the page asks nothing.
func (p *Page) Asks() bool { return false }

// DrawAsk draws nothing.
func (p *Page) DrawAsk(_ canvas.Canvas) {}

// Key handles a key. It returns false if the page does not know it.
func (p *Page) Key(e *tcell.EventKey) (page.Act, bool) { return page.Do(bindings(), p, e) }

// Scroll moves the cursor.
func (p *Page) Scroll(by int) {
	p.cursor = min(max(p.cursor+by, 0), max(len(p.rows)-1, 0))
	p.follow = by > 0 && p.cursor == len(p.rows)-1
}

// Click moves the cursor to a row.
func (p *Page) Click(_, y int) {
	if at := p.top + y; at < len(p.rows) {
		p.cursor, p.follow = at, false
	}
}

// at is the step at the cursor; nil if there is none.
func (p *Page) at() *step {
	if p.cursor < 0 || p.cursor >= len(p.rows) {
		return nil
	}
	return p.rows[p.cursor].step
}

func (p *Page) fold() page.Act {
	s := p.at()
	if s == nil || s.call == nil {
		return page.Act{Say: "only tool calls fold"}
	}
	s.folded, s.chosen, p.width, p.follow = !s.folded, true, 0, false
	return page.Act{}
}

func (p *Page) foldAll() page.Act {
	open := false
	var walk func(all []*step, do func(*step))
	walk = func(all []*step, do func(*step)) {
		for _, s := range all {
			if s.call != nil {
				do(s)
			}
			walk(s.sub, do)
		}
	}
	walk(p.steps, func(s *step) { open = open || !s.folded })
	walk(p.steps, func(s *step) { s.folded, s.chosen = open, true })
	p.width = 0
	return page.Act{}
}

// turn moves to the next turn, or to the one before.
func (p *Page) turn(by int) {
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

func (p *Page) edit() page.Act {
	if s := p.at(); s != nil && s.call != nil && s.call.tool.File {
		return page.Act{Edit: page.File{Name: s.call.tool.Arg}}
	}
	return page.Act{Edit: page.File{Name: fmt.Sprintf("iteration-%d.txt", p.Number), Text: p.text()}}
}

func (p *Page) yank() page.Act {
	s := p.at()
	if s == nil {
		return page.Act{Say: "there is nothing to copy"}
	}
	return page.Act{Copy: s.words()}
}

func (p *Page) toggleFollow() page.Act {
	if p.follow = !p.follow; p.follow {
		p.cursor = max(len(p.rows)-1, 0)
	}
	return page.Act{}
}
