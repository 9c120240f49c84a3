// Package board shows runs in a browser, from the same model as status, the monitor and the
// report. The pages load nothing from elsewhere and work without scripts; with scripts, they
// update themselves. It reads what ralph writes, and acts by running ralph's verbs.
package board

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"ralph/state"
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
	runs    *list
	streams int
	records records
}

// Handler serves all pages until ctx ends.
func (b *Board) Handler(ctx context.Context) http.Handler {
	b.once.Do(func() {
		b.ctx, b.mark, b.feeds = ctx, rand.Text(), map[string]*feed{}
		b.runs = &list{topic: newTopic(), board: b}
	})
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", b.runsPage)
	mux.HandleFunc("GET /events", b.runsEvents)
	mux.HandleFunc("GET /p/{key}/{$}", b.projectPage)
	mux.HandleFunc("GET /p/{key}/r/{run}", b.runPage)
	mux.HandleFunc("GET /p/{key}/r/{run}/events", b.runEvents)
	mux.HandleFunc("GET /p/{key}/r/{run}/report", b.reportPage)
	mux.HandleFunc("GET /p/{key}/r/{run}/i/{n}", b.iterationPage)
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
