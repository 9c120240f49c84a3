// Package follow reads the state files and events of a run as they change.
package follow

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/fsnotify/fsnotify"

	"ralph/logs"
	"ralph/logs/termtext"
	"ralph/state"
	"ralph/state/projectfs"
	"ralph/state/view"
)

const (
	pollPause = 40 * time.Millisecond // between two polls of a busy run
	pollIdle  = time.Second           // without a change, if the system reports changes
	pollBlind = time.Second / 4       // if it does not
	farBehind = 8 << 20               // unread bytes beyond which Poll skips events that only the log shows
)

// Follower reads a run as it changes: immediately if the system reports file changes,
// else within a quarter of a second. One goroutine calls Poll and Wait; any may call
// Poke.
type Follower struct {
	reader  *state.Reader
	now     func() time.Time
	watcher *fsnotify.Watcher
	kick    chan struct{}
	idle    time.Duration
	due     atomic.Bool // a snapshot may have changed
	tail    *logs.Tail
	read    int64 // bytes of the events file
	more    bool  // the last Poll did not reach the end of the events
	begun   bool  // Poll has been called
	polled  time.Time
	snap    view.Snapshot
	taken   time.Time // when snap was
	past    *past     // what is still to be read of a long log; nil: nothing
}

// past is the part of a long log that was there before the first Poll.
type past struct {
	files []string // still to be read
	at    int64    // offset in the first file
	end   int64    // offset of the end in the last file
}

// pastStep is how much of the past one Poll reads, in bytes.
const pastStep = 32 << 20

// earlyLog is how much of the end of a long log the first Poll shows, in bytes.
const earlyLog = 1 << 20

// New follows the project in dir, which may have no run yet. Close it after use.
func New(dir string, now func() time.Time) *Follower {
	r := state.Open(filepath.Join(dir, state.DirName))
	f := &Follower{reader: r, now: now, kick: make(chan struct{}, 1), idle: pollBlind}
	f.tail = logs.NewTail(r.EventsPath(), -1)
	if w, err := fsnotify.NewWatcher(); err == nil {
		f.watcher, f.idle = w, pollIdle
		go f.listen()
	}
	f.watch()
	return f
}

// Reader returns the reader of the followed state.
func (f *Follower) Reader() *state.Reader { return f.reader }

// More reports whether the last Poll did not reach the end of the events.
func (f *Follower) More() bool { return f.more }

// listen drains the watcher: many changes cause one Poll.
func (f *Follower) listen() {
	events, errs := f.watcher.Events, f.watcher.Errors
	for events != nil || errs != nil {
		select {
		case e, ok := <-events:
			if !ok {
				events = nil
				continue
			}
			switch name := filepath.Base(e.Name); {
			case strings.Contains(name, projectfs.Temporary): // its new name comes next
				continue
			case name != filepath.Base(f.reader.EventsPath()) && name != filepath.Base(f.reader.LiveLogPath()):
				f.due.Store(true)
			}
		case _, ok := <-errs: // after an overflow, anything may have changed
			if !ok {
				errs = nil
				continue
			}
			f.due.Store(true)
		}
		f.Poke()
	}
}

// Poke ends a Wait.
func (f *Follower) Poke() {
	select {
	case f.kick <- struct{}{}:
	default:
	}
}

// watch adds the state directory, which may have been created or replaced.
func (f *Follower) watch() {
	if f.watcher != nil {
		_ = f.watcher.Add(f.reader.Dir())
	}
}

// Close stops following.
func (f *Follower) Close() {
	if f.watcher != nil {
		_ = f.watcher.Close()
	}
	_ = f.tail.Close()
}

// Wait returns true when the next Poll is due, false when ctx has ended.
func (f *Follower) Wait(ctx context.Context) bool {
	if f.more {
		return ctx.Err() == nil
	}
	// The clocks of a screen change with the second.
	select {
	case <-ctx.Done():
		return false
	case <-time.After(time.Until(f.polled.Truncate(f.idle).Add(f.idle))):
		f.watch()
		return true
	case <-f.kick:
	}
	select {
	case <-ctx.Done():
		return false
	case <-time.After(pollPause - time.Since(f.polled)):
	}
	select {
	case <-f.kick: // the next Poll sees that, too
	default:
	}
	return true
}

// Poll reads what changed since the last Poll. Errors are in Problems.
func (f *Follower) Poll() view.Update {
	f.polled = time.Now()
	if f.due.Swap(false) || time.Since(f.taken) >= f.idle*9/10 {
		f.snap, f.taken = view.Gather(f.reader, f.now()).Keep(f.snap), f.polled
	}
	u := view.Update{Snapshot: f.snap}
	problem := func(err error) {
		if err != nil {
			u.Problems = append(slices.Clone(u.Problems), termtext.Line(err.Error()))
		}
	}
	switch {
	case !f.begun:
		f.begun = true
		if problem(f.begin(&u)); f.past != nil {
			return u // keeps the first Poll fast
		}
	case f.past != nil:
		problem(f.readPast(&u))
		return u
	}
	lines, err := f.tail.Poll()
	problem(err)
	size := 0
	for _, line := range lines {
		size += len(line) + 1
	}
	f.more = size > 1<<20
	wanted := state.EventFilter(nil)
	if f.behind(int64(size)) > farBehind {
		wanted = func(k state.Kind) bool {
			folded := view.Folded(k)
			u.Gap = u.Gap || !folded
			return folded
		}
	}
	for _, line := range lines {
		if e, ok := wanted.Decode(line); ok {
			u.Events = append(u.Events, e)
		}
	}
	return u
}

// begin reads the events that are already there. Of a long log, it reads only the end; readPast
// reads the rest.
func (f *Follower) begin(u *view.Update) error {
	files, err := view.RunFiles(f.reader)
	if err != nil {
		return err
	}
	total, last := int64(0), int64(0)
	for _, name := range files {
		last = 0
		if info, err := f.reader.Project().Lstat(name); err == nil {
			last = info.Size()
		}
		total += last
	}
	if total <= farBehind {
		u.Past, err = view.ReadRotated(f.reader)
		return err
	}
	end, err := view.ScanLines(files[len(files)-1], max(last-earlyLog, 0), -1, func(line []byte) bool {
		u.Early = append(u.Early, view.DecodeLine(line)...)
		return true
	})
	f.past, f.more = &past{files: files, end: end}, true
	f.tail, f.read = logs.NewTailFrom(f.reader.EventsPath(), end), end
	return err
}

// readPast reads the next part of the past, without what only fills the log.
func (f *Follower) readPast(u *view.Update) error {
	p := f.past
	to, last := p.at+pastStep, len(p.files) == 1
	if last {
		to = min(to, p.end)
	}
	wanted := state.EventFilter(func(k state.Kind) bool { return k != state.KindText })
	at, err := view.ScanLines(p.files[0], p.at, to, func(line []byte) bool {
		if e, ok := wanted.Decode(line); ok {
			u.Events = append(u.Events, e)
		}
		return true
	})
	switch over := err != nil || at < to; {
	case last && (over || at >= p.end):
		f.past = nil
	case over:
		p.files, at = p.files[1:], 0
	}
	p.at, u.Thin, f.more = at, true, true
	return err
}

// behind adds size to the bytes read and returns how many bytes are unread.
func (f *Follower) behind(size int64) int64 {
	f.read += size
	info, err := f.reader.Project().Lstat(f.reader.EventsPath())
	if err != nil || info.Size() < f.read {
		f.read = 0 // rotated; too low a count only skips less
		return 0
	}
	return info.Size() - f.read
}
