package monitor

import (
	"strings"

	"github.com/gdamore/tcell/v2"

	"ralph/logs/termtext"
	"ralph/monitor/keys"
	"ralph/monitor/page"
)

func changesBindings() []page.Binding[*changesPage] {
	file := func(by int) func(*changesPage) page.Act {
		return func(p *changesPage) page.Act {
			p.step(by)
			return page.Act{}
		}
	}
	return append([]page.Binding[*changesPage]{
		page.Row("d esc", "back", "back", func(*changesPage) page.Act { return page.Act{Close: true} }),
		page.Row("] tab", "next file", "the next file", file(1)),
		page.Row("[ backtab", "", "the file before", file(-1)),
		page.Row("enter", "fold", "fold the file, or unfold it", (*changesPage).fold),
		page.Row("z", "", "fold all files, or unfold them", (*changesPage).foldAll),
		page.Row("u", "undo", "take these changes back, as a new commit (asks first)", (*changesPage).undo),
		page.Row("B", "bisect", "find the iteration that broke a check (asks which, and first)", (*changesPage).bisect),
	}, page.Moves("pgup b ctrl-u", func(p *changesPage) int { return max(p.height, 2) - 1 })...)
}

// Hints are the keys of the page.
func (p *changesPage) Hints() []keys.Hint { return page.Hints(changesBindings()) }

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
	line keys.Line
	sure page.Sure // of askSure
}

// Asks reports whether the page waits for an answer: then it takes all keys.
func (p *changesPage) Asks() bool { return p.asks != changesAskNothing }

// Key handles a key. It returns false if the page does not know it.
func (p *changesPage) Key(e *tcell.EventKey) (page.Act, bool) {
	switch p.asks {
	case askSure:
		p.asks = changesAskNothing
		return p.sure.Answer(e), true
	case askCheck:
		switch p.line.Key(e) {
		case keys.Left:
			p.asks = changesAskNothing
		case keys.Entered:
			p.asks = changesAskNothing
			p.chosen(termtext.Line(p.line.Text))
		}
		return page.Act{}, true
	}
	return page.Do(changesBindings(), p, e)
}

func (p *changesPage) fold() page.Act {
	p.folded[p.selected] = !p.folded[p.selected]
	p.show()
	return page.Act{}
}

func (p *changesPage) foldAll() page.Act {
	open := !p.folded[p.selected]
	for i := range p.files {
		p.folded[i] = open
	}
	p.show()
	return page.Act{}
}

func (p *changesPage) undo() page.Act {
	switch {
	case !p.ready || len(p.files) == 0:
		return page.Act{Say: "there is nothing to undo"}
	case p.Living:
		return page.Act{Say: "a run is at work here; undo when it has ended"}
	}
	p.asks = askSure
	p.sure = page.Sure{Question: "undo " + p.Name + ": take " + termtext.Count(p.count(), "file") +
		" back, as a new commit",
		After: page.Act{Verb: p.verb("undo", "--yes")}}
	return page.Act{}
}

// count is how many files changed; a task's iterations may have changed the same ones.
func (p *changesPage) count() int {
	names := map[string]bool{}
	for _, f := range p.files {
		names[f.name] = true
	}
	return len(names)
}

func (p *changesPage) bisect() page.Act {
	p.asks, p.line = askCheck, keys.Line{Text: p.Check}
	return page.Act{}
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
	p.sure = page.Sure{Question: "bisect " + check + ": run it in copies of the kept states; your files stay",
		After: page.Act{Verb: verb, Terminal: page.Prints}}
}
