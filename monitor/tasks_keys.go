package monitor

import (
	"slices"

	"github.com/gdamore/tcell/v2"

	"ralph/logs/termtext"
)

func taskBindings() []pageBinding[*tasksPage] {
	row := keyRow[*tasksPage]
	return slices.Concat([]pageBinding[*tasksPage]{
		row("enter", "details", "the task with its criteria and history, and back", (*tasksPage).toggle),
		row("t", "back", "back to the run", func(*tasksPage) keyAct { return keyAct{Close: true} }),
		row("a", "add", "add a task at the end of the plan", func(p *tasksPage) keyAct { return p.ask(askTitle, "") }),
		row("e", "edit", "edit the task in $EDITOR", (*tasksPage).edit),
		row("d", "diff", "what the iterations of this run changed for the task, to look at and to undo", (*tasksPage).diff),
		row("r", "", "give the task another title", (*tasksPage).rename),
		row("x", "done", "mark the task as done, or open it again (asks first)", (*tasksPage).tick),
		row("b", "block",
			"keep runs from working on the task, with a reason; on a blocked one: open it again (asks first)",
			(*tasksPage).hold),
		row("D", "drop", "take the task out of what is left to do (asks first)", (*tasksPage).drop),
		row("J", "", "move the task down in the plan", func(p *tasksPage) keyAct { return p.move(1) }),
		row("K", "", "move the task up in the plan", func(p *tasksPage) keyAct { return p.move(-1) }),
		row("/", "find", "find tasks: letters of the id and title in their order; an empty text shows all",
			func(p *tasksPage) keyAct { return p.ask(taskAskQuery, p.query) }),
	}, moveKeys("pgup ctrl-u", (*tasksPage).screenful), []pageBinding[*tasksPage]{
		row("left", "", "in the details: the task before", func(p *tasksPage) keyAct { return p.step(-1) }),
		row("right", "", "in the details: the task after", func(p *tasksPage) keyAct { return p.step(1) }),
		row("esc", "", "back: from the details, from a search, from the list", (*tasksPage).back),
	})
}

// Hints are the keys of the page.
func (p *tasksPage) Hints() []keyHint { return pageHints(taskBindings()) }

// taskAsks is what the last row asks.
type taskAsks int

const (
	taskAskNothing taskAsks = iota
	askTitle
	askNewTitle
	askReason
	taskAskQuery
	taskAskSure
)

// taskInput is what a person is asked and types.
type taskInput struct {
	asks taskAsks
	line inputLine
	of   string // id of the task
	sure sure   // of askSure
}

// Asks reports whether the page waits for an answer: then it takes all keys.
func (p *tasksPage) Asks() bool { return p.asks != taskAskNothing }

// Key handles a key. It returns false if the page does not know it.
func (p *tasksPage) Key(e *tcell.EventKey) (keyAct, bool) {
	if p.asks != taskAskNothing {
		return p.answer(e), true
	}
	return doKey(taskBindings(), p, e)
}

// answer takes a key of somebody who answers.
func (p *tasksPage) answer(e *tcell.EventKey) keyAct {
	if p.asks == taskAskSure {
		p.asks = taskAskNothing
		return p.sure.Answer(e)
	}
	what, edge := p.asks, p.line.Key(e)
	if what == taskAskQuery && edge != inputLeft {
		p.search(p.line.Text)
	}
	if edge == inputTyping {
		return keyAct{}
	}
	p.asks = taskAskNothing
	text := termtext.Line(p.line.Text)
	switch {
	case what == taskAskQuery && edge == inputLeft:
		p.search("")
	case edge == inputLeft || what == taskAskQuery:
	case what == askReason:
		return keyAct{Verb: append([]string{"task", "block"}, reason(text, p.of)...)}
	case text == "":
	case what == askTitle:
		return keyAct{Verb: []string{"task", "add", "--", text}}
	case what == askNewTitle:
		return keyAct{Verb: []string{"task", "edit", "--", p.of, text}}
	}
	return keyAct{}
}

func reason(text, id string) []string {
	if text == "" {
		return []string{"--", id}
	}
	return []string{"--reason=" + text, "--", id}
}

func (p *tasksPage) ask(what taskAsks, text string) keyAct {
	p.asks, p.line = what, inputLine{Text: text}
	return keyAct{}
}

// askFirst asks before a verb that changes the selected task.
func (p *tasksPage) askFirst(question string, t *shownTask, verb string) keyAct {
	p.asks, p.sure = taskAskSure, sure{Question: question, After: keyAct{Verb: []string{"task", verb, "--", t.ID}}}
	return keyAct{}
}

var none = keyAct{Say: "no task is selected"}

func (p *tasksPage) toggle() keyAct {
	if p.task() == nil {
		return none
	}
	p.open, p.row = !p.open, 0
	return keyAct{}
}

func (p *tasksPage) step(by int) keyAct {
	if p.open && p.selected+by >= 0 && p.selected+by < len(p.shown) {
		p.selected, p.row = p.selected+by, 0
	}
	return keyAct{}
}

func (p *tasksPage) back() keyAct {
	switch {
	case p.open:
		p.open = false
	case p.query != "":
		p.search("")
	default:
		return keyAct{Close: true}
	}
	return keyAct{}
}

func (p *tasksPage) edit() keyAct {
	t := p.task()
	if t == nil {
		return none
	}
	return keyAct{Verb: []string{"task", "edit", "--", t.ID}, Terminal: verbEdits}
}

func (p *tasksPage) diff() keyAct {
	t := p.task()
	if t == nil {
		return none
	}
	return keyAct{Diff: t.ID}
}

func (p *tasksPage) rename() keyAct {
	t := p.task()
	if t == nil {
		return none
	}
	p.of = t.ID
	return p.ask(askNewTitle, t.Title)
}

func (p *tasksPage) tick() keyAct {
	t := p.task()
	switch {
	case t == nil:
		return none
	case t.pending():
		return p.askFirst("mark it as done?", t, "done")
	}
	return p.askFirst("open it again?", t, "reopen")
}

func (p *tasksPage) hold() keyAct {
	t := p.task()
	switch {
	case t == nil:
		return none
	case t.State == "blocked":
		return p.askFirst("open it again?", t, "reopen")
	case !t.pending():
		return keyAct{Say: "it is " + t.State + "; x opens it again"}
	}
	p.of = t.ID
	return p.ask(askReason, "")
}

func (p *tasksPage) drop() keyAct {
	t := p.task()
	switch {
	case t == nil:
		return none
	case t.State == "dropped":
		return keyAct{Say: "it is dropped already; x opens it again"}
	}
	return p.askFirst("drop it?", t, "drop")
}

// move moves the selected task by one, and shows it there at once.
func (p *tasksPage) move(by int) keyAct {
	t := p.task()
	switch {
	case t == nil:
		return none
	case p.query != "":
		return keyAct{Say: "a search hides the order; esc ends it"}
	}
	i := p.at[t.ID]
	j := p.neighbour(i, by)
	if j < 0 {
		return keyAct{Say: "it cannot go further"}
	}
	where, other := "--after", p.all[j].ID
	if by < 0 {
		where = "--before"
	}
	verb := []string{"task", "move", where + "=" + other, "--", t.ID}
	p.swap(min(i, j), max(i, j))
	return keyAct{Verb: verb}
}
