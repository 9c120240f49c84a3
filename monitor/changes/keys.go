package changes

import (
	"slices"
	"strings"

	"github.com/gdamore/tcell/v2"

	"ralph/logs/termtext"
	"ralph/monitor/keys"
)

// Act is what a key asks the screen to do; zero: nothing.
type Act struct {
	Verb     []string // arguments of ralph
	Terminal bool     // the verb takes long and prints: it needs the terminal
	Close    bool     // the page
	Say      string
}

// binding is one row of the page's table of keys.
type binding struct {
	keys.Hint
	do func(*Page) Act
}

const end = 1 << 30

func bindings() []binding {
	move := func(by func(*Page) int) func(*Page) Act {
		return func(p *Page) Act {
			p.Scroll(by(p))
			return Act{}
		}
	}
	file := func(by int) func(*Page) Act {
		return func(p *Page) Act {
			p.step(by)
			return Act{}
		}
	}
	row := func(names, short, help string, do func(*Page) Act) binding {
		return binding{keys.Hint{Keys: names, Short: short, Help: help}, do}
	}
	return []binding{
		row("d esc", "back", "back", func(*Page) Act { return Act{Close: true} }),
		row("] tab", "next file", "the next file", file(1)),
		row("[ backtab", "", "the file before", file(-1)),
		row("enter", "fold", "fold the file, or unfold it", (*Page).fold),
		row("z", "", "fold all files, or unfold them", (*Page).foldAll),
		row("u", "undo", "take these changes back, as a new commit (asks first)", (*Page).undo),
		row("B", "bisect", "find the iteration that broke a check (asks which, and first)", (*Page).bisect),
		row("up k", "", "one row up", move(func(*Page) int { return -1 })),
		row("down j", "", "one row down", move(func(*Page) int { return 1 })),
		row("pgup b ctrl-u", "", "one screen up", move(func(p *Page) int { return 1 - max(p.height, 2) })),
		row("pgdn space ctrl-d", "", "one screen down", move(func(p *Page) int { return max(p.height, 2) - 1 })),
		row("g home", "", "the beginning", move(func(*Page) int { return -end })),
		row("G end", "", "the end", move(func(*Page) int { return end })),
	}
}

// Hints are the keys of the page.
func Hints() []keys.Hint {
	var all []keys.Hint
	for _, b := range bindings() {
		all = append(all, b.Hint)
	}
	return all
}

// asks is what the last row asks.
type asks int

const (
	askNothing asks = iota
	askCheck
	askSure
)

// input is what a person is asked and types.
type input struct {
	asks  asks
	line  keys.Line
	sure  string // the question of askSure
	after Act    // what follows a yes
}

// Asks reports whether the page waits for an answer: then it takes all keys.
func (p *Page) Asks() bool { return p.asks != askNothing }

// Key handles a key. It returns false if the page does not know it.
func (p *Page) Key(e *tcell.EventKey) (Act, bool) {
	name := keys.Name(e)
	switch p.asks {
	case askSure:
		p.asks = askNothing
		if name == "y" || name == "Y" {
			return p.after, true
		}
		return Act{}, true
	case askCheck:
		switch p.line.Key(e) {
		case keys.Left:
			p.asks = askNothing
		case keys.Entered:
			p.asks = askNothing
			p.chosen(termtext.Line(p.line.Text))
		}
		return Act{}, true
	}
	for _, b := range bindings() {
		if slices.Contains(strings.Fields(b.Keys), name) {
			return b.do(p), true
		}
	}
	return Act{}, false
}

func (p *Page) fold() Act {
	p.folded[p.selected] = !p.folded[p.selected]
	p.show()
	return Act{}
}

func (p *Page) foldAll() Act {
	open := !p.folded[p.selected]
	for i := range p.files {
		p.folded[i] = open
	}
	p.show()
	return Act{}
}

func (p *Page) undo() Act {
	switch {
	case !p.ready || len(p.files) == 0:
		return Act{Say: "there is nothing to undo"}
	case p.Living:
		return Act{Say: "a run is at work here; undo when it has ended"}
	}
	p.asks, p.after = askSure, Act{Verb: p.verb("undo", "--yes")}
	p.sure = "undo " + p.Name + ": take " + termtext.Count(p.count(), "file") + " back, as a new commit"
	return Act{}
}

// count is how many files changed; a task's iterations may have changed the same ones.
func (p *Page) count() int {
	names := map[string]bool{}
	for _, f := range p.files {
		names[f.name] = true
	}
	return len(names)
}

func (p *Page) bisect() Act {
	p.asks, p.line = askCheck, keys.Line{Text: p.Check}
	return Act{}
}

// chosen asks before it bisects with a check, or with a command after --.
func (p *Page) chosen(check string) {
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
	p.asks, p.after = askSure, Act{Verb: verb, Terminal: true}
	p.sure = "bisect " + check + ": run it in copies of the kept states; your files stay"
}
