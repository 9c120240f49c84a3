package monitor

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"ralph/state"
)

// checkView is one of ralph's own checks.
type checkView struct {
	Mark string // says the result with one character, for a row of its own
	Text string // "test running 12s", "test failed since 07:30", "test passed 1.2s"
	Tone tone
}

// checkViews are the checks of a run, those first that deserve a look.
func checkViews(s Snapshot, now time.Time) []checkView {
	all := slices.Clone(s.Status.Checks)
	rank := map[string]int{"running": -2, "failed": -1}
	slices.SortStableFunc(all, func(a, b state.CheckStatus) int { return cmp.Compare(rank[a.Result], rank[b.Result]) })
	var views []checkView
	for _, c := range all {
		name, red := oneLine(c.Name), ""
		if !c.RedSince.IsZero() {
			red = "since " + clock(c.RedSince, now)
		}
		v := checkView{"✓", join(" ", name, oneLine(c.Result), took(c.Seconds)), good}
		switch {
		case c.Result == "running" && !active(s.State):
			v = checkView{"?", name + " cut off", warn}
		case c.Result == "running":
			v = checkView{"●", join(", ", name+" running "+span(now.Sub(c.StartedAt)), prefixed("red ", red)), busy}
		case c.Result == "failed":
			v = checkView{"✗", join(" ", name, "failed", red), bad}
		}
		views = append(views, v)
	}
	return views
}

func took(seconds float64) string {
	if seconds < 10 {
		return fmt.Sprintf("%.1fs", seconds)
	}
	return span(time.Duration(seconds * float64(time.Second)))
}

// runningCheck says which check runs and for how long; empty: none runs.
func runningCheck(st state.Status, now time.Time) string {
	for _, c := range st.Checks {
		if c.Result == "running" {
			return fmt.Sprintf("check %s runs, %s", oneLine(c.Name), span(now.Sub(c.StartedAt)))
		}
	}
	return ""
}

// proofOf tells whether an event says how work is proved: the word before its
// text, and how its line looks. An empty word is any other event.
func proofOf(e state.Event) (word string, r role) {
	if e.Kind != state.KindDecision || e.End == nil {
		return "", roleNote
	}
	switch e.End.Rule {
	case "audit":
		return "audit", roleError
	case "checks", "baseline":
		return e.End.Rule, roleFinding
	case "feedback":
		return "told the agent", roleTold
	}
	return "", roleNote
}

// proofLines are the lines of such an event; none for any other.
func proofLines(e state.Event) []line {
	word, r := proofOf(e)
	if word == "" {
		return nil
	}
	return entry(e, r, led(": ", word, orElse(e.Text, e.End.Reason)), maxEntry)
}

// note is the first line of an event that says how work is proved.
type note struct {
	at   time.Time
	text string
	role role
}

// maxNotes bounds the notes that are remembered.
const maxNotes = 100

// note keeps an event that says how work is proved; false is any other.
func (h *history) note(e state.Event) bool {
	if word, _ := proofOf(e); word == "" {
		return false
	}
	if len(h.notes) == maxNotes {
		h.notes = slices.Delete(h.notes, 0, 1)
	}
	h.notes = append(h.notes, noteOf(e))
	return true
}

func noteOf(e state.Event) note {
	first := proofLines(e)[0]
	text := first.text
	if i := strings.LastIndex(text, ". "); i > 0 && strings.HasSuffix(text, ":") {
		text = text[:i+1] // the rest leads to lines that are in the log only
	}
	return note{e.Time, text, first.role}
}

// drawChecks shows one row, or a title with the checks and, newest first, what
// was found and what the agent was told.
func drawChecks(c canvas, v view, now time.Time) {
	if c.h == 1 {
		c.text(1, 0, plain, "checks ")
		drawChecksRow(c.columns(8, c.w-8), v.Checks)
		return
	}
	c.title("Checks", "6", "", false)
	c = c.rows(1, c.h-1)
	y := 0
	switch {
	case len(v.Checks) == 0 && len(v.Notes) == 0:
		c.text(1, 0, c.dim(), "none ran yet")
	case len(v.Checks) > c.h-min(len(v.Notes), 1):
		drawChecksRow(c.columns(1, c.w-1), v.Checks)
		y++
	default:
		for _, k := range v.Checks {
			x := c.text(1, y, c.tone(k.Tone), k.Mark+" ")
			c.text(x, y, c.tone(notGood(k.Tone)), fit(k.Text, c.w-x-1))
			y++
		}
	}
	drawNotes(c.rows(y, c.h-y), v.Notes, now)
}

// drawNotes lists notes, newest first: whole where all of them fit, else a row each.
func drawNotes(c canvas, notes []note, now time.Time) {
	const gutter = 11 // of a note of another day
	width, whole := max(c.w-gutter-1, 1), 0
	for _, n := range notes {
		whole += len(rows(n.text, width))
	}
	y := 0
	for _, n := range slices.Backward(notes) {
		x := c.text(1, y, c.dim(), clock(n.at, now)+" ")
		if whole > c.h {
			c.text(x, y, roleStyle(c, n.role), fit(n.text, c.w-x-1))
			y++
			continue
		}
		start := 0
		for _, end := range rows(n.text, width) {
			c.text(x, y, roleStyle(c, n.role), n.text[start:end])
			start = end
			y++
		}
	}
}

// drawChecksRow puts all checks in one row.
func drawChecksRow(c canvas, checks []checkView) {
	x := 0
	for i, k := range checks {
		if i > 0 {
			x = c.text(x, 0, c.dim(), fit(" · ", c.w-x-1))
		}
		x = c.text(x, 0, c.tone(notGood(k.Tone)), fit(k.Text, c.w-x-1))
	}
}
