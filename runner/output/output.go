// Package output writes what a run shows: status.json, events.jsonl, live.log, and
// the screen of whoever started it.
package output

import (
	"encoding/json"
	"errors"
	"os"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"ralph/logs"
	"ralph/state"
	"ralph/state/view"
)

const (
	eventsMiB, eventsKept = 20, 5
	liveMiB, liveKept     = 10, 3
)

// Output is safe for concurrent use, except for Event.
type Output struct {
	State *state.Writer
	Log   hclog.Logger
	Show  func(state.Event) // gets every event; nil: nobody watches

	events, live *logs.File
	seq          int64
	log          view.Log

	mu sync.Mutex // for what follows
	s  state.Status
}

// Open opens the files of a new Output. Those of an earlier run are rotated, unless this one
// resumes it (empty: a new run): then the numbers of the events continue.
func (o *Output) Open(resumed string) error {
	o.log = view.Log{LineOptions: view.LineOptions{Whole: true}}
	var err error
	if o.events, err = logs.OpenFile(o.State.EventsPath(), eventsMiB, eventsKept); err != nil {
		return err
	}
	if o.live, err = logs.OpenFile(o.State.LiveLogPath(), liveMiB, liveKept); err != nil {
		return err
	}
	if resumed != "" {
		last, err := o.State.LastEvent(resumed)
		o.Lost(err)
		o.seq = last.Seq
		return nil
	}
	if info, statErr := os.Stat(o.State.EventsPath()); statErr == nil && info.Size() > 0 {
		err = o.events.Rotate()
	}
	return err
}

// Status changes status.json in memory; Save or the next beat writes it.
func (o *Output) Status(change func(*state.Status)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	change(&o.s)
}

// Save writes status.json with a fresh timestamp.
func (o *Output) Save() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.s.Timestamp = time.Now()
	return o.State.SaveStatus(o.s)
}

// Event numbers an event, writes it and shows it.
func (o *Output) Event(e state.Event) {
	o.seq++
	e.Seq = o.seq
	if data, err := json.Marshal(e); err == nil {
		_, err = o.events.Write(append(data, '\n'))
		o.Lost(err)
	}
	if text := o.log.Render(e); text != "" { // people read it in a terminal
		_, err := o.live.Write([]byte(text))
		o.Lost(err)
	}
	switch e.Kind {
	case state.KindRunStart, state.KindIterationStart, state.KindIterationEnd:
		o.Flush() // a kill must not hide which iteration it cut off
	}
	if o.Show != nil {
		o.Show(e)
	}
}

// Reopen follows the logs after somebody removed them.
func (o *Output) Reopen() {
	for _, f := range []*logs.File{o.events, o.live} {
		o.Lost(f.Reopen())
	}
}

// Flush writes what is buffered.
func (o *Output) Flush() {
	for _, f := range []*logs.File{o.events, o.live} {
		o.Lost(f.Flush())
	}
}

// Lost logs a failed write: a log that is lost ends no run.
func (o *Output) Lost(err error) {
	if err != nil {
		o.Log.Warn("log lost", logs.KeyError, err)
	}
}

// Close closes the files.
func (o *Output) Close() error { return errors.Join(o.events.Close(), o.live.Close()) }
