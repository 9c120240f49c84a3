package mockllm

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strconv"
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

// send writes one event, without a name if event is empty. It writes nothing once the stream
// has ended. A string is sent unchanged, other data as JSON.
func (s *stream) send(event string, data any) {
	if s.sent > 0 {
		s.cut()
	}
	if s.ended {
		return
	}
	text, raw := data.(string)
	if !raw {
		text = compact(data)
	}
	if event != "" {
		text = "event: " + event + "\ndata: " + text
	} else {
		text = "data: " + text
	}
	_, err := io.WriteString(s.x.w, text+"\n\n")
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

// whole sends an answer that is not streamed.
func (x *exchange) whole(st Step, body map[string]any) {
	s := &stream{x: x, step: st, sent: 1 << 20}
	s.sleep(st.Delay)
	if s.cut(); !s.ended {
		writeJSON(x.w, http.StatusOK, body)
	}
}

// fail sends the error of a step; body is its vendor's form.
func (x *exchange) fail(st Step, body map[string]any) {
	s := &stream{x: x, step: st}
	if s.sleep(st.Delay); s.ended {
		return
	}
	for k, v := range st.Error.Header {
		x.w.Header().Set(k, v)
	}
	writeJSON(x.w, st.Error.Status, body)
}

// compact returns v as JSON. It cannot fail: v is made of strings, numbers and plain maps.
func compact(v any) string {
	b, _ := json.Marshal(v)
	return string(b)
}

// secondsUntil returns the value of a retry-after header.
func secondsUntil(t, now time.Time) string {
	return strconv.Itoa(int(t.Sub(now).Seconds()) + 1)
}

// pieces splits a text into parts as small as those that a model streams.
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
