package monitor

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"ralph/logs"
	"ralph/logs/termtext"
	"ralph/state"
	"ralph/state/view"
	"ralph/state/view/summary"
)

const (
	maxDiff = 2 << 20 // of the diff in a review, in bytes
	// keepTime is how long ralph may take to keep the state of an iteration that has
	// just ended. Within this time, the monitor asks for its diff again.
	keepTime = 15 * time.Second
)

// reading covers the panels: the review of an iteration, or its raw output.
type reading struct {
	*logView
	of   int        // the iteration; 0: none
	tail *logs.Tail // of raw output; nil: it is a review

	// Of a filtered log:
	filter *filter // nil: it is none
	lines  view.Log
	busy   bool // it is being read

	// Of a review:
	head  []view.Line // how the iteration stands
	diff  []view.Line // what it changed, or why that is not known
	asked time.Time   // end of the iteration whose diff was asked for
}

// openReviewOf shows an iteration as a person reviews it: how it ended, its checks and
// findings, and what changed.
func (u *ui) openReviewOf(n int) {
	defer u.lock()()
	if u.indexOf(n) < 0 {
		u.say("there is no iteration %d to review", n)
		return
	}
	u.closePage()
	u.page = &reading{logView: newLogView(), of: n}
	u.page.noOlder, u.page.follow = true, false
	u.renew()
}

// indexOf finds an iteration in the model; -1: it is not there.
func (u *ui) indexOf(n int) int {
	return slices.IndexFunc(u.model.Run.Iterations, func(it view.Iteration) bool { return it.Number == n })
}

// renew brings an open review up to date: the iteration may end while a person looks.
// ralph itself makes the diff, in the background.
func (u *ui) renew() {
	p := u.page
	if p == nil || p.tail != nil || p.filter != nil {
		return
	}
	i := u.indexOf(p.of)
	if i < 0 {
		return // the iteration is of another run, or too old for the model
	}
	it := &u.model.Run.Iterations[i]
	ended := it.Ended
	if it.CutOff {
		ended = it.StartedAt
	}
	head, diff := reviewOf(it, summary.Row(&u.model, i, u.o.Now())), p.diff
	switch {
	case it.Running():
		diff = []view.Line{note("what it changes appears here when it ends")}
	case p.asked.Equal(ended):
	case len(u.o.Ralph) == 0:
		p.asked, diff = ended, []view.Line{note("no diff: " + cmp.Or(u.o.NoControl, "this screen cannot run ralph"))}
	default:
		p.asked = ended
		ask := u.askDiff // it outlives the poll, and has a bound of its own
		go ask(p, ended)
	}
	p.show(head, diff)
}

// askDiff adds the diff of an iteration that has ended to its review.
func (u *ui) askDiff(p *reading, ended time.Time) {
	defer u.caught()
	ralph := u.ralph()
	ralph.Most = maxDiff
	out, err := ralph.Output(context.Background(), "diff", strconv.Itoa(p.of))
	lines := diffLines(string(out))
	switch {
	case err != nil:
		lines = []view.Line{note(err.Error())}
	case len(lines) == 0:
		lines = []view.Line{note("it changed no file")}
	}
	defer u.redraw()
	defer u.lock()()
	if err != nil && u.o.Now().Sub(ended) < keepTime {
		p.asked = time.Time{}
	}
	p.show(p.head, lines)
}

// show replaces the text of a review and keeps its place.
func (p *reading) show(head, diff []view.Line) {
	if slices.Equal(head, p.head) && slices.Equal(diff, p.diff) {
		return
	}
	at := p.top.line - p.first
	p.head, p.diff = head, diff
	p.clear()
	p.noOlder, p.found.line = true, -1
	p.append(slices.Concat(head, diff))
	p.top.line = p.first + at
}

func note(text string) view.Line {
	return view.Line{Text: termtext.Line(text), Role: view.RoleNote, First: true}
}

// reviewOf says how an iteration ended.
func reviewOf(it *view.Iteration, row summary.IterationRow) []view.Line {
	var all []view.Line
	add := func(role view.Role, text string) {
		if text != "" {
			all = append(all, view.Line{Text: termtext.Line(text), Role: role, First: true})
		}
	}
	add(view.RoleHeading, view.Join(" · ", fmt.Sprintf("iteration %d", it.Number), it.Task))
	if it.Running() { // no figures: a text that keeps changing cannot be read
		row = summary.IterationRow{Mark: row.Mark, Text: "still running",
			Duration: "since " + it.StartedAt.Local().Format("15:04")}
	}
	add(view.RoleText, view.Join(" · ", row.Mark+" "+strings.TrimSuffix(row.Text, ": "+termtext.Line(it.Failed)),
		row.Duration, row.Cost))
	why := it.Reason
	if it.Rule != "" {
		why += " (rule " + it.Rule + ")"
	}
	add(view.RoleNote, why)
	add(view.RoleError, view.Prefix("the call failed: ", it.Failed))
	for _, name := range slices.Sorted(maps.Keys(it.Checks)) {
		if it.Checks[name] {
			add(view.RoleGood, "check "+name+" passed")
		} else {
			add(view.RoleError, "check "+name+" failed")
			all = append(all, outputLines(it.Output[name])...)
		}
	}
	for i, said := range state.VerdictLines(it.Verdicts) {
		role := view.RoleWarning
		switch {
		case i == len(it.Verdicts): // the score of all, which decides nothing
			role = view.RoleNote
		case it.Verdicts[i].Passes():
			role = view.RoleGood
		}
		add(role, "verdict of "+said)
	}
	switch {
	case len(it.Checks)+len(it.Verdicts) > 0:
	case it.Running():
		add(view.RoleNote, "no check has run yet")
	default:
		add(view.RoleNote, "no check ran")
	}
	for _, text := range it.Findings {
		add(view.RoleWarning, "finding: "+text)
	}
	return append(all, view.Line{})
}

// outputLines are the output of a check.
func outputLines(text string) []view.Line {
	if text == "" {
		return nil
	}
	lines := view.RawLines(text)
	for i := range lines {
		lines[i].Role = view.RoleAnswer
	}
	return lines
}

// diffLines marks the lines of a diff.
func diffLines(text string) []view.Line {
	if strings.TrimSpace(text) == "" {
		return nil
	}
	lines := view.RawLines(strings.TrimRight(text, "\n"))
	for i := range lines {
		switch l := &lines[i]; {
		case strings.HasPrefix(l.Text, "diff "):
			l.Role = view.RoleHeading
		case strings.HasPrefix(l.Text, "+++"), strings.HasPrefix(l.Text, "---"), strings.HasPrefix(l.Text, "@@"):
			l.Role = view.RoleAnswer
		case strings.HasPrefix(l.Text, "+"):
			l.Role = view.RoleGood
		case strings.HasPrefix(l.Text, "-"):
			l.Role = view.RoleError
		}
	}
	return lines
}
