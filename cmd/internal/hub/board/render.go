package board

import (
	"bytes"
	"cmp"
	"embed"
	"fmt"
	"html/template"
	"net/http"
	"strings"
	"sync"

	"ralph/state/report"
	"ralph/state/view/summary"
)

//go:embed page
var files embed.FS

// asset is a file of the pages. The style is that of the report, and more.
func asset(name string) []byte {
	data, err := files.ReadFile("page/" + name)
	if err != nil {
		return nil // the names are constants
	}
	if name == "board.css" {
		data = append([]byte(report.Style()), data...)
	}
	return data
}

var templates = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{
		"tone":    func(t summary.Tone) string { return [...]string{"calm", "good", "busy", "look", "bad"}[t] },
		"mark":    func(state string) string { mark, _ := summary.TaskMark(state); return mark },
		"percent": func(part float64) string { return fmt.Sprintf("%.0f", 100*min(max(part, 0), 1)) },
		"inc":     func(i int) int { return i + 1 },
		"part":    func(html string) template.HTML { return template.HTML(html) }, // a template wrote it
		"code":    func(text string) template.HTML { return template.HTML(report.WithCode(text)) },
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
