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
type NumberedFolder[T any] struct {
	Dir     string
	Letter  string // begins each id: "q" for q1, q2, ...
	Kind    string // "question", for errors
	Kept    int    // records; Add removes the oldest of those beyond, if they are settled
	Settled func(T) bool
	Read    func(id string, record *T) // completes a record that was read, and makes its texts inert
}

// List returns the records, the oldest first. It skips files that are none: an agent can write here.
func (f NumberedFolder[T]) List() (all []T, err error) {
	ids, err := f.ids()
	for _, id := range ids {
		if record, err := f.Get(id); err == nil {
			all = append(all, record)
		}
	}
	return all, err
}

// Add stores a new record under the next free id.
func (f NumberedFolder[T]) Add(record func(id string) T) (added T, err error) {
	ids, err := f.ids()
	if err != nil {
		return added, err
	}
	for i := range max(len(ids)-f.Kept, 0) {
		if old, err := f.Get(ids[i]); err == nil && f.Settled(old) {
			_ = f.project().Remove(f.path(ids[i])) // if it fails, the next Add tries again
		}
	}
	last := 0
	if len(ids) > 0 {
		last = f.Number(ids[len(ids)-1])
	}
	id := f.Letter + strconv.Itoa(last+1)
	added = record(id)
	return added, f.Write(id, added)
}

// ids returns the ids of the files in the folder, the lowest first. Other files are left out.
func (f NumberedFolder[T]) ids() (ids []string, err error) {
	entries, err := f.project().ReadDir(f.Dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list %ss: %w", f.Kind, err)
	}
	for _, e := range entries {
		if id, ok := strings.CutSuffix(e.Name(), ext); ok && f.Number(id) > 0 {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, func(a, b string) int { return f.Number(a) - f.Number(b) })
	return ids, nil
}

// Number is the number in an id; 0: it is not an id of this folder.
func (f NumberedFolder[T]) Number(id string) int {
	digits, ok := strings.CutPrefix(id, f.Letter)
	n, err := strconv.Atoi(digits)
	if !ok || err != nil || n < 1 || f.Letter+strconv.Itoa(n) != id {
		return 0
	}
	return n
}

// Get reads a record. Without such a file, the error is fs.ErrNotExist.
func (f NumberedFolder[T]) Get(id string) (record T, err error) {
	data, err := f.project().Read(f.path(id), maxFile)
	if err == nil {
		err = json.Unmarshal(data, &record)
	}
	if err != nil {
		return record, fmt.Errorf("read %s: %w", f.Kind, err)
	}
	f.Read(id, &record)
	return record, nil
}

// Lock keeps other programs from changing a record between its reader's look and its write,
// until the returned function is called. A lock that stays is a program that hangs: after
// patience, the change is made all the same.
func (f NumberedFolder[T]) Lock() (unlock func()) {
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

// Write replaces a record, and makes the folder if it is missing. A link in its place is an error.
func (f NumberedFolder[T]) Write(id string, record T) error {
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

func (f NumberedFolder[T]) project() projectfs.Dir { return Project(filepath.Dir(f.Dir)) }

func (f NumberedFolder[T]) path(id string) string { return filepath.Join(f.Dir, id+ext) }
