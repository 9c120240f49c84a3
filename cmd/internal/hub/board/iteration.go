package board

import (
	"context"
	"fmt"
	"net/http"
	"slices"
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
	maxShown = 30 << 10 // bytes of the transcript, and of the diff, unless all is asked for
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
	All    bool   // also what does not fit
	More   bool   // something does not fit
}

type patchLine struct{ Tone, Text string }

func (b *Board) iterationPage(w http.ResponseWriter, r *http.Request) {
	p, ok := b.project(w, r)
	if !ok {
		return
	}
	run := r.PathValue("run")
	n, err := strconv.Atoi(r.PathValue("n"))
	d := iterationData{runLinks: runLinks{p, run}, N: n, All: r.URL.Query().Has("all")}
	if err == nil && n > 0 && plainRun(run) {
		ok = d.read()
	} else {
		ok = false
	}
	if !ok {
		b.fail(w, r, http.StatusNotFound, "this iteration is not known here, or its events are gone")
		return
	}
	b.diff(r.Context(), &d)
	b.show(w, r, page{Title: fmt.Sprintf("%s: iteration %d", p.Name(), n), Back: p.Path(run),
		Body: "iteration", Data: d})
}

// read takes the transcript from the events.
func (d *iterationData) read() bool {
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
	slices.Reverse(lines) // the outcome is at the end
	d.Log = fitting(d, lines, 60, func(l row) string { return l.Text })
	slices.Reverse(d.Log)
	return true
}

// fitting returns what the page shows of a list.
func fitting[T any](d *iterationData, all []T, frame int, text func(T) string) []T {
	if d.All {
		return all
	}
	shown := within(all, maxShown, frame, text)
	d.More = d.More || len(shown) < len(all)
	return shown
}

// diff asks ralph for the changes of the iteration.
func (b *Board) diff(ctx context.Context, d *iterationData) {
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
	d.Patch = fitting(d, lines, 40, func(l patchLine) string { return l.Text })
}
