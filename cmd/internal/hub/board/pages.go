package board

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"ralph/logs/termtext"
	"ralph/state"
	"ralph/state/act"
	"ralph/state/question"
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

// runPage shows a run, and on it what the address names: an iteration, a task, a question or a finding.
func (b *Board) runPage(w http.ResponseWriter, r *http.Request) {
	p, ok := b.project(w, r)
	if !ok {
		return
	}
	run := r.PathValue("run")
	shown := page{Title: p.Name(), Back: "/", Body: "run", Parts: map[string]string{}}
	f := b.current(r, p, run)
	if f != nil {
		shown.Events = p.Path(run) + "/events"
		for _, id := range runParts() {
			shown.Parts[id] = f.html(id)
		}
		shown.Log = f.log()
	} else {
		rep := b.report(w, r, p)
		if rep == nil {
			return
		}
		m, now := &view.Model{}, time.Now()
		if events, err := view.ReadRun(p.reader(), run, false); err == nil {
			m.Run = *events
		}
		d := pastOf(p, rep)
		d.Rows, d.Strip, d.Uses = rowsOf(m, now), stripOf(m, maxCells, now), rep.Uses()
		for part, name := range map[string]string{"head": "pasthead", "strip": "strip", "plan": "pastplan"} {
			shown.Parts[part] = render(name, d)
		}
		shown.View, shown.Data = "past", d
	}
	if kind := r.PathValue("kind"); kind != "" {
		shown.Back, shown.View = p.Path(run), kind
		if shown.Data = b.chosen(r, runLinks{p, run}, f); shown.Data == nil {
			b.fail(w, r, http.StatusNotFound, "this is not known here, or its events are gone")
			return
		}
		shown.Title = fmt.Sprintf("%s: %s %s", p.Name(), map[string]string{"i": "iteration", "t": "task", "q": "question",
			"f": "finding"}[kind], termtext.Line(r.PathValue("id")))
	}
	b.show(w, r, shown)
}

// log is the live log as a page has it at first: the latest lines are those that matter.
func (f *feed) log() (all []row) {
	lines := f.latest()
	slices.Reverse(lines)
	for _, l := range lines {
		all = append(all, shownLine(l))
	}
	all = within(all, roomLog, 60, func(l row) string { return l.Text })
	slices.Reverse(all)
	return folded(all)
}

// chosen is what the address selects on the page of a run; nil: it is not there. Only the current run has a feed.
func (b *Board) chosen(r *http.Request, at runLinks, f *feed) any {
	id, acts := r.PathValue("id"), shell{b.Actions, b.mark}
	n, _ := strconv.Atoi(id) // 0: no number, which nothing has
	switch kind := r.PathValue("kind"); {
	case kind == "i" && n > 0:
		d := iterationData{runLinks: at, N: n, All: r.URL.Query().Has("all")}
		if d.read() {
			d.Diff, d.NoDiff = b.diff(r.Context(), &d, n)
			return d
		}
	case f == nil:
	case kind == "t":
		return f.task(r.Context(), at, id, acts)
	case kind == "q":
		all, _ := question.In(at.reader()).List() // none can be read: it is not known
		if i := slices.IndexFunc(all, func(q question.Question) bool { return q.ID == id }); i >= 0 {
			return asking{bound(all[i]), at.project, acts, at.Run}
		}
	case kind == "f":
		f.mu.Lock()
		s := f.model.Status
		accepts := !f.model.Alive && s.Status == state.StatusReview
		f.mu.Unlock()
		for _, item := range s.Review {
			if d := (found{item, at.project, acts, at.Run, accepts, ""}); item.N == n {
				if _, err := fmt.Sscanf(item.Show, "ralph diff %d", &n); err == nil {
					d.Diff, _ = b.diff(r.Context(), &iterationData{runLinks: at}, n)
				}
				return d
			}
		}
	}
	return nil
}

// taskData is a task of the plan.
type taskData struct {
	runLinks
	shell
	Task act.Task
	Told *report.Task // nil: the run has not worked on it
	Rows []summary.IterationRow
}

// task is a task as ralph knows it now, with what the run knows of it; nil: there is none.
func (f *feed) task(ctx context.Context, at runLinks, id string, acts shell) any {
	all := f.tasks(ctx)
	i := slices.IndexFunc(all, func(t act.Task) bool { return t.ID == id })
	if i < 0 {
		return nil
	}
	d := taskData{runLinks: at, shell: acts, Task: fitTask(all[i])}
	d.Task.Description, d.Task.Criteria = termtext.Fit(termtext.Clean(d.Task.Description), 4000), within(mapped(d.Task.Criteria, fit), 6<<10, 10,
		func(s string) string { return s })
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := len(f.model.Run.Iterations) - 1; i >= 0 && len(d.Rows) < maxRows; i-- {
		if it := &f.model.Run.Iterations[i]; it.TaskID == id || slices.Contains(d.Task.Work, it.Number) {
			d.Rows = append(d.Rows, shortRow(&f.model, i, time.Now()))
		}
	}
	d.Rows = within(d.Rows, roomRows, 300, func(r summary.IterationRow) string { return r.Title + r.Text })
	if rep := f.slow.report; rep != nil {
		if i := slices.IndexFunc(rep.Tasks, func(t report.Task) bool { return t.ID == id }); i >= 0 {
			d.Told = &rep.Tasks[i]
		}
	}
	return d
}

// runLinks are the links on the page of a run.
type runLinks struct {
	project
	Run string
}

// Name is the name of the project, as a line.
func (p project) Name() string { return termtext.Line(filepath.Base(p.Dir)) }

// past is a run that is not the latest of its project.
type past struct {
	runLinks
	Of    *report.Report
	Tone  summary.Tone
	Word  string
	When  string // it began
	Rows  []summary.IterationRow
	Strip strip
	Uses  []report.Use
}

// Worked are the tasks that the run worked on, as many as there is room for.
func (d past) Worked() []report.Task {
	return within(d.Of.Tasks, roomTasks, 100, func(t report.Task) string { return t.Title + t.Verdict })
}

func pastOf(p project, rep *report.Report) past {
	word, _, tone := summary.Word(rep.Status)
	return past{runLinks: runLinks{p, rep.Run}, Of: rep, Tone: tone, When: view.Clock(rep.StartedAt, time.Now()),
		Word: cmp.Or(state.NotProven(rep.Status, rep.Unproven), word)}
}

// report returns what is known of a run. It answers if nothing is known.
func (b *Board) report(w http.ResponseWriter, r *http.Request, p project) *report.Report {
	rep := b.reportOf(p, r.PathValue("run"))
	if rep == nil {
		b.fail(w, r, http.StatusNotFound, "this run is not known here, or its files are gone")
	}
	return rep
}

// reportOf is the record of a run or, of the latest one, a fold of its events; nil: nothing is known.
func (b *Board) reportOf(p project, run string) (rep *report.Report) {
	if !plainRun(run) {
		return nil
	}
	fold, reader := &report.Fold{}, p.reader()
	s := view.Gather(reader, time.Now())
	latest := run == s.Status.RunID || s.Alive && run == s.Owner.RunID
	for _, known := range b.records.Of(reader) {
		if known.Run == run {
			rep = known
		}
	}
	var err error
	if latest {
		b.mu.Lock()
		k := b.keptOf(p)
		b.mu.Unlock()
		k.mu.Lock()
		defer k.mu.Unlock()
		err, fold = k.read(reader, run), &k.fold
	}
	if rep == nil && !fold.Known() {
		fold = &report.Fold{}
		err = view.EachEvent(reader, run, report.Wanted, fold.Add)
	}
	if err == nil && fold.Known() {
		fold.Run.Settle(latest && s.Alive)
		rep = fold.Build(report.Source{Project: p.Dir, Snapshot: s, Now: s.At})
	}
	return rep
}

// reportPage shows the report without its diffs: the pages of the iterations have them.
func (b *Board) reportPage(w http.ResponseWriter, r *http.Request) {
	p, ok := b.project(w, r)
	if !ok {
		return
	}
	rep := b.report(w, r, p)
	if rep == nil {
		return
	}
	head := w.Header()
	head.Set("Content-Type", "text/html; charset=utf-8")
	// The page itself says which style.
	head.Set("Content-Security-Policy",
		"default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; sandbox")
	_, _ = w.Write(rep.HTML())
}

func (b *Board) runsPage(w http.ResponseWriter, r *http.Request) {
	l := b.list(r)
	l.look()
	b.show(w, r, page{Title: "ralph", Events: "/events" + l.query(), Body: "runs", Parts: map[string]string{"runs": l.html("runs")}})
}

func (b *Board) runsEvents(w http.ResponseWriter, r *http.Request) {
	l := b.list(r)
	b.follow(w, r, l.topic, l.look)
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
	maxShown = 14 << 10 // bytes of the transcript, and of the diff, unless all is asked for
	maxPatch = 4 << 20  // bytes that are read of a diff
	maxKept  = 32 << 20 // bytes of its events
)

// iterationData is one iteration.
type iterationData struct {
	runLinks
	N      int
	Row    summary.IterationRow
	Checks map[string]bool
	Said   []string // by reviewers and the audit
	Log    []row
	Diff   string      // HTML
	NoDiff string      // why there is none
	Edited []view.Edit // as its tool calls say
	All    bool        // also what does not fit
	More   bool        // something does not fit
}

// read takes the transcript from the events.
func (d *iterationData) read() bool {
	log := view.Log{LineOptions: view.LineOptions{Dir: d.Dir}}
	m := view.Model{Run: view.Run{ID: d.Run}}
	var lines []row
	reader := d.reader()
	events, err := view.EventsOfIteration(reader, d.Run, d.N, maxKept)
	for _, e := range events {
		m.Run.Add(e)
		for _, l := range log.Lines(e) {
			lines = append(lines, shownLine(l))
		}
	}
	if err != nil || len(m.Run.Iterations) == 0 {
		return false
	}
	owner, alive := reader.Owner()
	m.Run.Settle(alive && owner.RunID == d.Run)
	d.Row = summary.Row(&m, 0, time.Now())
	it := &m.Run.Iterations[0]
	d.Checks, d.Edited = it.Checks, within(mapped(m.Run.Edited, func(e view.Edit) view.Edit {
		e.File = fit(view.Within(d.Dir, e.File))
		return e
	}), roomFound, 90, func(e view.Edit) string { return e.File })
	d.Said = within(mapped(slices.Concat(state.VerdictLines(it.Verdicts), it.Findings), fit), roomFound, 40, func(s string) string { return s })
	slices.Reverse(lines) // the outcome is at the end
	if shown := within(lines, maxShown, 60, func(l row) string { return l.Text }); !d.All && len(shown) < len(lines) {
		lines, d.More = shown, true
	}
	slices.Reverse(lines)
	d.Log = folded(lines)
	return true
}

// diff asks ralph for the changes of an iteration, as HTML, or says why there are none.
func (b *Board) diff(ctx context.Context, d *iterationData, n int) (html, why string) {
	ralph := act.In(b.Ralph, d.Dir)
	ralph.Most = maxPatch
	out, err := ralph.Output(ctx, "diff", "--run", d.Run, "--", strconv.Itoa(n))
	if err != nil {
		return "", err.Error()
	}
	if strings.TrimSpace(string(out)) == "" {
		return "", "no changes"
	}
	room := maxShown
	if d.All {
		room = 4 * maxPatch
	}
	html, more := report.Patch(string(out), room)
	d.More = d.More || more > 0
	return html, ""
}
