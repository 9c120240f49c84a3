// Package journal records what people change in a plan, so that no run takes it for the work of
// an agent.
package journal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"ralph/runner/task"
	"ralph/runner/task/store"
	"ralph/runner/turn/edits"
)

// recordsKept bounds the file of edits, in bytes: what is older than the newest half goes.
const recordsKept = 1 << 20

// Edit is one change by a person. Before is nil for a new task.
type Edit struct {
	At     time.Time  `json:"at"`
	Before *task.Task `json:"before,omitempty"`
	After  *task.Task `json:"after,omitempty"`
	Why    string     `json:"why,omitempty"` // the person's reason; empty: none was given
}

// Record appends an edit to a file.
func Record(path string, e Edit) error {
	e.At = time.Now()
	line, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("record edit: %w", err)
	}
	if path == "" {
		return nil // no folder is known for it: the change will pass for an agent's
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("record edit: %w", err)
	}
	file := flock.New(path, flock.SetPermissions(0o600))
	if err := file.Lock(); err != nil {
		return fmt.Errorf("record edit: %w", err)
	}
	defer func() { _ = file.Close() }() // nothing was written to it
	if info, err := os.Stat(path); err == nil && info.Size() > recordsKept {
		data, _ := os.ReadFile(path)
		data = data[len(data)/2:]
		if err := os.WriteFile(path, data[bytes.IndexByte(data, '\n')+1:], 0o600); err != nil {
			return fmt.Errorf("record edit: %w", err)
		}
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("record edit: %w", err)
	}
	if _, err = f.Write(append(line, '\n')); err == nil {
		return f.Close()
	}
	_ = f.Close()
	return fmt.Errorf("record edit: %w", err)
}

// recorded are all edits; none, if the file cannot be read.
func recorded(path string) (all []Edit) {
	data, _ := os.ReadFile(path)
	for line := range bytes.Lines(data) {
		var e Edit
		if json.Unmarshal(line, &e) == nil {
			all = append(all, e)
		}
	}
	return all
}

// Recorded are the edits since a moment, each as the plan before and after it.
func Recorded(path string, since time.Time) (all []edits.Edit[store.Plan]) {
	of := func(t *task.Task) store.Plan {
		if t == nil {
			return store.Of(task.List{})
		}
		return store.Of(task.List{Tasks: []task.Task{*t}})
	}
	for _, e := range recorded(path) {
		if e.At.After(since) {
			all = append(all, edits.Edit[store.Plan]{Before: of(e.Before), After: of(e.After)})
		}
	}
	return all
}

// Reasons are the latest reasons that people gave for blocking tasks, by id.
func Reasons(path string) map[string]string {
	all := map[string]string{}
	for _, e := range recorded(path) {
		if e.After != nil {
			all[e.After.ID] = e.Why
		}
	}
	return all
}
