// Package follow brings what the state files of a run say, as they change.
package follow

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"github.com/fsnotify/fsnotify"

	"ralph/logs"
	"ralph/logs/termtext"
	"ralph/state"
	"ralph/state/view"
)

const (
	pollPause = 40 * time.Millisecond // between two looks at a busy run
	pollIdle  = time.Second           // between two looks when changes are announced and none is
	pollBlind = time.Second / 4       // where the system announces none
	farBehind = 8 << 20               // bytes of events to come that make a look skip what only fills the log
)

// Follower brings what the state files of a run say as they change: at once
// where the system announces changes, within a second elsewhere. Poll and Wait
// belong to one goroutine; Poke may be called from any.
type Follower struct {
	reader  *state.Reader
	now     func() time.Time
	watcher *fsnotify.Watcher
	kick    chan struct{}
	idle    time.Duration
	due     atomic.Bool // a snapshot may have changed
	tail    *logs.Tail
	read    int64 // bytes that were seen of the events file
	more    bool  // the last look did not reach the end
	begun   bool  // there was a look
	polled  time.Time
	snap    view.Snapshot
	taken   time.Time // when snap was
}

// New follows the run in the project folder dir, which need not hold one yet.
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

// Reader reads the followed state.
func (f *Follower) Reader() *state.Reader { return f.reader }

// More reports whether the last look did not reach the end of what is there.
func (f *Follower) More() bool { return f.more }

// listen drains the watcher, so that a flood of changes is one.
func (f *Follower) listen() {
	events, errs := f.watcher.Events, f.watcher.Errors
	for events != nil || errs != nil {
		select {
		case e, ok := <-events:
			if !ok {
				events = nil
				continue
			}
			switch filepath.Base(e.Name) {
			case filepath.Base(f.reader.EventsPath()), filepath.Base(f.reader.LiveLogPath()):
			default:
				f.due.Store(true)
			}
		case _, ok := <-errs: // an overflow: anything may have changed
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

// watch adds the state directory, which may be new or another one than before.
func (f *Follower) watch() {
	if f.watcher != nil {
		_ = f.watcher.Add(f.reader.Dir())
	}
}

// Close ends the following and its goroutine.
func (f *Follower) Close() {
	if f.watcher != nil {
		_ = f.watcher.Close()
	}
	_ = f.tail.Close()
}

// Wait returns when another look is worth it; false when ctx has ended.
func (f *Follower) Wait(ctx context.Context) bool {
	if f.more {
		return ctx.Err() == nil
	}
	pause := time.NewTimer(pollPause - time.Since(f.polled))
	defer pause.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-pause.C:
	}
	idle := time.NewTimer(f.idle - time.Since(f.polled))
	defer idle.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-f.kick:
	case <-idle.C:
		f.watch()
	}
	return true
}

// Poll takes one look. What cannot be read is named in Problems.
func (f *Follower) Poll() view.Update {
	f.polled = time.Now()
	if f.due.Swap(false) || time.Since(f.taken) >= f.idle {
		f.snap, f.taken = view.Gather(f.reader, f.now()).Keep(f.snap), f.polled
	}
	u := view.Update{Snapshot: f.snap}
	problem := func(err error) {
		if err != nil {
			u.Problems = append(slices.Clone(u.Problems), termtext.Line(err.Error()))
		}
	}
	if !f.begun {
		f.begun = true
		past, err := view.ReadRotated(f.reader)
		u.Past = past
		problem(err)
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

// behind counts size more bytes as read and returns how many are still to come.
func (f *Follower) behind(size int64) int64 {
	f.read += size
	info, err := os.Stat(f.reader.EventsPath())
	if err != nil || info.Size() < f.read {
		f.read = 0 // rotated; too low a count only skips less
		return 0
	}
	return info.Size() - f.read
}
