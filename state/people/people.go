// Package people records what people write into the state of a project, where no agent can
// write: a sandbox that cannot lock the state tells their files from an agent's by that.
package people

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"ralph/state"
)

const (
	kept    = 1 << 20 // bytes of the record: what is older than the newest half goes
	maxFile = 1 << 18 // bytes of a file that is recorded
)

// Written is a file that a person wrote. Data is nil when the person removed it.
type Written struct {
	At   time.Time `json:"at"`
	Name string    `json:"name"` // in the state directory, with slashes
	Data []byte    `json:"data,omitempty"`
}

// Beside is the record next to that of edits of the plan; empty: there is no place for it.
func Beside(edits string) string {
	if edits == "" {
		return ""
	}
	return strings.TrimSuffix(edits, ".edits.jsonl") + ".people.jsonl"
}

// Record notes that a person wrote these files in the state directory, as they are now.
func Record(path, dir string, names ...string) error {
	if path == "" {
		return nil
	}
	var lines bytes.Buffer
	for _, name := range names {
		data, err := state.ReadFile(filepath.Join(dir, filepath.FromSlash(name)), maxFile)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("record %s: %w", name, err)
		}
		line, err := json.Marshal(Written{time.Now(), name, data})
		if err != nil {
			return fmt.Errorf("record %s: %w", name, err)
		}
		lines.Write(append(line, '\n'))
	}
	return add(path, lines.Bytes())
}

func add(path string, lines []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("record what was written: %w", err)
	}
	lock := flock.New(path, flock.SetPermissions(0o600))
	if err := lock.Lock(); err != nil {
		return fmt.Errorf("record what was written: %w", err)
	}
	defer func() { _ = lock.Close() }() // nothing was written to it
	data, err := os.ReadFile(path)
	if len(data) > kept {
		data = data[len(data)/2:]
		data = data[bytes.IndexByte(data, '\n')+1:]
	}
	if err == nil {
		err = os.WriteFile(path, append(data, lines...), 0o600)
	}
	if err != nil {
		return fmt.Errorf("record what was written: %w", err)
	}
	return nil
}

// Since returns the latest version of each file that people wrote since a moment.
func Since(path string, moment time.Time) map[string]Written {
	all := map[string]Written{}
	data, _ := os.ReadFile(path) // none, if it cannot be read
	for line := range bytes.Lines(data) {
		var w Written
		if json.Unmarshal(line, &w) == nil && !w.At.Before(moment) {
			all[w.Name] = w
		}
	}
	return all
}
