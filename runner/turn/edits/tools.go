package edits

import (
	"slices"
	"strings"
	"sync"
	"time"

	"ralph/state"
)

// margin is how long before its report a tool may have started.
const margin = 2 * time.Second

// Tools records when an agent's tools run, as it reports them. The zero value is empty. It is safe
// for concurrent use.
type Tools struct {
	mu    sync.Mutex
	open  map[string]use // tools without an answer, by id
	spans []use          // that have ended, of tools that can write
	mute  bool           // the agent does not report when its tools end
	ended time.Time      // when the latest tool did; zero: none has
}

// use is one use of a tool. A zero end: it is still running.
type use struct {
	from, end time.Time
	readOnly  bool // it writes nothing, whatever it is asked
}

// See receives what the agent reports. It returns true if that is about a tool.
func (t *Tools) See(p state.Payload) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch d := p.(type) {
	case state.Tool:
		if t.open == nil {
			t.open = map[string]use{}
		}
		t.mute = t.mute || d.ID == ""
		w := use{from: time.Now().Add(-margin), readOnly: isReadOnly(d.Name)}
		if was, open := t.open[d.ID]; open { // calls without ids share one
			w.from, w.readOnly = was.from, was.readOnly && w.readOnly
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

func (t *Tools) close(id string, w use) {
	delete(t.open, id)
	if w.end = time.Now(); !w.readOnly {
		t.spans = append(t.spans, w)
	}
}

// End ends all open tools: the agent and its processes are gone.
func (t *Tools) End() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for id, w := range t.open {
		t.close(id, w)
	}
}

// CouldWrite reports whether a tool that has ended could write at a time.
func (t *Tools) CouldWrite(at time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.ContainsFunc(t.spans, func(w use) bool { return !at.Before(w.from) && !at.After(w.end) })
}

// idle returns since when no tool has run, zero if none has run yet; false: one may be running.
func (t *Tools) idle() (since time.Time, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.ended, !t.mute && len(t.open) == 0
}

// reported reports whether the agent has said when its tools began and ended.
func (t *Tools) reported() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return !t.mute && !t.ended.IsZero()
}

// isReadOnly is true for tools that never write anything.
func isReadOnly(tool string) bool {
	return slices.Contains([]string{"read", "glob", "grep", "ls", "read_file", "read_many_files", "list_directory",
		"search_file_content", "grep_search", "webfetch", "websearch"}, strings.ToLower(tool))
}
