package state

// This file keeps a folder of numbered JSON files, one for each record, so that several
// programs can change different records at the same time. A name is a letter and a number.

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"ralph/state/projectfs"
)

const (
	ext     = ".json"
	maxFile = 1 << 16 // bytes

	patience = 5 * time.Second
	lockPoll = 2 * time.Millisecond
)

// NumberedFolder holds the records of one kind, in a folder of the state directory.
type NumberedFolder struct {
	Dir    string
	Letter string // begins each id: "q" for q1, q2, ...
	Kind   string // "question", for errors
}

// IDs returns the ids of the files in the folder, the lowest first. Other files are left out.
func (f NumberedFolder) IDs() ([]string, error) {
	entries, err := f.project().ReadDir(f.Dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list %ss: %w", f.Kind, err)
	}
	var ids []string
	for _, e := range entries {
		if id, ok := strings.CutSuffix(e.Name(), ext); ok && f.Number(id) > 0 {
			ids = append(ids, id)
		}
	}
	slices.SortStableFunc(ids, func(a, b string) int { return f.Number(a) - f.Number(b) })
	return ids, nil
}

// Number is the number in an id; 0: it is not an id of this folder.
func (f NumberedFolder) Number(id string) int {
	digits, ok := strings.CutPrefix(id, f.Letter)
	n, err := strconv.Atoi(digits)
	if !ok || err != nil || n < 1 || f.Letter+strconv.Itoa(n) != id {
		return 0
	}
	return n
}

// After is the id that follows an id. After an empty one, it is the first.
func (f NumberedFolder) After(id string) string { return f.Letter + strconv.Itoa(f.Number(id)+1) }

// Read decodes a record. Without such a file, the error is fs.ErrNotExist.
func (f NumberedFolder) Read(id string, record any) error {
	data, err := f.project().Read(f.path(id), maxFile)
	if err == nil {
		err = json.Unmarshal(data, record)
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", f.Kind, err)
	}
	return nil
}

// Lock keeps other programs from changing a record between its reader's look and its write,
// until the returned function is called. A lock that stays is a program that hangs: after
// patience, the change is made all the same.
func (f NumberedFolder) Lock() (unlock func()) {
	l, err := f.project().OpenDir(f.Dir) // the lock of the folder leaves no file
	if err != nil {
		return func() {} // without a folder there is nothing to change
	}
	for begun := time.Now(); time.Since(begun) < patience; time.Sleep(lockPoll) {
		if syscall.Flock(int(l.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
			break
		}
	}
	return func() { _ = l.Close() } // nothing was written to it
}

// Remove removes a record.
func (f NumberedFolder) Remove(id string) error { return f.project().Remove(f.path(id)) }

// Write replaces a record, and makes the folder if it is missing. A link in its place is an error.
func (f NumberedFolder) Write(id string, record any) error {
	data, err := json.MarshalIndent(record, "", "  ")
	if err == nil {
		err = f.project().MkdirAll(f.Dir, 0o700)
	}
	if err == nil {
		err = f.project().Write(f.path(id), append(data, '\n'), 0o600)
	}
	if err != nil {
		return fmt.Errorf("store %s: %w", f.Kind, err)
	}
	return nil
}

func (f NumberedFolder) project() projectfs.Dir { return Project(filepath.Dir(f.Dir)) }

func (f NumberedFolder) path(id string) string { return filepath.Join(f.Dir, id+ext) }
