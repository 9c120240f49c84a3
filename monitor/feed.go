package monitor

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"github.com/fsnotify/fsnotify"
	"github.com/tidwall/gjson"

	"ralph/logs"
	"ralph/state"
)

const (
	pollPause = 40 * time.Millisecond // between two looks at a busy run
	pollIdle  = time.Second           // between two looks when changes are announced and none is
	pollBlind = time.Second / 4       // where the system announces none
	farBehind = 8 << 20               // bytes of events to come that make a look skip what only fills the log
)

// feed brings the state files of a run as they change: at once where the
// system announces changes, within a second elsewhere.
type feed struct {
	reader  *state.Reader
	now     func() time.Time
	watcher *fsnotify.Watcher
	kick    chan struct{}
	idle    time.Duration
	due     atomic.Bool // a snapshot may have changed
	tail    *logs.Tail
	read    int64 // bytes that were seen of the events file
	more    bool  // the last look did not reach the end
	polled  time.Time
	snap    Snapshot
	taken   time.Time // when snap was
}

// update is what one look brought: the state, and the events since the look before.
type update struct {
	snap   Snapshot
	events []state.Event
	gap    bool // events in between were left out
}

func newFeed(dir string, now func() time.Time) *feed {
	f := &feed{reader: state.Open(filepath.Join(dir, state.DirName)), now: now, kick: make(chan struct{}, 1), idle: pollBlind}
	f.tail = logs.NewTail(f.reader.EventsPath(), -1)
	if w, err := fsnotify.NewWatcher(); err == nil {
		f.watcher, f.idle = w, pollIdle
		go f.listen()
	}
	f.watch()
	return f
}

// listen drains the watcher, so that a flood of changes is one.
func (f *feed) listen() {
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
		f.poke()
	}
}

func (f *feed) poke() {
	select {
	case f.kick <- struct{}{}:
	default:
	}
}

// watch adds the state directory, which may be new or another one than before.
func (f *feed) watch() {
	if f.watcher != nil {
		_ = f.watcher.Add(f.reader.Dir())
	}
}

func (f *feed) close() {
	if f.watcher != nil {
		_ = f.watcher.Close()
	}
	_ = f.tail.Close()
}

// wait returns when another look is worth it; false when ctx has ended.
func (f *feed) wait(ctx context.Context) bool {
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

// poll takes one look.
func (f *feed) poll() update {
	f.polled = time.Now()
	if f.due.Swap(false) || time.Since(f.taken) >= f.idle {
		f.snap, f.taken = Gather(f.reader, f.now()).keep(f.snap), f.polled
	}
	u := update{snap: f.snap}
	lines, err := f.tail.Poll()
	if err != nil {
		u.snap.Problems = append(slices.Clone(u.snap.Problems), oneLine(err.Error()))
	}
	size := 0
	for _, line := range lines {
		size += len(line) + 1
	}
	f.more = size > 1<<20
	skip := f.behind(int64(size)) > farBehind
	for _, line := range lines {
		if skip && bulky(line) {
			u.gap = true
			continue
		}
		var e state.Event
		if json.Unmarshal(line, &e) == nil && e.Kind != "" {
			u.events = append(u.events, e)
		}
	}
	return u
}

// behind counts size more bytes as read and returns how many are still to come.
func (f *feed) behind(size int64) int64 {
	f.read += size
	info, err := os.Stat(f.reader.EventsPath())
	if err != nil || info.Size() < f.read {
		f.read = 0 // rotated; too low a count only skips less
		return 0
	}
	return info.Size() - f.read
}

// bulky events only fill the log; the other ones also tell how the run goes.
func bulky(line []byte) bool {
	head := line[:min(len(line), 256)]
	return bytes.Contains(head, []byte(`"kind":"text"`)) || bytes.Contains(head, []byte(`"kind":"tool_result"`))
}

const (
	olderBlock = 256 << 10
	olderBytes = 1 << 20 // of events that one call brings
	olderReach = 64 << 20
)

// older returns the events before t from the file, oldest first: about 1 MiB
// of those that are nearest. None means that there are none within reach.
func older(path string, t time.Time) ([]state.Event, error) {
	var all []state.Event // newest first
	taken := 0
	err := backwards(path, func(line []byte) bool {
		var e state.Event
		if gjson.GetBytes(line, "time").Time().Before(t) && json.Unmarshal(line, &e) == nil && e.Kind != "" {
			all = append(all, e)
			taken += len(line)
		}
		return taken < olderBytes
	})
	slices.Reverse(all)
	return all, err
}

// backwards hands over the lines of a file, the last first, until f has had
// enough or nothing more is within reach.
func backwards(path string, f func(line []byte) (more bool)) error {
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("read older events: %w", err)
	}
	defer file.Close()
	at, err := file.Seek(0, io.SeekEnd)
	if err != nil {
		return fmt.Errorf("read older events: %w", err)
	}
	var rest []byte // the beginning of a line whose end was read
	for reach := 0; at > 0 && reach < olderReach; reach += olderBlock {
		n := min(at, olderBlock)
		at -= n
		block := make([]byte, n, int(n)+len(rest))
		if _, err := file.ReadAt(block, at); err != nil {
			return fmt.Errorf("read older events: %w", err)
		}
		block = append(block, rest...)
		lines := bytes.Split(block, []byte("\n"))
		if at > 0 {
			rest, lines = lines[0], lines[1:]
		}
		for _, line := range slices.Backward(lines) {
			if !f(line) {
				return nil
			}
		}
	}
	return nil
}
