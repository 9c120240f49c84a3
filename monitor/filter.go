package monitor

import (
	"strings"

	"ralph/logs/termtext"
	"ralph/state"
	"ralph/state/view"
)

// askFilter asks which part of the log to show.
func (u *ui) askFilter() {
	defer u.lock()()
	u.asks, u.line, u.help = askFilter, inputLine{}, false
}

// openFiltered shows a part of the log, which is read in the background. u is locked.
func (u *ui) openFiltered(typed string) {
	f, err := parseFilter(termtext.Line(typed), u.o.Now())
	if err != nil {
		u.say("%s", err.Error())
		return
	}
	if f.Task != "" {
		f.Task = u.taskNamed(f.Task)
	}
	u.closePage()
	p := &reading{logView: newLogView(), filter: &f, lines: view.Log{LineOptions: u.lines.LineOptions}, busy: true}
	p.noOlder, u.page, u.timeline = true, p, nil
	p.setQuery(f.Text)
	r := u.feed.Reader()
	go func() {
		defer u.caught()
		events, err := f.Read(r)
		defer u.redraw()
		defer u.lock()()
		if p.busy = false; err != nil {
			u.say("%s", termtext.Line(err.Error()))
		}
		p.adds(events)
		switch at := p.firstFrom(); {
		case !f.At.IsZero():
			p.follow, p.top = false, place{at, 0}
		case p.query != "":
			p.toEnd()
			p.search(-1)
		}
	}()
}

// taskNamed is the id of the task that has it, else of the latest one with this text in its title: most plans
// show no ids. u is locked.
func (u *ui) taskNamed(text string) string {
	id, all := text, u.model.Run.Iterations
	for i := range all {
		switch it := &all[i]; {
		case it.TaskID == text:
			return text
		case strings.Contains(strings.ToLower(it.Task), strings.ToLower(text)):
			id = it.TaskID
		}
	}
	return id
}

// renewFiltered adds what has happened to a filtered log. u is locked.
func (u *ui) renewFiltered(events []state.Event) {
	if p := u.page; p != nil && p.filter != nil && p.filter.At.IsZero() && !p.busy {
		p.adds(events)
	}
}

// adds appends the lines of the wanted events.
func (p *reading) adds(events []state.Event) {
	for _, e := range events {
		if !p.filter.Event(e) {
			continue
		}
		lines := p.lines.Lines(e)
		if p.filter.Text != "" && len(p.matching(lines, 0)) == 0 {
			continue
		}
		p.append(lines)
	}
}

// firstFrom is the first line from the filter's time on.
func (p *reading) firstFrom() int {
	for i := range p.logView.lines {
		if at := p.logView.lines[i].At; !at.IsZero() && !at.Before(p.filter.At) {
			return p.first + i
		}
	}
	return p.end()
}
