package store

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"ralph/runner/task"
)

// recordsKept bounds the file of edits, in bytes: what is older than the newest half goes.
const recordsKept = 1 << 20

// Edit is one change by a person. Before is nil for a new task.
type Edit struct {
	At     time.Time  `json:"at"`
	Before *task.Task `json:"before,omitempty"`
	After  *task.Task `json:"after,omitempty"`
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
	unlock, err := lock(path)
	if err != nil {
		return err
	}
	defer unlock()
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

// Recorded are the edits since a moment, each as the plan before and after it. A file that
// cannot be read has none.
func Recorded(path string, since time.Time) (all []struct{ Before, After Plan }) {
	data, err := read(path)
	if err != nil {
		return nil
	}
	of := func(t *task.Task) Plan {
		if t == nil {
			return Of(task.List{})
		}
		return Of(task.List{Tasks: []task.Task{*t}})
	}
	for line := range bytes.Lines(data) {
		var e Edit
		if json.Unmarshal(line, &e) == nil && e.At.After(since) {
			all = append(all, struct{ Before, After Plan }{of(e.Before), of(e.After)})
		}
	}
	return all
}
