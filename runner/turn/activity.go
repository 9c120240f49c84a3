package turn

import (
	"io/fs"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"ralph/ptyexec"
	"ralph/runner/agent/ending"
	"ralph/state"
)

const (
	// silentToolFactor is how much longer a call may be silent while a tool call is open:
	// a build or a test may take that long.
	silentToolFactor = 3
	// mostFiles bounds the look at the workspace, so that it takes a second at most.
	mostFiles = 200_000
)

// activity tells whether a silent agent still works: it waits for a tool, or to try its call to the model again, or
// files of its workspace change. It follows one agent call. It is safe for concurrent use.
type activity struct {
	Dir   string        // the workspace
	Idle  time.Duration // silence after which a call without any activity is stuck
	Plain bool          // the agent prints no records, so that its CLI's lines are as its own words

	mu    sync.Mutex
	open  map[string]bool // ids of tool calls without an answer
	again time.Time       // when its CLI tries again, as it has announced; zero: it has not
}

// followActivity makes cmd ask w for the agent's activity, and returns a function that listens for
// it and hands everything on.
func followActivity(cmd *ptyexec.Command, w *activity, listen func(state.Payload)) func(state.Payload) {
	w.Idle, cmd.More = cmd.IdleTimeout, w.More
	return func(p state.Payload) { w.See(p); listen(p) }
}

// See takes what the agent reports.
func (w *activity) See(p state.Payload) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch d := p.(type) {
	case state.Retry:
		w.announced(d.Text)
	case state.AgentError:
		w.said(d.Text)
	case state.Tool:
		w.again = time.Time{}
		if w.open == nil {
			w.open = map[string]bool{}
		}
		w.open[d.ID] = true
	case state.ToolResult:
		if delete(w.open, d.Tool.ID); d.Tool.ID == "" {
			clear(w.open)
		}
	case state.Text: // not every agent reports what its tools answered
		clear(w.open)
		if d.Source == state.FromModel {
			w.again = time.Time{}
		}
		if d.Source == state.FromCLI || w.Plain {
			w.said(d.Text)
		}
	case state.FinalMessage:
		clear(w.open)
	}
}

// said takes a line of the CLI's own, which may announce another try.
func (w *activity) said(line string) {
	if ending.AnnouncesRetry(line) {
		w.announced(line)
	}
}

// mostAnnounced bounds what a notice can ask for: it may be the model's own words.
const mostAnnounced = time.Hour

// announced takes a retry notice, which may say when the CLI tries again.
func (w *activity) announced(notice string) {
	if delay := ending.Delay(notice); delay > 0 {
		w.again = time.Now().Add(min(delay, mostAnnounced))
	}
}

// More is how much longer an agent may be silent that has been so for this time.
// Zero or less: it is stuck.
func (w *activity) More(silent time.Duration) time.Duration {
	w.mu.Lock()
	busy, again := len(w.open) > 0, w.again
	w.mu.Unlock()
	if wait := time.Until(again) + w.Idle; !again.IsZero() && wait > 0 {
		return wait
	}
	if more := silentToolFactor*w.Idle - silent; busy && more > 0 {
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
