package board

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"ralph/state"
	"ralph/state/act"
	"ralph/state/view"
	"ralph/state/view/summary"
)

// Bounds of the page of an iteration.
const (
	maxLog1  = 30 << 10 // bytes of the transcript on one page
	maxDiff  = 30 << 10 // bytes of the diff on one page
	maxPatch = 4 << 20  // bytes that are read of a diff
	maxKept  = 50_000   // lines of a transcript that are looked at
)

// iterationData is one iteration.
type iterationData struct {
	runLinks
	N      int
	Row    summary.IterationRow
	Log    []row
	Patch  []patchLine
	NoDiff string // why there is none
	// Addresses of other parts of the transcript and the diff; empty if there are none.
	Before, After, DiffBefore, DiffAfter string
}

type patchLine struct{ Tone, Text string }

func (b *Board) iterationPage(w http.ResponseWriter, r *http.Request) {
	p, ok := b.project(w, r)
	if !ok {
		return
	}
	run := r.PathValue("run")
	n, err := strconv.Atoi(r.PathValue("n"))
	d := iterationData{runLinks: runLinks{p, run}, N: n}
	if err == nil && n > 0 && plainRun(run) {
		ok = d.read(r)
	} else {
		ok = false
	}
	if !ok {
		b.fail(w, r, http.StatusNotFound, "this iteration is not known here, or its events are gone")
		return
	}
	b.diff(r.Context(), &d, number(r, "diff"))
	b.show(w, r, page{Title: fmt.Sprintf("%s: iteration %d", p.Name(), n), Back: p.Path(run),
		Body: "iteration", Data: d})
}

// number is a parameter of the address; -1: it has none.
func number(r *http.Request, name string) int {
	n, err := strconv.Atoi(r.URL.Query().Get(name))
	if err != nil || n < 0 {
		return -1
	}
	return n
}

// read takes the transcript from the events.
func (d *iterationData) read(r *http.Request) bool {
	log := view.Log{LineOptions: view.LineOptions{Dir: d.Dir}}
	m := view.Model{Run: view.Run{ID: d.Run}}
	var lines []row
	reader := d.reader()
	err := view.EachEvent(reader, d.Run, nil, func(e state.Event) {
		if e.Iteration != d.N || len(lines) > maxKept {
			return
		}
		m.Run.Add(e)
		for _, l := range log.Lines(e) {
			lines = append(lines, shownLine(l))
		}
	})
	if err != nil || len(m.Run.Iterations) == 0 {
		return false
	}
	owner, alive := reader.Owner()
	m.Run.Settle(alive && owner.RunID == d.Run)
	d.Row = summary.Row(&m, 0, time.Now())
	pages := cutPages(len(lines), maxLog1, func(i int) int { return len(lines[i].Text) + 60 })
	at := number(r, "log")
	if at < 0 || at >= len(pages) {
		at = len(pages) - 1 // the last page, which has the outcome
	}
	d.Log = lines[pages[at][0]:pages[at][1]]
	d.Before, d.After = around("log", at, len(pages))
	return true
}

// cutPages splits n lines into pages of limited size.
func cutPages(n, most int, size func(int) int) (pages [][2]int) {
	from, used := 0, 0
	for i := range n {
		if used += size(i); used > most && i > from {
			pages = append(pages, [2]int{from, i})
			from, used = i, size(i)
		}
	}
	return append(pages, [2]int{from, n})
}

func around(name string, at, of int) (before, after string) {
	if at > 0 {
		before = fmt.Sprintf("?%s=%d#%[1]s", name, at-1)
	}
	if at+1 < of {
		after = fmt.Sprintf("?%s=%d#%[1]s", name, at+1)
	}
	return before, after
}

// diff asks ralph for the changes of the iteration.
func (b *Board) diff(ctx context.Context, d *iterationData, at int) {
	ralph := act.In(b.Ralph, d.Dir)
	ralph.Most = maxPatch
	out, err := ralph.Output(ctx, "diff", "--run", d.Run, "--", strconv.Itoa(d.N))
	if err != nil {
		d.NoDiff = err.Error()
		return
	}
	text := strings.TrimSuffix(string(out), "\n")
	if text == "" {
		d.NoDiff = "no changes"
		return
	}
	var lines []patchLine
	for line := range strings.SplitSeq(text, "\n") {
		tone, text := view.PatchLine(line)
		lines = append(lines, patchLine{tone, text})
	}
	pages := cutPages(len(lines), maxDiff, func(i int) int { return len(lines[i].Text) + 24 })
	at = min(max(at, 0), len(pages)-1)
	d.Patch = lines[pages[at][0]:pages[at][1]]
	d.DiffBefore, d.DiffAfter = around("diff", at, len(pages))
}
