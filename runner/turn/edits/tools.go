package edits

import (
	"slices"
	"strings"
	"sync"
	"time"

	"ralph/state"
)

// margin is how long before its report a tool may have begun.
const margin = 2 * time.Second

// Tools are the times in which an agent's tools run, as it reports them. The zero value has none. It is safe
// for concurrent use.
type Tools struct {
	mu    sync.Mutex
	open  map[string]work // tools without an answer, by id
	spans []work          // that have ended, of tools that can write
	mute  bool            // the agent does not say when its tools end
	ended time.Time       // when the latest tool did; zero: none has
}

// work is one use of a tool. A zero end: it is not over.
type work struct {
	from, end time.Time
	looks     bool // it writes nothing, whatever it is asked
}

// See takes what the agent reports. It returns true if that is about a tool.
func (t *Tools) See(p state.Payload) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch d := p.(type) {
	case state.Tool:
		if t.open == nil {
			t.open = map[string]work{}
		}
		t.mute = t.mute || d.ID == ""
		w := work{from: time.Now().Add(-margin), looks: looksOnly(d.Name)}
		if was, open := t.open[d.ID]; open { // calls without ids share one
			w.from, w.looks = was.from, was.looks && w.looks
		}
		t.open[d.ID] = w
	case state.ToolResult:
		w, reported := t.open[d.Tool.ID]
		t.mute = t.mute || !reported
		t.ended = time.Now()
		if reported {
			t.close(d.Tool.ID, w)
		}
	default:
		return false
	}
	return true
}

func (t *Tools) close(id string, w work) {
	delete(t.open, id)
	if w.end = time.Now(); !w.looks {
		t.spans = append(t.spans, w)
	}
}

// End says that the agent and its processes are gone: what was open is over.
func (t *Tools) End() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for id, w := range t.open {
		t.close(id, w)
	}
}

// Could reports whether a tool that is over could write at a time.
func (t *Tools) Could(at time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.ContainsFunc(t.spans, func(w work) bool { return !at.Before(w.from) && !at.After(w.end) })
}

// idle is since when no tool runs; false: one may be running, or none has yet.
func (t *Tools) idle() (since time.Time, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.ended, !t.mute && !t.ended.IsZero() && len(t.open) == 0
}

// looksOnly is true for tools that write nothing, whatever they are asked.
func looksOnly(tool string) bool {
	return slices.Contains([]string{"read", "glob", "grep", "ls", "read_file", "read_many_files", "list_directory",
		"search_file_content", "grep_search", "webfetch", "websearch"}, strings.ToLower(tool))
}
