package monitor

import (
	"strings"

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
		keyRow("B", "bisect", "find the iteration that broke a check (asks which, and first)", (*changesPage).bisect),
	}, moveKeys("pgup b ctrl-u", func(p *changesPage) int { return max(p.height, 2) - 1 })...)
}

// Hints are the keys of the page.
func (p *changesPage) Hints() []keyHint { return pageHints(changesBindings()) }

// asks is what the last row asks.
type asks int

const (
	changesAskNothing asks = iota
	askCheck
	askSure
)

// input is what a person is asked and types.
type input struct {
	asks asks
	line inputLine
	sure sure // of askSure
}

// Asks reports whether the page waits for an answer: then it takes all keys.
func (p *changesPage) Asks() bool { return p.asks != changesAskNothing }

// Key handles a key. It returns false if the page does not know it.
func (p *changesPage) Key(e *tcell.EventKey) (keyAct, bool) {
	switch p.asks {
	case askSure:
		p.asks = changesAskNothing
		return p.sure.Answer(e), true
	case askCheck:
		switch p.line.Key(e) {
		case inputLeft:
			p.asks = changesAskNothing
		case inputEntered:
			p.asks = changesAskNothing
			p.chosen(termtext.Line(p.line.Text))
		}
		return keyAct{}, true
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
	p.asks = askSure
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

func (p *changesPage) bisect() keyAct {
	p.asks, p.line = askCheck, inputLine{Text: p.Check}
	return keyAct{}
}

// chosen asks for confirmation, and then bisects with a check or a command after --.
func (p *changesPage) chosen(check string) {
	if check == "" {
		return
	}
	verb := []string{"bisect"}
	if p.Run != "" {
		verb = append(verb, "--run="+p.Run)
	}
	if command, ok := strings.CutPrefix(check, "-- "); ok {
		verb = append(verb, "--", command)
	} else {
		verb = append(verb, check)
	}
	p.asks = askSure
	p.sure = sure{Question: "bisect " + check + ": run it in copies of the kept states; your files stay",
		After: keyAct{Verb: verb, Terminal: verbPrints}}
}
