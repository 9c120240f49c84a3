package monitor

// This file parses which events of a log a person wants to see: errors, tools, findings, those of one
// task, those with a text, or those at a time.

import (
	"errors"
	"slices"
	"strings"
	"time"

	"ralph/state"
	"ralph/state/view"
)

// filter is what a person wants to see.
type filter struct {
	Name string    // for the title: "errors"
	At   time.Time // the log at this time; zero: all of it
	// Text is what lines must hold; empty: anything. Lower case matches any case.
	Text string
	// Task is the id of the task that events are about; empty: all. Parse takes any name for an id.
	Task string

	kinds  []state.Kind
	failed bool // only what went wrong
	needle view.Needle
}

// askFor is what the last row says.
const askFor = "errors, tools, findings, task X, at 3:12, or text: "

// parseFilter reads what was typed. A time of day means the latest one before now.
func parseFilter(typed string, now time.Time) (filter, error) {
	typed = strings.TrimSpace(typed)
	word, rest, _ := strings.Cut(typed, " ")
	rest = strings.TrimSpace(rest)
	switch {
	case typed == "":
		return filter{}, errors.New("nothing to show: type errors, tools, findings, task NAME, at 3:12, or a text")
	case word == "task" && rest != "":
		return ofTask(rest, rest), nil
	case word == "at" && rest != "":
		at, err := timeOf(rest, now)
		return filter{Name: "at " + at.Format(time.TimeOnly), At: at}, err
	case rest == "" && len(word) >= 3:
		for _, f := range filterNamed() {
			if strings.HasPrefix(f.Name, word) {
				return f, nil
			}
		}
	}
	return filter{Name: `"` + typed + `"`, Text: typed,
		needle: view.NeedleOf(typed, typed == strings.ToLower(typed))}, nil
}

// ofTask returns the filter for the events of one task. The title of the log names the task.
func ofTask(name, id string) filter { return filter{Name: "task " + name, Task: id} }

func filterNamed() []filter {
	return []filter{
		{Name: "errors", failed: true},
		{Name: "tools", kinds: []state.Kind{state.KindTool, state.KindToolResult, state.KindDenied}},
		{Name: "findings",
			kinds: []state.Kind{state.KindFinding, state.KindVerdict, state.KindTask, state.KindFeedback}},
	}
}

func timeOf(text string, now time.Time) (time.Time, error) {
	for _, layout := range []string{"15:04", "15:04:05", "2006-01-02 15:04", "2006-01-02T15:04"} {
		t, err := time.ParseInLocation(layout, text, now.Location())
		if err != nil {
			continue
		}
		if t.Year() == 0 {
			y, m, d := now.Date()
			t = time.Date(y, m, d, t.Hour(), t.Minute(), t.Second(), 0, now.Location())
			if t.After(now) {
				t = t.AddDate(0, 0, -1)
			}
		}
		return t, nil
	}
	return now, errors.New("at what time? Write at 3:12, at 03:12:30 or at 2026-11-20 03:12")
}

// Line reports whether a line of the file may be wanted.
func (f *filter) Line(line []byte) bool {
	h := state.HeadOf(line)
	if f.failed && !state.MayFail(h.Kind, line) || len(f.kinds) > 0 && !slices.Contains(f.kinds, h.Kind) {
		return false
	}
	return (f.Task == "" || h.Task == f.Task) && f.needle.In(line)
}

// Event reports whether an event matches. The text is not compared: it is matched against what is shown.
func (f *filter) Event(e state.Event) bool {
	known := len(f.kinds) == 0 || slices.Contains(f.kinds, e.Kind)
	return known && (f.Task == "" || e.Task == f.Task) && (!f.failed || e.Failed())
}

const (
	most         = 8 << 20   // bytes of events that are shown
	besideFilter = 512 << 10 // bytes before and after a time
)

// Read returns the events that match, oldest first. If there are too many, it returns the latest.
func (f *filter) Read(r *state.Reader) ([]state.Event, error) {
	if !f.At.IsZero() {
		before, err := view.EventsBefore(r, f.At, besideFilter)
		if err != nil {
			return nil, err
		}
		after, err := view.EventsAfter(r, f.At, besideFilter)
		return append(before, after...), err
	}
	all, err := view.SelectEvents(r, most, f.Line)
	return slices.DeleteFunc(all, func(e state.Event) bool { return !f.Event(e) }), err
}
