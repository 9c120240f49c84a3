package monitor

import (
	"slices"
	"strings"

	"github.com/gdamore/tcell/v2"
)

// scrolling are the keys that move in the help.
const scrolling = "up k down j pgup b ctrl-u pgdn space ctrl-d g home G end"

// top is the topmost page; nil if there is none.
func (u *ui) top() coverPage {
	if len(u.over) == 0 {
		return nil
	}
	return u.over[len(u.over)-1]
}

// pageHints are the keys of the page at the top.
func (u *ui) pageHints() []keyHint {
	if p := u.top(); p != nil {
		return p.Hints()
	}
	return nil
}

// keyOfPage handles a key while a page is open. It returns false for the few keys that work
// everywhere, and without a page.
func (u *ui) keyOfPage(e *tcell.EventKey) bool {
	u.mu.Lock()
	p, name := u.top(), keyName(e)
	if p == nil {
		u.mu.Unlock()
		return false
	}
	if took, known := u.overPage(name, p.Asks()); took {
		u.mu.Unlock()
		return known
	}
	act, known := p.Key(e)
	u.follow(p, act)
	u.mu.Unlock()
	u.onTerminal(act)
	switch act.Open {
	case pageTranscript:
		u.openTranscriptOf(act.Of)
	case pageReview:
		u.openReviewOf(act.Of)
	case pageChanges:
		u.openChangesOf(act.Of)
	}
	return known || !u.everywhere(name)
}

// follow does what a page asks for, unless that needs the terminal: see onTerminal. u is locked.
func (u *ui) follow(p coverPage, act keyAct) {
	if act.Close {
		u.over = slices.DeleteFunc(u.over, func(o coverPage) bool { return o == p })
	}
	switch tasks, lists := p.(*taskPage); {
	case act.Say != "":
		u.say("%s", act.Say)
	case act.Copy != "":
		u.copies(act.Copy)
	case act.Diff != "":
		u.showChanges(changesSubject{Arg: act.Diff, Name: "task " + act.Diff})
	case act.Verb == nil || act.Terminal != verbNoTerminal:
	case lists:
		u.change(tasks, act.Verb)
	default:
		u.act(act.Verb...)
	}
}

// onTerminal does what a page asks for that needs the terminal.
func (u *ui) onTerminal(act keyAct) {
	if act.Edit.Name != "" {
		u.edit(act.Edit)
	}
	switch act.Terminal {
	case verbEdits:
		u.inTerminal(act.Verb)
	case verbPrints:
		u.watched(act.Verb)
	}
}

// overPage handles a key for what lies over a page: the help, or a failure, which Escape takes away unless
// the page asks something. took is false if the key is for the page.
func (u *ui) overPage(name string, asks bool) (took, known bool) {
	switch {
	case u.help:
		u.help = u.stays(name)
		return true, !u.help
	case u.failure != "" && name == "esc" && !asks:
		u.failure = ""
		return true, true
	}
	return false, false
}

// stays reports whether the help stays open after a key.
func (u *ui) stays(name string) bool {
	return slices.Contains(strings.Fields(scrolling), name) || u.everywhere(name)
}

// everywhere reports whether a key works on every page, too.
func (u *ui) everywhere(name string) bool {
	return slices.ContainsFunc(u.table, func(b binding) bool {
		return b.always && slices.Contains(keyNames(b.keys), name)
	})
}
