package monitor

import (
	"github.com/gdamore/tcell/v2"

	"ralph/logs/termtext"
)

func changesBindings() []pageBinding[*changesPage] {
	file := func(by int) func(*changesPage) keyAct {
		return func(p *changesPage) keyAct {
			p.step(by)
			return keyAct{}
		}
	}
	return append([]pageBinding[*changesPage]{
		keyRow("d esc", "back", "back", func(*changesPage) keyAct { return keyAct{Close: true} }),
		keyRow("] tab", "next file", "the next file", file(1)),
		keyRow("[ backtab", "", "the file before", file(-1)),
		keyRow("enter", "fold", "fold the file, or unfold it", (*changesPage).fold),
		keyRow("z", "", "fold all files, or unfold them", (*changesPage).foldAll),
		keyRow("u", "undo", "take these changes back, as a new commit (asks first)", (*changesPage).undo),
	}, moveKeys("pgup b ctrl-u", func(p *changesPage) int { return max(p.height, 2) - 1 })...)
}

// Hints are the keys of the page.
func (p *changesPage) Hints() []keyHint { return pageHints(changesBindings()) }

// Asks reports whether the page waits for an answer: then it takes all keys.
func (p *changesPage) Asks() bool { return p.asks }

// Key handles a key. It returns false if the page does not know it.
func (p *changesPage) Key(e *tcell.EventKey) (keyAct, bool) {
	if p.asks {
		p.asks = false
		return p.sure.Answer(e), true
	}
	return doKey(changesBindings(), p, e)
}

func (p *changesPage) fold() keyAct {
	p.folded[p.selected] = !p.folded[p.selected]
	p.show()
	return keyAct{}
}

func (p *changesPage) foldAll() keyAct {
	open := !p.folded[p.selected]
	for i := range p.files {
		p.folded[i] = open
	}
	p.show()
	return keyAct{}
}

func (p *changesPage) undo() keyAct {
	switch {
	case !p.ready || len(p.files) == 0:
		return keyAct{Say: "there is nothing to undo"}
	case p.Living:
		return keyAct{Say: "a run is at work here; undo when it has ended"}
	}
	p.asks = true
	p.sure = sure{Question: "undo " + p.Name + ": take " + termtext.Count(p.count(), "file") +
		" back, as a new commit",
		After: keyAct{Verb: p.verb("undo", "--yes")}}
	return keyAct{}
}

// count is how many files changed; a task's iterations may have changed the same ones.
func (p *changesPage) count() int {
	names := map[string]bool{}
	for _, f := range p.files {
		names[f.name] = true
	}
	return len(names)
}
