package board

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"ralph/logs/termtext"
	"ralph/state/view"
)

// Bounds of a stream of updates.
const (
	maxLog     = 200 // lines of the live log that a page keeps
	maxStreams = 300
	patience   = 10 * time.Second // for a client that does not read
	keepAlive  = 15 * time.Second // so that a client notices a dead connection
)

// part is a piece of a page that changes.
type part struct {
	HTML    string `json:"html"`
	ID      string `json:"id"`
	version uint64
	event   []byte // as the stream has it
}

// topic is what the viewers of one page follow. A viewer asks for what is newer than what it
// has, so a slow viewer gets fewer updates and does not delay the others.
type topic struct {
	mu      sync.Mutex
	changed chan struct{} // closed with the next change
	version uint64
	parts   []part
	log     []logLine
	lines   uint64 // ever logged
	viewers int
	used    time.Time // when the last viewer left
}

type logLine struct {
	number uint64
	event  []byte
	line   view.Line
}

func newTopic() *topic { return &topic{changed: make(chan struct{}), used: time.Now()} }

// put replaces parts and adds lines. Unchanged parts are not sent again.
func (t *topic) put(parts []part, lines []view.Line) {
	t.mu.Lock()
	defer t.mu.Unlock()
	before := t.version
	for _, p := range parts {
		t.replace(p)
	}
	for _, l := range lines {
		t.version++
		t.lines++
		t.log = append(t.log, logLine{t.version, event("line", shownLine(l)), l})
	}
	if over := len(t.log) - maxLog; over > 0 {
		t.log = append([]logLine(nil), t.log[over:]...)
	}
	if t.version != before {
		close(t.changed)
		t.changed = make(chan struct{})
	}
}

func (t *topic) replace(p part) {
	i := slices.IndexFunc(t.parts, func(old part) bool { return old.ID == p.ID })
	if i < 0 {
		i, t.parts = len(t.parts), append(t.parts, part{ID: p.ID})
	}
	if t.parts[i].HTML != p.HTML || t.parts[i].version == 0 {
		t.version++
		t.parts[i] = part{ID: p.ID, HTML: p.HTML, version: t.version, event: event("part", p)}
	}
}

// event is one event of the stream.
func event(name string, v any) []byte {
	data, _ := json.Marshal(v) // texts always have a form in JSON
	return fmt.Appendf(nil, "event: %s\ndata: %s\n\n", name, data)
}

// since returns the events after a version, the current version, and a channel that the next change closes.
func (t *topic) since(version uint64) (events []byte, now uint64, changed <-chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var b bytes.Buffer
	for _, p := range t.parts {
		if p.version > version {
			b.Write(p.event)
		}
	}
	if len(t.log) > 0 && version < t.log[0].number && (version == 0 || t.lines > maxLog) {
		b.WriteString("event: clear\ndata: 1\n\n")
	}
	for _, l := range t.log {
		if l.number > version {
			b.Write(l.event)
		}
	}
	return b.Bytes(), t.version, t.changed
}

// enter counts a viewer until leave is called.
func (t *topic) enter() (leave func()) {
	t.mu.Lock()
	t.viewers++
	t.mu.Unlock()
	return func() {
		t.mu.Lock()
		t.viewers--
		t.used = time.Now()
		t.mu.Unlock()
	}
}

// idle is how long there has been no viewer; 0: there is one.
func (t *topic) idle() time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.viewers > 0 {
		return 0
	}
	return time.Since(t.used)
}

// html is a part as it is now; empty: it is not there.
func (t *topic) html(id string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, p := range t.parts {
		if p.ID == id {
			return p.HTML
		}
	}
	return ""
}

// latest are the lines of the log.
func (t *topic) latest() (all []view.Line) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, l := range t.log {
		all = append(all, l.line)
	}
	return all
}

// stream sends a topic until the client leaves or does not read. fill completes the events for it. refresh, if there is
// one, is called once a second.
func stream(w http.ResponseWriter, r *http.Request, t *topic, fill func([]byte) []byte, refresh func()) {
	defer t.enter()()
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no") // a proxy must not buffer events
	out := http.NewResponseController(w)
	send := func(data []byte) bool {
		_ = out.SetWriteDeadline(time.Now().Add(patience)) // without it, the next write shows a dead client
		if _, err := w.Write(data); err != nil {
			return false
		}
		return out.Flush() == nil
	}
	ticker := time.Tick(keepAlive)
	var seconds <-chan time.Time
	if refresh != nil {
		seconds = time.Tick(time.Second)
	}
	if !send([]byte("retry: 2000\n\n")) {
		return
	}
	for version := uint64(0); ; {
		events, now, changed := t.since(version)
		if version = now; len(events) > 0 && !send(fill(events)) {
			return
		}
		select {
		case <-r.Context().Done():
			return
		case <-changed:
		case <-seconds:
			refresh()
		case <-ticker:
			if !send([]byte("event: beat\ndata: 1\n\n")) {
				return
			}
		}
	}
}

// maxColumn is how much of a line of the live log is sent, in cells.
const maxColumn = 500

// row is a line of a log as the page shows it.
type row struct {
	At   string `json:"at,omitempty"`
	Text string `json:"text"`
	Role string `json:"role"`

	Inside []row `json:"-"` // what a tool answered
}

// folded puts the answers of tools under their calls.
func folded(all []row) (top []row) {
	for _, r := range all {
		if last := len(top) - 1; last >= 0 && r.Role == "answer" && top[last].Role == "tool" {
			top[last].Inside = append(top[last].Inside, r)
			continue
		}
		top = append(top, r)
	}
	return top
}

func shownLine(l view.Line) row {
	r := row{Text: l.Text, Role: l.Role.String()}
	if !l.At.IsZero() {
		r.At = l.At.Local().Format(time.TimeOnly)
	}
	if l.Sub {
		r.Text = "  " + r.Text
	}
	r.Text = termtext.Fit(r.Text, maxColumn)
	return r
}
