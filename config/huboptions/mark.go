package huboptions

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/gofrs/flock"
)

// markEnd is the end of the name of a mark. A mark is a file that a watcher keeps locked until
// it has seen the end of the run, and then removes.
const markEnd = ".watched"

// Mark marks a run as watched. It also returns the runs whose watchers died before they saw the end.
func Mark(hubDir, run string) (mark *flock.Flock, missed []string, err error) {
	entries, err := os.ReadDir(hubDir)
	if err != nil {
		return nil, nil, fmt.Errorf("find runs that nobody watches: %w", err)
	}
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), markEnd); ok && name != run {
			missed = append(missed, name)
		}
	}
	mark = flock.New(filepath.Join(hubDir, run+markEnd))
	if _, err := mark.TryRLock(); err != nil { // several watchers can share it
		return nil, nil, fmt.Errorf("mark the run as watched: %w", err)
	}
	return mark, missed, nil
}

// Unmark says that the end of the run was seen.
func Unmark(hubDir, run string) { _ = os.Remove(filepath.Join(hubDir, run+markEnd)) }

// Unwatched reports whether the watcher of a run was killed before it saw the end.
func Unwatched(hubDir, run string) bool {
	path := filepath.Join(hubDir, run+markEnd)
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return false
	}
	mark := flock.New(path)
	defer mark.Close()
	free, err := mark.TryLock()
	return free && err == nil
}
