package tasks

import (
	"strings"

	"github.com/gdamore/tcell/v2"

	"ralph/logs/termtext"
	"ralph/monitor/keys"
)

// Act is what a key asks the screen to do; zero: nothing.
type Act struct {
	Verb     []string // arguments of ralph
	Terminal bool     // the verb needs the terminal: it opens an editor
	Close    bool     // the page
	Diff     string   // id of the task whose changes are to be shown
	Say      string
}

// binding is one row of the page's table of keys.
type binding struct {
	keys.Hint
	do func(*Page) Act
}

func bindings() []binding {
	move := func(by func(*Page) int) func(*Page) Act {
		return func(p *Page) Act {
			p.Scroll(by(p))
			return Act{}
		}
	}
	row := func(names, short, help string, do func(*Page) Act) binding {
		return binding{keys.Hint{Keys: names, Short: short, Help: help}, do}
	}
	return []binding{
		row("enter", "details", "the task with its criteria and history, and back", (*Page).toggle),
		row("t", "back", "back to the run", func(*Page) Act { return Act{Close: true} }),
		row("a", "add", "add a task at the end of the plan", func(p *Page) Act { return p.ask(askTitle, "") }),
		row("e", "edit", "edit the task in $EDITOR", (*Page).edit),
		row("d", "diff", "what the iterations of this run changed for the task, to look at and to undo", (*Page).diff),
		row("r", "", "give the task another title", (*Page).rename),
		row("x", "done", "mark the task as done, or open it again (asks first)", (*Page).tick),
		row("b", "block", "keep runs from working on the task, with a reason; on a blocked one: open it again (asks first)", (*Page).hold),
		row("D", "drop", "take the task out of what is left to do (asks first)", (*Page).drop),
		row("J", "", "move the task down in the plan", func(p *Page) Act { return p.move(1) }),
		row("K", "", "move the task up in the plan", func(p *Page) Act { return p.move(-1) }),
		row("/", "find", "find tasks: letters of the id and title in their order; an empty text shows all",
			func(p *Page) Act { return p.ask(askQuery, p.query) }),
		row("up k", "", "one row up", move(func(*Page) int { return -1 })),
		row("down j", "", "one row down", move(func(*Page) int { return 1 })),
		row("pgup ctrl-u", "", "one screen up", move(func(p *Page) int { return -p.screenful() })),
		row("pgdn space ctrl-d", "", "one screen down", move(func(p *Page) int { return p.screenful() })),
		row("g home", "", "the beginning", move(func(*Page) int { return -end })),
		row("G end", "", "the end", move(func(*Page) int { return end })),
		row("left", "", "in the details: the task before", func(p *Page) Act { return p.step(-1) }),
		row("right", "", "in the details: the task after", func(p *Page) Act { return p.step(1) }),
		row("esc", "", "back: from the details, from a search, from the list", (*Page).back),
	}
}

const end = 1 << 30

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
	askTitle
	askNewTitle
	askReason
	askQuery
	askSure
)

// input is what a person is asked and types.
type input struct {
	asks  asks
	line  keys.Line
	of    string   // id of the task
	sure  string   // the question of askSure
	after []string // the verb to run after a yes
}

// Asks reports whether the page waits for an answer: then it takes all keys.
func (p *Page) Asks() bool { return p.asks != askNothing }

// Key handles a key. It returns false if the page does not know it.
func (p *Page) Key(e *tcell.EventKey) (Act, bool) {
	if p.asks != askNothing {
		return p.answer(e), true
	}
	name := keys.Name(e)
	for _, b := range bindings() {
		for known := range strings.FieldsSeq(b.Keys) {
			if known == name {
				return b.do(p), true
			}
		}
	}
	return Act{}, false
}

// answer takes a key of somebody who answers.
func (p *Page) answer(e *tcell.EventKey) Act {
	if p.asks == askSure {
		p.asks = askNothing
		if name := keys.Name(e); name == "y" || name == "Y" {
			return Act{Verb: p.after}
		}
		return Act{}
	}
	what, edge := p.asks, p.line.Key(e)
	if what == askQuery && edge != keys.Left {
		p.search(p.line.Text)
	}
	if edge == keys.Typing {
		return Act{}
	}
	p.asks = askNothing
	text := termtext.Line(p.line.Text)
	switch {
	case what == askQuery && edge == keys.Left:
		p.search("")
	case edge == keys.Left || what == askQuery:
	case what == askReason:
		return Act{Verb: append([]string{"task", "block"}, reason(text, p.of)...)}
	case text == "":
	case what == askTitle:
		return Act{Verb: []string{"task", "add", "--", text}}
	case what == askNewTitle:
		return Act{Verb: []string{"task", "edit", "--", p.of, text}}
	}
	return Act{}
}

func reason(text, id string) []string {
	if text == "" {
		return []string{"--", id}
	}
	return []string{"--reason=" + text, "--", id}
}

func (p *Page) ask(what asks, text string) Act {
	p.asks, p.line = what, keys.Line{Text: text}
	return Act{}
}

// askFirst asks before a verb that changes the selected task.
func (p *Page) askFirst(question string, t *Task, verb string) Act {
	p.asks, p.sure, p.after = askSure, question, []string{"task", verb, "--", t.ID}
	return Act{}
}

var none = Act{Say: "no task is selected"}

func (p *Page) toggle() Act {
	if p.task() == nil {
		return none
	}
	p.open, p.row = !p.open, 0
	return Act{}
}

func (p *Page) step(by int) Act {
	if p.open && p.selected+by >= 0 && p.selected+by < len(p.shown) {
		p.selected, p.row = p.selected+by, 0
	}
	return Act{}
}

func (p *Page) back() Act {
	switch {
	case p.open:
		p.open = false
	case p.query != "":
		p.search("")
	default:
		return Act{Close: true}
	}
	return Act{}
}

func (p *Page) edit() Act {
	t := p.task()
	if t == nil {
		return none
	}
	return Act{Verb: []string{"task", "edit", "--", t.ID}, Terminal: true}
}

func (p *Page) diff() Act {
	t := p.task()
	if t == nil {
		return none
	}
	return Act{Diff: t.ID}
}

func (p *Page) rename() Act {
	t := p.task()
	if t == nil {
		return none
	}
	p.of = t.ID
	return p.ask(askNewTitle, t.Title)
}

func (p *Page) tick() Act {
	t := p.task()
	switch {
	case t == nil:
		return none
	case t.pending():
		return p.askFirst("mark it as done?", t, "done")
	}
	return p.askFirst("open it again?", t, "reopen")
}

func (p *Page) hold() Act {
	t := p.task()
	switch {
	case t == nil:
		return none
	case t.State == "blocked":
		return p.askFirst("open it again?", t, "reopen")
	case !t.pending():
		return Act{Say: "it is " + t.State + "; x opens it again"}
	}
	p.of = t.ID
	return p.ask(askReason, "")
}

func (p *Page) drop() Act {
	t := p.task()
	switch {
	case t == nil:
		return none
	case t.State == "dropped":
		return Act{Say: "it is dropped already; x opens it again"}
	}
	return p.askFirst("drop it?", t, "drop")
}

// move moves the selected task by one, and shows it there at once.
func (p *Page) move(by int) Act {
	t := p.task()
	switch {
	case t == nil:
		return none
	case p.query != "":
		return Act{Say: "a search hides the order; esc ends it"}
	}
	i := p.at[t.ID]
	j := p.neighbour(i, by)
	if j < 0 {
		return Act{Say: "it cannot go further"}
	}
	where, other := "--after", p.all[j].ID
	if by < 0 {
		where = "--before"
	}
	verb := []string{"task", "move", where + "=" + other, "--", t.ID}
	p.swap(min(i, j), max(i, j))
	return Act{Verb: verb}
}
