// Package board shows runs in a browser, from the same model as status, the monitor and the
// report. The pages load nothing from elsewhere and work without scripts; with scripts, they
// update themselves. It reads what ralph writes, and acts by running ralph's verbs.
package board

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"ralph/logs/termtext"
	"ralph/state"
	"ralph/state/act"
	"ralph/state/report"
	"ralph/state/view"
	"ralph/state/view/summary"
)

// Board is the dashboard of one user.
type Board struct {
	Door     *Door
	Actions  bool            // users who are logged in may act
	Ralph    string          // the program
	Projects func() []string // folders

	once    sync.Once
	ctx     context.Context
	mark    string // placeholder in pages for the token of a form
	mu      sync.Mutex
	feeds   map[string]*feed // by folder
	lists   map[filter]*list
	kept    map[string]*kept // by folder
	streams int
	records records
}

// Handler serves all pages until ctx ends.
func (b *Board) Handler(ctx context.Context) http.Handler {
	b.once.Do(func() {
		b.ctx, b.mark, b.feeds = ctx, rand.Text(), map[string]*feed{}
		b.lists, b.kept = map[filter]*list{}, map[string]*kept{}
	})
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", b.runsPage)
	mux.HandleFunc("GET /events", b.runsEvents)
	mux.HandleFunc("GET /p/{key}/{$}", b.projectPage)
	mux.HandleFunc("GET /p/{key}/r/{run}", b.runPage)
	mux.HandleFunc("GET /p/{key}/r/{run}/events", b.runEvents)
	mux.HandleFunc("GET /p/{key}/r/{run}/report", b.reportPage)
	mux.HandleFunc("GET /p/{key}/r/{run}/{kind}/{id}", b.runPage)
	mux.HandleFunc("POST /p/{key}/do", b.act)
	mux.HandleFunc("GET /metrics", b.metricsPage)
	mux.HandleFunc("GET /login", b.login)
	mux.HandleFunc("POST /login", b.login)
	for name, kind := range map[string]string{"board.css": "text/css; charset=utf-8",
		"live.js": "text/javascript; charset=utf-8", "favicon.ico": "image/svg+xml"} {
		mux.HandleFunc("GET /"+name, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			w.Header().Set("Cache-Control", "no-cache")
			_, _ = w.Write(asset(name))
		})
	}
	return b.Door.Guard(bounded(mux))
}

// bounded sets a write deadline, against clients that do not read. Streams set one of their own.
func bounded(next http.Handler) http.Handler {
	const page = 30 * time.Second
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(page))
		r.Body = http.MaxBytesReader(w, r.Body, 64<<10)
		next.ServeHTTP(w, r)
	})
}

// project is a folder with runs, as addresses name it.
type project struct{ Key, Dir string }

func keyOf(dir string) string {
	sum := sha256.Sum256([]byte(dir))
	return hex.EncodeToString(sum[:6])
}

func (p project) reader() *state.Reader { return state.Open(filepath.Join(p.Dir, state.DirName)) }

// Path is the address of a run.
func (p project) Path(run string) string { return "/p/" + p.Key + "/r/" + run }

// all lists the projects in which something has run.
func (b *Board) all() (all []project) {
	for _, dir := range b.Projects() {
		if p := (project{keyOf(dir), dir}); p.reader().Exists() {
			all = append(all, p)
		}
	}
	return all
}

// project finds the one of an address, or answers that it is gone.
func (b *Board) project(w http.ResponseWriter, r *http.Request) (p project, ok bool) {
	for _, p := range b.all() {
		if p.Key == r.PathValue("key") {
			return p, true
		}
	}
	b.fail(w, r, http.StatusNotFound, "there is no such project, or its runs are gone")
	return p, false
}

// plainRun accepts only an id of a run that is safe as part of a path.
func plainRun(run string) bool {
	return run != "" && len(run) < 100 && !strings.ContainsAny(run, `/\`) && !strings.HasPrefix(run, ".")
}

//go:embed page
var files embed.FS

// asset is a file of the pages. The style is that of the report, and more.
func asset(name string) []byte {
	data, _ := files.ReadFile("page/" + name) // the names are constants
	if name == "board.css" {
		data = append([]byte(report.Style()), data...)
	}
	return data
}

func tone(t summary.Tone) string { return [...]string{"calm", "good", "busy", "look", "bad"}[t] }

// stateOf is a state of tasks as plans know it. Reports have one of their own.
func stateOf(state string) string {
	if state == report.TaskAside {
		return "blocked"
	}
	return state
}

var templates = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{
		"tone":     tone,
		"mark":     func(state string) string { mark, _ := summary.TaskMark(stateOf(state)); return mark },
		"state":    func(state string) string { _, t := summary.TaskMark(stateOf(state)); return tone(t) },
		"path":     url.PathEscape,
		"percent":  func(part float64) string { return fmt.Sprintf("%.0f", 100*min(max(part, 0), 1)) },
		"unproven": unproven, "computed": view.Computed,
		"all":  func(all ...any) []any { return all },
		"inc":  func(i int) int { return i + 1 },
		"part": func(html string) template.HTML { return template.HTML(html) }, // a template wrote it
		"code": func(text string) template.HTML { return template.HTML(report.WithCode(text)) },
	}).ParseFS(files, "page/*.html"))
})

// render fills a template. An error is a mistake in a template, which the tests find.
func render(name string, data any) string {
	var b bytes.Buffer
	if err := templates().ExecuteTemplate(&b, name, data); err != nil {
		return "<p>this part cannot be shown: " + template.HTMLEscapeString(err.Error()) + "</p>"
	}
	return b.String()
}

// page is a whole page.
type page struct {
	Title  string
	Back   string // address of the page above; empty: this is the top
	Events string // address of its updates; empty: it does not change
	Body   string // name of the template
	Data   any
	View   string // what is selected on the page of a run: i, t, q, f, or past
	Parts  map[string]string
	Log    []row
	Acting bool // this viewer may act
	LogsIn bool // it brings the cookie
	CanLog bool // actions are on, and this viewer is not logged in
	Status int  // 0: 200
}

func (b *Board) show(w http.ResponseWriter, r *http.Request, p page) {
	session := b.Door.Session(r)
	p.Acting, p.CanLog = b.Actions && session != "", b.Actions && session == "" && !p.LogsIn
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(cmp.Or(p.Status, http.StatusOK))
	if r.Method != http.MethodHead {
		_, _ = w.Write(b.fill(r)([]byte(render("page", p))))
	}
}

// fill puts the token of a login into its forms.
func (b *Board) fill(r *http.Request) func([]byte) []byte {
	token := ""
	if session := b.Door.Session(r); b.Actions && session != "" {
		token = b.Door.FormToken(session)
	}
	return func(html []byte) []byte { return bytes.ReplaceAll(html, []byte(b.mark), []byte(token)) }
}

// fail answers with one line.
func (b *Board) fail(w http.ResponseWriter, r *http.Request, status int, why string) {
	if !strings.Contains(r.Header.Get("Accept"), "html") {
		http.Error(w, why, status)
		return
	}
	b.show(w, r, page{Title: http.StatusText(status), Back: "/", Body: "said", Data: said{Text: why, Bad: true}, Status: status})
}

// said is what came of a request.
type said struct {
	Text string
	Bad  bool
	To   string // where to go on; empty: nowhere
	Soon bool   // the page goes there by itself
}

// verb is an action that a form may ask for. Its button's value is the name of the action, followed by
// a space and the id it applies to, if it needs one.
type verb struct {
	living bool   // it needs a run that is alive
	part   string // of the page, to go on with
	args   func(about, text string) []string
}

func verbs() map[string]verb {
	plain := func(args ...string) func(string, string) []string {
		return func(string, string) []string { return args }
	}
	const review = "#at-review"
	return map[string]verb{
		"pause": {true, "", plain("pause")}, "resume": {true, "", plain("resume")}, "skip": {true, "", plain("skip")},
		"stop": {true, "", plain("stop")},
		"answer": {false, review, func(id, text string) []string {
			return []string{"answer", "--by=" + source, "--", id, text}
		}},
		"option": {false, review, func(about, _ string) []string {
			id, n, _ := strings.Cut(about, " ")
			return []string{"answer", "--by=" + source, "--option=" + n, "--", id}
		}},
		"accept": {false, review, func(n, _ string) []string { return []string{"accept", "--", n} }},
		"add":    {false, "#at-plan", func(_, text string) []string { return []string{"task", "add", "--", text} }},
		"first":  {false, "#at-plan", func(id, _ string) []string { return []string{"task", "move", "--first", "--", id} }},
		"last":   {false, "#at-plan", func(id, _ string) []string { return []string{"task", "move", "--last", "--", id} }},
	}
}

// source names the dashboard in what ralph records of an action.
const source = "dashboard"

// act runs the verb that a form asks for.
func (b *Board) act(w http.ResponseWriter, r *http.Request) {
	p, ok := b.project(w, r)
	if !ok {
		return
	}
	if !b.Actions {
		b.fail(w, r, http.StatusForbidden, "this dashboard only shows; to act, start it with: ralph serve --actions")
		return
	}
	if err := r.ParseForm(); err != nil {
		b.fail(w, r, http.StatusRequestEntityTooLarge, "the form cannot be read, or has more than 64 KiB")
		return
	}
	if status, why := b.Door.MayAct(r); status != http.StatusOK {
		b.fail(w, r, status, why)
		return
	}
	name, about, _ := strings.Cut(r.PostFormValue("do"), " ")
	v, known := verbs()[name]
	text := strings.TrimSpace(termtext.Clean(r.PostFormValue("text")))
	switch _, alive := p.reader().Owner(); {
	case !known:
		b.fail(w, r, http.StatusBadRequest, "there is no such action")
		return
	case slices.Contains([]string{"answer", "add"}, name) && text == "":
		b.fail(w, r, http.StatusBadRequest, "the text is empty")
		return
	case v.living && !alive:
		b.fail(w, r, http.StatusConflict, "no run is alive")
		return
	}
	line, done := b.run(r.Context(), p, v.args(about, text))
	to := "/p/" + p.Key + "/" + v.part
	shown := page{Title: p.Name(), Back: to, Body: "said", Data: said{Text: line, Bad: !done, To: to, Soon: done}}
	if !done {
		shown.Status = http.StatusConflict
	}
	b.show(w, r, shown)
}

// run runs a verb in the project, as a person there would, and records it.
func (b *Board) run(ctx context.Context, p project, args []string) (line string, done bool) {
	said := act.In(b.Ralph, p.Dir).Run(context.WithoutCancel(ctx), args...) // the client may leave meanwhile
	line = termtext.Fit(said.Line(), 500)
	record(p.reader(), args, line)
	return line, said.Err == nil
}

// record notes an action in the project. It ignores errors: the action is over.
func record(r *state.Reader, args []string, said string) {
	project := state.Project(r.Dir())
	line, _ := json.Marshal(map[string]any{"time": time.Now(), "source": source, "args": args, "said": said})
	_ = project.MkdirAll(r.HubDir(), 0o755)
	f, err := project.OpenFile(filepath.Join(r.HubDir(), "actions.jsonl"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err == nil {
		_, _ = f.Write(append(line, '\n'))
		_ = f.Close()
	}
}
