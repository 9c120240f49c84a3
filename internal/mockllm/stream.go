package mockllm

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"time"
	"unicode/utf8"
)

// stream writes server-sent events at the pace of a step, and breaks off where
// the step says so.
type stream struct {
	x     *exchange
	step  Step
	sent  int
	ended bool
}

// start waits for the step's delay and writes the headers.
func (x *exchange) start(st Step) *stream {
	s := &stream{x: x, step: st}
	s.sleep(st.Delay)
	if s.cut(); s.ended {
		return s
	}
	h := x.w.Header()
	h.Set("Content-Type", "text/event-stream; charset=utf-8")
	h.Set("Cache-Control", "no-cache")
	x.w.WriteHeader(http.StatusOK)
	return s
}

// send writes one event, or nothing once the stream has ended.
func (s *stream) send(event string, data map[string]any) {
	if s.sent > 0 {
		s.cut()
	}
	if s.ended {
		return
	}
	b, err := json.Marshal(data)
	if err == nil {
		_, err = fmt.Fprintf(s.x.w, "event: %s\ndata: %s\n\n", event, b)
	}
	if err == nil {
		err = http.NewResponseController(s.x.w).Flush()
	}
	if err != nil {
		s.ended = true // the agent is gone
		return
	}
	s.sent++
	s.sleep(s.step.Pace)
}

// cut breaks the connection off, or falls silent until the agent leaves.
func (s *stream) cut() {
	if s.ended || s.step.Cut == nil || s.sent < s.step.Cut.After {
		return
	}
	s.ended = true
	if s.step.Cut.Hang {
		<-s.x.r.Context().Done()
		return
	}
	conn, _, err := http.NewResponseController(s.x.w).Hijack()
	if err != nil {
		return
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		tcp.SetLinger(0) //nolint:errcheck // without it the agent sees an end in place of a reset
	}
	conn.Close()
}

func (s *stream) sleep(d time.Duration) {
	select {
	case <-time.After(d):
	case <-s.x.r.Context().Done():
		s.ended = true
	}
}

// pieces cuts a text as a model streams it.
func pieces(text string) []string {
	const size = 24
	var out []string
	for len(text) > size {
		n := size
		for n < len(text) && !utf8.RuneStart(text[n]) {
			n++
		}
		out, text = append(out, text[:n]), text[n:]
	}
	if text != "" {
		out = append(out, text)
	}
	return out
}
