package state

// This file records what people write into the state and the settings of a project with ralph's
// commands. The record is where no agent can write. If a sandbox cannot lock these files, ralph tells by
// the record whether a person or an agent has changed them.

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

	"ralph/state/projectfs"
)

const (
	peopleKept    = 1 << 20        // bytes of the record; beyond that, old lines are dropped
	counts        = 25 * time.Hour // age at which a line is old: longer than a call may take
	peopleMaxFile = 16 << 20       // bytes of a file that is recorded
)

// Written is a file that a person wrote. Data is nil when the person removed it.
type Written struct {
	At   time.Time `json:"at"`
	Name string    `json:"name"` // in the project, with slashes
	Data []byte    `json:"data,omitempty"`
	Mode uint32    `json:"mode,omitempty"` // its permissions
}

// PeopleRecordPath is the path of the record, next to the record of edits of the plan; empty: there is none.
func PeopleRecordPath(edits string) string {
	if edits == "" {
		return ""
	}
	return strings.TrimSuffix(edits, ".edits.jsonl") + ".people.jsonl"
}

// RecordPeople adds these files of the project in dir, as they are now, to the record at path. An empty path
// does nothing.
func RecordPeople(path, dir string, names ...string) error {
	if path == "" {
		return nil
	}
	var lines bytes.Buffer
	for _, name := range names {
		in := projectfs.In(dir)
		data, err := in.Read(in.Path(name), peopleMaxFile)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("record %s: %w", name, err)
		}
		w := Written{At: time.Now(), Name: name, Data: data}
		if info, err := in.Lstat(in.Path(name)); err == nil {
			w.Mode = uint32(info.Mode().Perm())
		}
		line, err := json.Marshal(w)
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
	defer func() { _ = lock.Close() }() // only reading was needed
	data, err := os.ReadFile(path)      // file: outside of the project
	if len(data) > peopleKept {
		data = recent(data)
	}
	if err == nil {
		err = os.WriteFile(path, append(data, lines...), 0o600) // file: outside of the project
	}
	if err != nil {
		return fmt.Errorf("record what was written: %w", err)
	}
	return nil
}

// recent returns the lines of a record that may still count.
func recent(data []byte) (left []byte) {
	for line := range bytes.Lines(data) {
		var w struct{ At time.Time }
		if json.Unmarshal(line, &w) == nil && time.Since(w.At) < counts {
			left = append(left, line...)
		}
	}
	return left
}

// PeopleSince returns the latest version of each file that people wrote since a moment.
func PeopleSince(path string, moment time.Time) map[string]Written {
	all := map[string]Written{}
	data, _ := os.ReadFile(path) // file: outside of the project; none, if it cannot be read
	for line := range bytes.Lines(data) {
		var w Written
		if json.Unmarshal(line, &w) == nil && !w.At.Before(moment) {
			all[w.Name] = w
		}
	}
	return all
}
