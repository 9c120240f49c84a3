package board

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"net/http"
	"slices"
	"strings"
	"time"

	"ralph/logs/termtext"
	"ralph/state"
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
		b.pastPage(w, r, p)
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

// pastData is a run that is not the latest of its project.
type pastData struct {
	runLinks
	Rows []summary.IterationRow
	Of   *report.Report
	Tone summary.Tone
	Word string
	Took string
}

func (b *Board) pastPage(w http.ResponseWriter, r *http.Request, p project) {
	d, ok := b.past(p, r.PathValue("run"))
	if !ok {
		b.fail(w, r, http.StatusNotFound, "this run is not known here, or its files are gone")
		return
	}
	b.show(w, r, page{Title: p.Name(), Back: "/", Body: "past", Data: d})
}

// past returns what is known of an earlier run, from its record or its events; ok is false if nothing is.
func (b *Board) past(p project, run string) (d pastData, ok bool) {
	if !plainRun(run) {
		return d, false
	}
	r := p.reader()
	fold := &report.Fold{}
	if err := view.EachEvent(r, run, report.Wanted, fold.Add); err == nil && fold.Known() {
		fold.Run.Settle(false)
		d.Of = fold.Build(report.Source{Project: p.Dir, Snapshot: view.Gather(r, time.Now()), Now: time.Now()})
	}
	for _, rep := range b.records.Of(p.reader()) {
		if rep.Run == run {
			d.Of = rep
		}
	}
	if d.Of == nil {
		return d, false
	}
	d.runLinks, d.Rows = runLinks{p, run}, rowsOf(&view.Model{Run: fold.Run}, time.Now())
	d.Word, _, d.Tone = summary.Word(d.Of.Status)
	d.Word = cmp.Or(state.NotProven(d.Of.Status, d.Of.Unproven), d.Word)
	d.Took = view.Span(d.Of.Took())
	return d, true
}

// reportPage shows the report without its diffs: the pages of the iterations have them.
func (b *Board) reportPage(w http.ResponseWriter, r *http.Request) {
	p, ok := b.project(w, r)
	if !ok {
		return
	}
	d, ok := b.past(p, r.PathValue("run"))
	if f := b.current(r, p, r.PathValue("run")); ok && f != nil {
		f.mu.Lock()
		snapshot := f.model.Snapshot
		f.mu.Unlock()
		if rep := f.fold(r.PathValue("run"), snapshot); rep != nil {
			d.Of = rep
		}
	}
	if !ok {
		b.fail(w, r, http.StatusNotFound, "this run is not known here, or its files are gone")
		return
	}
	data := d.Of.HTML()
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
	b.runs.look(time.Now())
	b.show(w, r,
		page{Title: "ralph", Events: "/events", Body: "runs", Parts: map[string]string{"runs": b.runs.html("runs")}})
}

func (b *Board) runsEvents(w http.ResponseWriter, r *http.Request) {
	b.follow(w, r, b.runs.topic, b.runs.start)
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
	b.follow(w, r, f.topic, func() {})
}

// follow sends updates, to a limited number of viewers at a time.
func (b *Board) follow(w http.ResponseWriter, r *http.Request, t *topic, begin func()) {
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
	begin()
	stream(w, r, t, b.fill(r))
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
