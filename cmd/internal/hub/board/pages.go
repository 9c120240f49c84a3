package board

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"ralph/logs/termtext"
	"ralph/state"
	"ralph/state/act"
	"ralph/state/report"
	"ralph/state/view"
	"ralph/state/view/summary"
)

// projectPage redirects to the current run.
func (b *Board) projectPage(w http.ResponseWriter, r *http.Request) {
	if p, ok := b.project(w, r); ok {
		http.Redirect(w, r, p.Path(view.Gather(p.reader(), time.Now()).Status.RunID), http.StatusSeeOther)
	}
}

// current returns the feed of a run; nil: it is not its project's latest run.
func (b *Board) current(r *http.Request, p project, run string) *feed {
	s := view.Gather(p.reader(), time.Now())
	if run != s.Status.RunID && (!s.Alive || run != s.Owner.RunID) {
		return nil
	}
	return b.feed(r, p)
}

func (b *Board) runPage(w http.ResponseWriter, r *http.Request) {
	p, ok := b.project(w, r)
	if !ok {
		return
	}
	run := r.PathValue("run")
	f := b.current(r, p, run)
	if f == nil {
		if rep, folded := b.report(w, r, p); rep != nil {
			d := pastOf(p, rep)
			d.Rows = rowsOf(&view.Model{Run: folded}, time.Now())
			b.show(w, r, page{Title: p.Name(), Back: "/", Body: "past", Data: d})
		}
		return
	}
	shown := page{Title: termtext.Line(f.name()), Back: "/", Events: p.Path(run) + "/events", Body: "run",
		Parts: map[string]string{}, Data: runLinks{p, run}}
	for _, id := range runParts() {
		shown.Parts[id] = f.html(id)
	}
	lines := f.latest()
	slices.Reverse(lines) // the latest are those that matter
	for _, l := range lines {
		shown.Log = append(shown.Log, shownLine(l))
	}
	shown.Log = within(shown.Log, roomLog, 60, func(l row) string { return l.Text })
	slices.Reverse(shown.Log)
	b.show(w, r, shown)
}

// runLinks are the links on the page of a run.
type runLinks struct {
	project
	Run string
}

// name is the name of the project.
func (p project) name() string { return p.Dir[strings.LastIndexByte(p.Dir, '/')+1:] }

// Name is the name of the project, as a line.
func (p project) Name() string { return termtext.Line(p.name()) }

// past is a run that is not the latest of its project.
type past struct {
	runLinks
	Of   *report.Report
	Tone summary.Tone
	Word string
	Rows []summary.IterationRow
}

func pastOf(p project, rep *report.Report) past {
	word, _, tone := summary.Word(rep.Status)
	return past{runLinks: runLinks{p, rep.Run}, Of: rep, Tone: tone,
		Word: cmp.Or(state.NotProven(rep.Status, rep.Unproven), word)}
}

// report returns what is known of a run: its record or, of the latest one, a fold of its events. It answers if
// nothing is known.
func (b *Board) report(w http.ResponseWriter, r *http.Request, p project) (*report.Report, view.Run) {
	run := r.PathValue("run")
	rep, folded := b.reportOf(p, run)
	if rep == nil {
		b.fail(w, r, http.StatusNotFound, "this run is not known here, or its files are gone")
	}
	return rep, folded
}

func (b *Board) reportOf(p project, run string) (rep *report.Report, folded view.Run) {
	if !plainRun(run) {
		return nil, folded
	}
	fold, reader := &report.Fold{}, p.reader()
	s := view.Gather(reader, time.Now())
	for _, known := range b.records.Of(reader) {
		if known.Run == run {
			rep = known
		}
	}
	latest := run == s.Status.RunID || s.Alive && run == s.Owner.RunID
	if err := view.EachEvent(reader, run, report.Wanted, fold.Add); err == nil && fold.Known() {
		if fold.Run.Settle(latest && s.Alive); latest || rep == nil {
			rep = fold.Build(report.Source{Project: p.Dir, Snapshot: s, Now: s.At})
		}
	}
	return rep, fold.Run
}

// reportPage shows the report without its diffs: the pages of the iterations have them.
func (b *Board) reportPage(w http.ResponseWriter, r *http.Request) {
	p, ok := b.project(w, r)
	if !ok {
		return
	}
	rep, _ := b.report(w, r, p)
	if rep == nil {
		return
	}
	data := rep.HTML()
	head := w.Header()
	head.Set("Content-Type", "text/html; charset=utf-8")
	// The page itself says which style.
	head.Set("Content-Security-Policy",
		"default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; sandbox")
	if head.Set("Vary", "Accept-Encoding"); strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		_, _ = z.Write(data) // into memory
		_ = z.Close()
		head.Set("Content-Encoding", "gzip")
		data = b.Bytes()
	}
	_, _ = w.Write(data)
}

func (b *Board) runsPage(w http.ResponseWriter, r *http.Request) {
	b.runs.look()
	b.show(w, r,
		page{Title: "ralph", Events: "/events", Body: "runs", Parts: map[string]string{"runs": b.runs.html("runs")}})
}

func (b *Board) runsEvents(w http.ResponseWriter, r *http.Request) {
	b.follow(w, r, b.runs.topic, b.runs.look)
}

func (b *Board) runEvents(w http.ResponseWriter, r *http.Request) {
	p, ok := b.project(w, r)
	if !ok {
		return
	}
	f := b.current(r, p, r.PathValue("run"))
	if f == nil {
		w.WriteHeader(http.StatusNoContent) // the browser does not ask again
		return
	}
	b.follow(w, r, f.topic, nil)
}

// follow sends updates, to a limited number of viewers at a time. refresh is called once a second; nil: it is not needed.
func (b *Board) follow(w http.ResponseWriter, r *http.Request, t *topic, refresh func()) {
	b.mu.Lock()
	full := b.streams >= maxStreams
	if !full {
		b.streams++
	}
	b.mu.Unlock()
	if full {
		http.Error(w, "too many viewers", http.StatusServiceUnavailable)
		return
	}
	defer func() { b.mu.Lock(); b.streams--; b.mu.Unlock() }()
	stream(w, r, t, b.fill(r), refresh)
}

// login takes a link or, from a form, the token.
func (b *Board) login(w http.ResponseWriter, r *http.Request) {
	code := r.URL.Query().Get("code")
	if r.Method == http.MethodPost {
		code = r.PostFormValue("code")
	}
	if code == "" {
		b.show(w, r, page{Title: "Log in", Back: "/", Body: "login"})
		return
	}
	switch status := b.Door.Login(w, strings.TrimSpace(code)); status {
	case http.StatusOK: // a page, not a redirect: after a click elsewhere, only a page of our own sends the cookie
		b.show(w, r,
			page{Title: "Logged in", LogsIn: true, Body: "said",
				Data: said{Text: "You are logged in.", To: "/", Soon: true}})
	case http.StatusGone:
		b.fail(w, r, status, "this link has expired, or somebody has used it; get another with: ralph serve --link")
	case http.StatusInternalServerError:
		b.fail(w, r, status, "ralph cannot note that this link was used, so it does not count; log in with the token")
	default:
		b.fail(w, r, status, "this is not a link or token of this dashboard; get one with: ralph serve --link")
	}
}

func (b *Board) metricsPage(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	_, _ = w.Write(metricsText(b.all(), time.Now()))
}

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
