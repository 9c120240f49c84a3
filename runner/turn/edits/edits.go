// Package edits distinguishes what a person changes in a file while an agent works from what the
// agent changes.
//
// An agent writes while one of its tools runs, or while a process that it has started is
// alive. So a change counts as a person's only in a quiet time: no tool is open, none begins within the margin, and
// the agent itself is the only process of its call. And only if the agent reports its tools and their answers: at
// least once in the call, before the change or after it. Every other change counts as the agent's, even in
// doubt. One gap remains: a tool can ask an existing daemon, such as a
// tmux server or cron, to write later.
//
//	start                   tool ---- answer                             tool ---- answer
//	  |   quiet   |--margin--|          |--settle--|   quiet   |--margin--|
package edits

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"ralph/state"
)

const (
	interval = 200 * time.Millisecond
	// settle is the time from a tool's answer to the first look at the processes.
	settle = 300 * time.Millisecond
)

// Edit is one change by a person.
type Edit[V any] struct{ Before, After V }

// Place says where the agent is. The zero value: it is the command itself.
type Place struct {
	Below int // how many programs of a sandbox run above the agent, each the parent of the next
	// Hidden is true if ralph cannot tell its processes from others, as in a container.
	Hidden bool
}

// Watch follows the files of one value during one agent call. It is safe for concurrent use.
type Watch[V any] struct {
	paths []string
	place Place
	read  func() V
	tools Tools

	mu    sync.Mutex
	pid   int         // of the agent, or the first program around it; 0: not started yet
	quiet time.Time   // since when it has been quiet; zero: it is not
	kin   activity    // as it was then
	seen  stamp       // of value
	value V           // as it was seen last
	fresh []change[V] // in this quiet time, within the margin
	edits []Edit[V]

	stop, stopped chan struct{}
}

type change[V any] struct {
	Edit[V]
	at time.Time
}

// ChangedAt returns when a path last changed: its ctime, which no program can set. If it is gone, the ctime of its
// folder; zero: that is gone, too.
func ChangedAt(path string) (at time.Time, there bool) {
	var st unix.Stat_t
	there = unix.Lstat(path, &st) == nil
	if !there && unix.Lstat(filepath.Dir(path), &st) != nil {
		return at, false
	}
	return time.Unix(st.Ctim.Unix()), there
}

// stamp changes whenever a file does: no program can set a ctime, and a rename changes it, too.
type stamp struct {
	inodes string
	at     time.Time // the latest
}

func stampOf(paths []string) (s stamp) {
	for _, path := range paths {
		var st unix.Stat_t
		if unix.Stat(path, &st) != nil {
			s.inodes += "- "
			continue
		}
		at := time.Unix(st.Ctim.Unix())
		s.inodes += fmt.Sprint(st.Ino, at.UnixNano(), " ")
		if at.After(s.at) {
			s.at = at
		}
	}
	return s
}

// maxPaths limits the cost of a look.
const maxPaths = 500

// Follow watches files, and folders for new ones, until Stop is called; read parses them. It watches
// nothing if there are none, or too many, or if the agent is hidden.
func Follow[V any](paths []string, place Place, read func() V) *Watch[V] {
	w := &Watch[V]{paths: paths, place: place, read: read}
	w.stop, w.stopped = make(chan struct{}), make(chan struct{})
	if len(w.paths) == 0 || len(w.paths) > maxPaths || w.place.Hidden {
		close(w.stopped)
		return w
	}
	w.look()
	go func() {
		defer close(w.stopped)
		ticker := time.Tick(interval)
		for {
			select {
			case <-w.stop:
				return
			case <-ticker:
				w.check()
			}
		}
	}()
	return w
}

// Started sets the pid of the command.
func (w *Watch[V]) Started(pid int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pid = pid
}

// See receives what the agent reports.
func (w *Watch[V]) See(p state.Payload) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.tools.See(p) {
		w.reset()
	}
}

// Listen returns a function that sees what the agent reports and passes it on to next.
func (w *Watch[V]) Listen(next func(state.Payload)) func(state.Payload) {
	return func(p state.Payload) { w.See(p); next(p) }
}

// Stop ends the watch and returns the person's edits, oldest first: none if the agent never reported a whole use of a
// tool, because then it may have written unseen.
func (w *Watch[V]) Stop() []Edit[V] {
	close(w.stop)
	<-w.stopped
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.tools.reported() {
		return nil
	}
	return w.edits
}

// check starts a quiet time, or collects the edits of the current one.
func (w *Watch[V]) check() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if since, idle := w.tools.idle(); !idle || time.Since(since) < settle {
		return
	}
	began := time.Now()
	w.look()
	switch kin, alone := w.alone(); {
	case !alone:
		w.reset()
	case w.quiet.IsZero() || kin != w.kin: // in between, a process came and went
		w.reset()
		w.quiet, w.kin = time.Now(), kin
	default:
		for len(w.fresh) > 0 && began.Sub(w.fresh[0].at) > margin {
			w.edits = append(w.edits, w.fresh[0].Edit)
			w.fresh = w.fresh[1:]
		}
	}
}

// alone reports whether no process of the call but the agent itself could write now.
func (w *Watch[V]) alone() (activity, bool) {
	if w.pid == 0 {
		return "", false
	}
	return activityOf(w.pid, w.place)
}

// look reads the file if it has changed.
func (w *Watch[V]) look() {
	now := stampOf(w.paths)
	if now == w.seen {
		return
	}
	value := w.read()
	if stampOf(w.paths) != now {
		return // somebody is writing it: look again next time
	}
	if !w.quiet.IsZero() && now.at.After(w.quiet) {
		w.fresh = append(w.fresh, change[V]{Edit[V]{w.value, value}, now.at})
	} else {
		w.reset() // the same process could make the next change
	}
	w.seen, w.value = now, value
}

// reset ends a quiet time and drops the edits that are not certain yet.
func (w *Watch[V]) reset() { w.quiet, w.fresh = time.Time{}, nil }

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
