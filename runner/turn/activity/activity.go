// Package activity tells whether an agent that prints nothing still works: it
// waits for a tool, or files of its workspace change.
package activity

import (
	"io/fs"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"ralph/ptyexec"
	"ralph/state"
)

const (
	// ToolFactor is how much longer a call may be silent while a tool call is open:
	// a build or a test may take that long.
	ToolFactor = 3
	// mostFiles bounds the look at the workspace, so that it takes a second at most.
	mostFiles = 200_000
)

// Watch follows one agent call. It is safe for concurrent use.
type Watch struct {
	Dir  string        // the workspace
	Idle time.Duration // silence after which a call without any activity is stuck

	mu   sync.Mutex
	open map[string]bool // ids of tool calls without an answer
}

// Follow makes cmd ask for the agent's activity in dir, and returns a function that
// listens for it and hands everything on.
func Follow(cmd *ptyexec.Command, dir string, listen func(state.Payload)) func(state.Payload) {
	w := &Watch{Dir: dir, Idle: cmd.IdleTimeout}
	cmd.More = w.More
	return func(p state.Payload) { w.See(p); listen(p) }
}

// See takes what the agent reports.
func (w *Watch) See(p state.Payload) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch d := p.(type) {
	case state.Tool:
		if w.open == nil {
			w.open = map[string]bool{}
		}
		w.open[d.ID] = true
	case state.ToolResult:
		if delete(w.open, d.Tool.ID); d.Tool.ID == "" {
			clear(w.open)
		}
	case state.Text, state.FinalMessage: // not every agent reports what its tools answered
		clear(w.open)
	}
}

// More is how much longer an agent may be silent that has been so for this time.
// Zero or less: it is stuck.
func (w *Watch) More(silent time.Duration) time.Duration {
	w.mu.Lock()
	busy := len(w.open) > 0
	w.mu.Unlock()
	if more := ToolFactor*w.Idle - silent; busy && more > 0 {
		return more
	}
	now := time.Now()
	changed := newest(w.Dir, now.Add(-w.Idle))
	return min(changed.Sub(now)+w.Idle, w.Idle)
}

// newest returns when a file below dir last changed. It stops at the first time after since.
// What ralph and git keep for themselves does not count, and neither does what
// package managers install.
func newest(dir string, since time.Time) time.Time {
	skipped := []string{".git", ".ralph", "node_modules"}
	var latest time.Time
	files := 0
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if files++; files > mostFiles || latest.After(since) {
			return fs.SkipAll
		}
		if err != nil {
			return nil // it may have just been removed
		}
		if d.IsDir() && slices.Contains(skipped, d.Name()) {
			return fs.SkipDir
		}
		if info, err := d.Info(); err == nil && info.ModTime().After(latest) {
			latest = info.ModTime()
		}
		return nil
	})
	return latest
}

// shownMost is the text of one call after which narration and tool results
// go only into its raw output: the logs rotate, and would keep none of it.
const shownMost = 32 << 20

// Flood returns a function that hides the secrets of what a call reports, then keeps and
// shows it. What is beyond what is shown is only kept.
func Flood(hide func(state.Payload) state.Payload, show, keep func(state.Payload)) func(state.Payload) {
	shown := 0
	return func(p state.Payload) {
		n, bulk := 0, false
		switch d := p.(type) {
		case state.Text:
			n, bulk = len(d.Text), true
		case state.ToolResult:
			n, bulk = len(d.Text), true
		}
		if shown += n; bulk && shown > shownMost {
			keep(p)
			return
		}
		p = hide(p)
		keep(p)
		show(p)
	}
}
