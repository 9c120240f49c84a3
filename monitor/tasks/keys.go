package tasks

import (
	"slices"

	"github.com/gdamore/tcell/v2"

	"ralph/logs/termtext"
	"ralph/monitor/keys"
	"ralph/monitor/page"
)

func bindings() []page.Binding[*Page] {
	row := page.Row[*Page]
	return slices.Concat([]page.Binding[*Page]{
		row("enter", "details", "the task with its criteria and history, and back", (*Page).toggle),
		row("t", "back", "back to the run", func(*Page) page.Act { return page.Act{Close: true} }),
		row("a", "add", "add a task at the end of the plan", func(p *Page) page.Act { return p.ask(askTitle, "") }),
		row("e", "edit", "edit the task in $EDITOR", (*Page).edit),
		row("d", "diff", "what the iterations of this run changed for the task, to look at and to undo", (*Page).diff),
		row("r", "", "give the task another title", (*Page).rename),
		row("x", "done", "mark the task as done, or open it again (asks first)", (*Page).tick),
		row("b", "block",
			"keep runs from working on the task, with a reason; on a blocked one: open it again (asks first)",
			(*Page).hold),
		row("D", "drop", "take the task out of what is left to do (asks first)", (*Page).drop),
		row("J", "", "move the task down in the plan", func(p *Page) page.Act { return p.move(1) }),
		row("K", "", "move the task up in the plan", func(p *Page) page.Act { return p.move(-1) }),
		row("/", "find", "find tasks: letters of the id and title in their order; an empty text shows all",
			func(p *Page) page.Act { return p.ask(askQuery, p.query) }),
	}, page.Moves("pgup ctrl-u", (*Page).screenful), []page.Binding[*Page]{
		row("left", "", "in the details: the task before", func(p *Page) page.Act { return p.step(-1) }),
		row("right", "", "in the details: the task after", func(p *Page) page.Act { return p.step(1) }),
		row("esc", "", "back: from the details, from a search, from the list", (*Page).back),
	})
}

// Hints are the keys of the page.
func (p *Page) Hints() []keys.Hint { return page.Hints(bindings()) }

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
	asks asks
	line keys.Line
	of   string    // id of the task
	sure page.Sure // of askSure
}

// Asks reports whether the page waits for an answer: then it takes all keys.
func (p *Page) Asks() bool { return p.asks != askNothing }

// Key handles a key. It returns false if the page does not know it.
func (p *Page) Key(e *tcell.EventKey) (page.Act, bool) {
	if p.asks != askNothing {
		return p.answer(e), true
	}
	return page.Do(bindings(), p, e)
}

// answer takes a key of somebody who answers.
func (p *Page) answer(e *tcell.EventKey) page.Act {
	if p.asks == askSure {
		p.asks = askNothing
		return p.sure.Answer(e)
	}
	what, edge := p.asks, p.line.Key(e)
	if what == askQuery && edge != keys.Left {
		p.search(p.line.Text)
	}
	if edge == keys.Typing {
		return page.Act{}
	}
	p.asks = askNothing
	text := termtext.Line(p.line.Text)
	switch {
	case what == askQuery && edge == keys.Left:
		p.search("")
	case edge == keys.Left || what == askQuery:
	case what == askReason:
		return page.Act{Verb: append([]string{"task", "block"}, reason(text, p.of)...)}
	case text == "":
	case what == askTitle:
		return page.Act{Verb: []string{"task", "add", "--", text}}
	case what == askNewTitle:
		return page.Act{Verb: []string{"task", "edit", "--", p.of, text}}
	}
	return page.Act{}
}

func reason(text, id string) []string {
	if text == "" {
		return []string{"--", id}
	}
	return []string{"--reason=" + text, "--", id}
}

func (p *Page) ask(what asks, text string) page.Act {
	p.asks, p.line = what, keys.Line{Text: text}
	return page.Act{}
}

// askFirst asks before a verb that changes the selected task.
func (p *Page) askFirst(question string, t *Task, verb string) page.Act {
	p.asks, p.sure = askSure, page.Sure{Question: question, After: page.Act{Verb: []string{"task", verb, "--", t.ID}}}
	return page.Act{}
}

var none = page.Act{Say: "no task is selected"}

func (p *Page) toggle() page.Act {
	if p.task() == nil {
		return none
	}
	p.open, p.row = !p.open, 0
	return page.Act{}
}

func (p *Page) step(by int) page.Act {
	if p.open && p.selected+by >= 0 && p.selected+by < len(p.shown) {
		p.selected, p.row = p.selected+by, 0
	}
	return page.Act{}
}

func (p *Page) back() page.Act {
	switch {
	case p.open:
		p.open = false
	case p.query != "":
		p.search("")
	default:
		return page.Act{Close: true}
	}
	return page.Act{}
}

func (p *Page) edit() page.Act {
	t := p.task()
	if t == nil {
		return none
	}
	return page.Act{Verb: []string{"task", "edit", "--", t.ID}, Terminal: page.Edits}
}

func (p *Page) diff() page.Act {
	t := p.task()
	if t == nil {
		return none
	}
	return page.Act{Diff: t.ID}
}

func (p *Page) rename() page.Act {
	t := p.task()
	if t == nil {
		return none
	}
	p.of = t.ID
	return p.ask(askNewTitle, t.Title)
}

func (p *Page) tick() page.Act {
	t := p.task()
	switch {
	case t == nil:
		return none
	case t.pending():
		return p.askFirst("mark it as done?", t, "done")
	}
	return p.askFirst("open it again?", t, "reopen")
}

func (p *Page) hold() page.Act {
	t := p.task()
	switch {
	case t == nil:
		return none
	case t.State == "blocked":
		return p.askFirst("open it again?", t, "reopen")
	case !t.pending():
		return page.Act{Say: "it is " + t.State + "; x opens it again"}
	}
	p.of = t.ID
	return p.ask(askReason, "")
}

func (p *Page) drop() page.Act {
	t := p.task()
	switch {
	case t == nil:
		return none
	case t.State == "dropped":
		return page.Act{Say: "it is dropped already; x opens it again"}
	}
	return p.askFirst("drop it?", t, "drop")
}

// move moves the selected task by one, and shows it there at once.
func (p *Page) move(by int) page.Act {
	t := p.task()
	switch {
	case t == nil:
		return none
	case p.query != "":
		return page.Act{Say: "a search hides the order; esc ends it"}
	}
	i := p.at[t.ID]
	j := p.neighbour(i, by)
	if j < 0 {
		return page.Act{Say: "it cannot go further"}
	}
	where, other := "--after", p.all[j].ID
	if by < 0 {
		where = "--before"
	}
	verb := []string{"task", "move", where + "=" + other, "--", t.ID}
	p.swap(min(i, j), max(i, j))
	return page.Act{Verb: verb}
}
