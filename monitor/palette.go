package monitor

import (
	"context"
	"slices"
	"sort"
	"strings"

	"github.com/gdamore/tcell/v2"

	"ralph/state/view"
	"ralph/state/view/summary"
)

// named are the panels, and what each shows.
func named() []struct {
	panel
	name, about, keys string
} {
	return []struct {
		panel
		name, about, keys string
	}{
		{panelPlan, "Plan",
			"How far the plan is, the task at hand or the turns side by side, and when the run may be done.", "t"},
		{panelUsage, "API usage",
			"Calls and tokens of this hour, the usage windows of the account, and the cost so far.", "m"},
		{panelEnds, "Ends when", "What ends the run, what is nearest first, and how the breaker stands.", "a p"},
		{panelIterations, "Iterations",
			"Each iteration, newest first: a mark, its time, the task, what it came to, its checks, findings " +
				"and cost. Those that went alike share a row.", "r d R up down g G"},
		{panelChecks, "Checks", "The project's checks, those that need a look first, and what was found.", "r"},
		{panelLog, "Live log", "What the agent says and does, as it comes.", "/ F n f w o e left right g G"},
	}
}

// verb is a verb of ralph that the palette runs. Those that need a living run act on it. The others print: a
// page for the pager, or what a person watches.
type verb struct {
	name, help string
	alive      bool
	page       bool
}

// verbs are those without a key.
func verbs() []verb {
	return []verb{
		{"stop", "end the run after this iteration", true, false},
		{"report", "the results of the run on one page", false, true},
		{"accept", "accept what the run left for your review; asks first", false, false},
		{"check", "run the project's checks once", false, false},
		{"learn", "what earlier iterations learned", false, true},
		{"runs", "the runs of this project", false, true},
		{"doctor", "check that ralph can run here", false, false},
		{"config", "every option with its value and source", false, true},
	}
}

// runChosen runs a verb that was chosen in the palette.
func (u *ui) runChosen(name string) {
	i := slices.IndexFunc(verbs(), func(v verb) bool { return v.name == name })
	switch v := verbs()[i]; {
	case v.alive:
		defer u.lock()()
		u.act(name)
	case v.page:
		u.paged(name)
	default:
		u.watched([]string{name})
	}
}

// paged shows what a verb prints in the pager.
func (u *ui) paged(verb string) {
	var err error
	u.app.Suspend(func() {
		var out []byte
		if out, err = u.ralph().Output(context.Background(), verb); err == nil {
			err = withCopy(verb, string(out), inPager)
		}
	})
	if err != nil {
		defer u.lock()()
		u.fail(verb + ": " + err.Error())
	}
}

// openTimeline shows the run over time, or the panels again.
func (u *ui) openTimeline() {
	defer u.lock()()
	u.help = false
	u.closePage()
	if u.timeline != nil {
		u.timeline = nil
		return
	}
	u.timeline = &timelinePage{}
}

// openPalette opens the list of commands, panels and tasks.
func (u *ui) openPalette() {
	defer u.lock()()
	var all []paletteEntry
	v := summary.Of(&u.model, u.o.Now())
	for _, b := range u.table {
		key, _, _ := strings.Cut(b.keys, " ")
		moves := strings.Contains(" : esc tab up down pgup pgdn g G left right n N 1..9 ", " "+key+" ")
		if !moves && (!b.alive || v.Alive) {
			name := b.help
			if !strings.HasPrefix(name, b.short) { // people type what the last row says
				name = b.short + ": " + name
			}
			all = append(all, paletteEntry{Kind: "key", Name: name, Key: key})
		}
	}
	for _, verb := range verbs() {
		if len(u.o.Ralph) > 0 && (!verb.alive || v.Alive) {
			all = append(all, paletteEntry{Kind: "verb", Name: verb.name + ": " + verb.help, Verb: verb.name})
		}
	}
	for i, p := range named() {
		all = append(all, paletteEntry{Kind: "panel", Name: p.name, Key: string(rune('1' + i))})
	}
	p := newPalettePage(all, u.model.Iteration())
	u.palette, u.help = p, false
	if len(u.o.Ralph) == 0 {
		return
	}
	list, ralph := listTasks, u.ralph() // it has a bound of its own
	go func() {
		defer u.caught()
		found, err := list(ralph)
		if err != nil {
			return // the palette works without tasks
		}
		var all []paletteEntry
		for _, t := range found {
			all = append(all, paletteEntry{Kind: "task", Name: t.Name(), Task: t.ID})
		}
		defer u.redraw()
		defer u.lock()()
		p.Add(all)
	}()
}

// keyOfPalette handles a key while the palette is open. It takes every key.
func (u *ui) keyOfPalette(e *tcell.EventKey) bool {
	u.mu.Lock()
	p := u.palette
	if p == nil {
		u.mu.Unlock()
		return false
	}
	chosen, closed := p.Key(e)
	if closed {
		u.palette = nil
	}
	if chosen != (paletteEntry{}) {
		u.over = nil
	}
	u.mu.Unlock()
	switch {
	case chosen.Verb != "":
		u.runChosen(chosen.Verb)
	case chosen.Turn > 0:
		u.openReviewOf(chosen.Turn)
	case chosen.Task != "":
		u.openTasks()
		u.mu.Lock()
		if p := u.tasks(); p != nil {
			p.tasksPage = tasksPageAt(chosen.Task)
			u.readTasks(p)
		}
		u.mu.Unlock()
	case chosen.Kind == "panel":
		u.mu.Lock()
		u.alone = panelHeader
		u.mu.Unlock()
		fallthrough
	case chosen.Key != "":
		u.pressed = chosen.Key
		u.do[chosen.Key](u)
	}
	return true
}

// toggleAbout shows or hides the help for what is on the screen.
func (u *ui) toggleAbout() {
	defer u.lock()()
	u.help, u.about, u.helpTop = !u.help, !u.help, 0
}

// aboutHints puts what the current panel shows, and its keys, before the others.
func (u *ui) aboutHints(all []keyHint) []keyHint {
	current := u.focus
	switch {
	case !u.about || len(u.over) > 0:
		return all // pages have keys of their own
	case u.page != nil:
		current = panelLog
	case u.alone != panelHeader:
		current = u.alone
	}
	for _, p := range named() {
		if p.panel != current {
			continue
		}
		own := keyNames(p.keys)
		sort.SliceStable(all, func(i, j int) bool { return rank(own, all[i]) < rank(own, all[j]) })
		name := p.name
		if u.page != nil {
			name, p.about = "Review",
				"What became of an iteration: how it ended, its checks and findings, and what it changed."
			switch {
			case u.page.filter != nil:
				name, p.about = "Log", "A part of the log, over all files of events: what you typed after F."
			case u.page.tail != nil:
				name, p.about = "Raw output", "What the agent printed, as it is."
			}
		}
		return append([]keyHint{{Keys: name, Help: view.Join(" ", p.about, "Its keys come first.")}}, all...)
	}
	return all
}

// rank is 0 for a key of the panel.
func rank(own []string, h keyHint) int {
	for _, name := range keyNames(h.Keys) {
		if slices.Contains(own, name) {
			return 0
		}
	}
	return 1
}
