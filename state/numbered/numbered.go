// Package numbered keeps a folder of numbered JSON files, one for each record, so that several
// programs can change different records at the same time. A name is a letter and a number.
package numbered

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gofrs/flock"
	"github.com/google/renameio/v2"

	"ralph/state"
)

const (
	ext     = ".json"
	maxFile = 1 << 16 // bytes

	patience = 5 * time.Second
	lockPoll = 2 * time.Millisecond
)

// Folder holds the records of one kind.
type Folder struct {
	Dir    string
	Letter string // begins each id: "q" for q1, q2, ...
	Kind   string // "question", for errors
}

// IDs returns the ids of the files in the folder, the lowest first. Other files are left out.
func (f Folder) IDs() ([]string, error) {
	entries, err := os.ReadDir(f.Dir)
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
func (f Folder) Number(id string) int {
	digits, ok := strings.CutPrefix(id, f.Letter)
	n, err := strconv.Atoi(digits)
	if !ok || err != nil || n < 1 || f.Letter+strconv.Itoa(n) != id {
		return 0
	}
	return n
}

// After is the id that follows an id. After an empty one, it is the first.
func (f Folder) After(id string) string { return f.Letter + strconv.Itoa(f.Number(id)+1) }

// Read decodes a record. Without such a file, the error is fs.ErrNotExist.
func (f Folder) Read(id string, record any) error {
	data, err := state.ReadFile(f.path(id), maxFile)
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
func (f Folder) Lock() (unlock func()) {
	l := flock.New(f.Dir, flock.SetFlag(os.O_RDONLY)) // of the folder: it leaves no file
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	_, _ = l.TryLockContext(ctx, lockPoll) // without a folder there is nothing to change
	return func() { _ = l.Close() }        // nothing was written to it
}

// Remove removes a record.
func (f Folder) Remove(id string) error { return os.Remove(f.path(id)) }

// Write replaces a record, and makes the folder if it is missing. A link in its place is an error.
func (f Folder) Write(id string, record any) error {
	data, err := json.MarshalIndent(record, "", "  ")
	if err == nil {
		err = os.MkdirAll(f.Dir, 0o700)
	}
	if info, statErr := os.Lstat(f.Dir); err == nil && (statErr != nil || !info.IsDir()) {
		err = fmt.Errorf("%q is not a folder", f.Dir)
	}
	if err == nil {
		err = renameio.WriteFile(f.path(id), append(data, '\n'), 0o600, renameio.WithTempDir(f.Dir))
	}
	if err != nil {
		return fmt.Errorf("store %s: %w", f.Kind, err)
	}
	return nil
}

func (f Folder) path(id string) string { return filepath.Join(f.Dir, id+ext) }
