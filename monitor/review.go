package monitor

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"ralph/logs/termtext"
	"ralph/state/view"
	"ralph/state/view/summary"
)

// maxDiff bounds the diff in a review, in bytes.
const maxDiff = 2 << 20

// openReviewOf shows an iteration as a person reviews it: how it ended, its checks and
// findings, and what changed. ralph itself makes the diff, in the background.
func (u *ui) openReviewOf(n int) {
	defer u.lock()()
	i := slices.IndexFunc(u.model.Run.Iterations, func(it view.Iteration) bool { return it.Number == n })
	if i < 0 {
		u.say("there is no iteration %d to review", n)
		return
	}
	u.closeRaw()
	v := newLogView()
	v.noOlder, v.follow = true, false
	v.append(reviewOf(&u.model.Run.Iterations[i], summary.Row(&u.model, i, u.o.Now())))
	u.raw, u.rawOf = v, n
	if len(u.o.Ralph) == 0 {
		v.append([]view.Line{{Text: "no diff: " + cmp.Or(u.o.NoControl, "this screen cannot run ralph"), Role: view.RoleNote, First: true}})
		return
	}
	go func() {
		defer u.caught()
		out, err := output(u.o.Ralph, "diff", strconv.Itoa(n))
		lines := diffLines(string(out[:min(len(out), maxDiff)]))
		if err != nil && len(lines) == 0 {
			lines = []view.Line{{Text: termtext.Line(err.Error()), Role: view.RoleError, First: true}}
		}
		defer u.redraw()
		defer u.lock()()
		v.append(lines)
	}()
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
	add(view.RoleText, view.Join(" · ", row.Mark+" "+row.Text, row.Duration, row.Cost))
	add(view.RoleNote, view.Join(": ", view.Prefix("rule ", it.Rule), it.Reason))
	for _, name := range slices.Sorted(maps.Keys(it.Checks)) {
		if it.Checks[name] {
			add(view.RoleGood, "check "+name+" passed")
		} else {
			add(view.RoleError, "check "+name+" failed")
		}
	}
	if len(it.Checks) == 0 {
		add(view.RoleNote, "no check ran")
	}
	for _, text := range it.Findings {
		add(view.RoleWarning, "finding: "+text)
	}
	return append(all, view.Line{})
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
