package mockllm

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// The kinds of requests in the log.
const (
	Turn  = "turn"  // a model request of the agent's loop: it moves the scenario on
	Side  = "side"  // titles, summaries, warm-ups: answered with a canned text
	Other = "other" // pings, token counts, model lists
)

// Request is one line of the log.
type Request struct {
	Time     time.Time
	Scenario string
	Method   string
	Path     string // without the scenario's prefix
	Kind     string
	Run      int    // of a turn, from 1
	Step     int    // of a turn, from 1
	Fresh    bool   // the turn brought a new prompt
	Prompt   string // of a fresh turn, without what the agent CLI added
	Messages int    // of a turn: the length of the conversation so far
	Model    string
	Answer   string // text, tools, error, limit, stream error, drop or hang
}

// Server is a running mock. All methods are safe for concurrent use.
type Server struct {
	base string
	http *http.Server

	mu      sync.Mutex
	scripts map[string]*script
	log     []Request
	ids     int
}

// New starts a server with these scenarios on a free loopback port.
func New(scenarios map[string]Scenario) (*Server, error) {
	return Listen("127.0.0.1:0", scenarios)
}

// Listen is New with an address, which must be on loopback.
func Listen(addr string, scenarios map[string]Scenario) (*Server, error) {
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("listen on %q: %w", addr, err)
	}
	if tcp, ok := ln.Addr().(*net.TCPAddr); !ok || !tcp.IP.IsLoopback() {
		ln.Close()
		return nil, fmt.Errorf("listen on %q: not a loopback address", addr)
	}
	s := &Server{base: "http://" + ln.Addr().String(), scripts: map[string]*script{}}
	for name, sc := range scenarios {
		if len(sc.Runs) == 0 {
			ln.Close()
			return nil, fmt.Errorf("scenario %q has no runs", name)
		}
		s.scripts[name] = &script{scenario: sc}
	}
	s.http = &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second}
	go s.http.Serve(ln) //nolint:errcheck // ErrServerClosed after Close
	return s, nil
}

// Close ends the server and every connection to it.
func (s *Server) Close() error { return s.http.Close() }

// URL returns the base URL that makes an agent play a scenario.
func (s *Server) URL(scenario string) string { return s.base + "/s/" + scenario }

// Requests returns the log of a scenario so far, oldest first.
func (s *Server) Requests(scenario string) []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	var of []Request
	for _, r := range s.log {
		if r.Scenario == scenario {
			of = append(of, r)
		}
	}
	return of
}

// Turns returns the requests of the agent's loop.
func (s *Server) Turns(scenario string) []Request {
	return slices.DeleteFunc(s.Requests(scenario), func(r Request) bool { return r.Kind != Turn })
}

// Prompts returns the prompts that reached the model, oldest first. A prompt that the
// agent repeats after a failure appears each time.
func (s *Server) Prompts(scenario string) []string {
	var prompts []string
	for _, r := range s.Turns(scenario) {
		if r.Fresh {
			prompts = append(prompts, r.Prompt)
		}
	}
	return prompts
}

// route is one path of a vendor's API.
type route struct {
	suffix string
	serve  func(*exchange) error
}

// routes lists the served paths. The first matching suffix wins.
func routes() []route {
	return []route{
		{"/v1/messages/count_tokens", anthropicCount},
		{"/v1/messages", anthropicMessages},
		{"/v1/chat/completions", openaiChat},
		{"/v1/responses", openaiResponses},
		{":countTokens", geminiCount},
		{":generateContent", geminiGenerate},
		{":streamGenerateContent", geminiGenerate},
		{"/api/internal", ampInternal},
	}
}

// exchange is one request and where its answer goes.
type exchange struct {
	server *Server
	w      http.ResponseWriter
	r      *http.Request
	body   []byte
	entry  Request
	query  query // of a model request
}

// ServeHTTP answers /s/SCENARIO/PATH, and /PATH with a key that names the scenario.
// Other paths get an empty object: agents send pings and reports and expect success.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name, path := keyScenario(r.Header), strings.TrimPrefix(r.URL.Path, "/")
	if rest, ok := strings.CutPrefix(r.URL.Path, "/s/"); ok {
		name, path, _ = strings.Cut(rest, "/")
	}
	x := &exchange{server: s, w: w, r: r}
	x.entry = Request{Time: time.Now(), Scenario: name, Method: r.Method, Path: "/" + path, Kind: Other}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the agent is gone
	}
	x.body = body
	s.mu.Lock()
	_, known := s.scripts[name]
	names := slices.Sorted(maps.Keys(s.scripts))
	s.mu.Unlock()
	if !known {
		http.Error(w, fmt.Sprintf("no scenario %q; there are %q", name, names), http.StatusNotFound)
		return
	}
	for _, rt := range routes() {
		if r.Method == http.MethodPost && strings.HasSuffix(x.entry.Path, rt.suffix) {
			if err := rt.serve(x); err != nil {
				http.Error(w, err.Error(), http.StatusBadRequest)
			}
			return
		}
	}
	s.record(x.entry)
	writeJSON(w, http.StatusOK, map[string]any{})
}

// turn moves the scenario on and logs the request. resetsAt is set with a Limit.
func (x *exchange) turn(fresh bool) (st Step, resetsAt time.Time) {
	s := x.server
	s.mu.Lock()
	x.entry.Kind, x.entry.Fresh = Turn, fresh
	st, x.entry.Run, x.entry.Step, resetsAt = s.scripts[x.entry.Scenario].next(fresh, x.entry.Time)
	s.mu.Unlock()
	x.entry.Answer = st.answer()
	s.record(x.entry)
	return st, resetsAt
}

func (s *Server) record(r Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log = append(s.log, r)
}

// id returns a new identifier with the vendor's prefix.
func (s *Server) id(prefix string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ids++
	return fmt.Sprintf("%s_mock%08d", prefix, s.ids)
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(v) //nolint:errcheck // the agent is gone
}
