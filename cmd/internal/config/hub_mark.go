package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"ralph/state/projectfs"
)

// markEnd is the end of the name of a mark. A mark is a file that a watcher keeps locked until
// it has seen the end of the run, and then removes.
const markEnd = ".watched"

// MarkWatched marks a run as watched. It also returns the runs whose watchers died before they saw the end.
func MarkWatched(hubDir, run string) (mark *os.File, missed []string, err error) {
	project := projectfs.Above(hubDir)
	entries, err := project.ReadDir(hubDir)
	if err != nil {
		return nil, nil, fmt.Errorf("find runs that nobody watches: %w", err)
	}
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), markEnd); ok && name != run {
			missed = append(missed, name)
		}
	}
	mark, err = project.OpenFile(filepath.Join(hubDir, run+markEnd), os.O_RDONLY|os.O_CREATE, 0o600)
	if err == nil {
		_ = syscall.Flock(int(mark.Fd()), syscall.LOCK_SH|syscall.LOCK_NB) // several watchers can share it
	}
	if err != nil {
		return nil, nil, fmt.Errorf("mark the run as watched: %w", err)
	}
	return mark, missed, nil
}

// UnmarkWatched says that the end of the run was seen.
func UnmarkWatched(hubDir, run string) {
	_ = projectfs.Above(hubDir).Remove(filepath.Join(hubDir, run+markEnd))
}

// Unwatched reports whether the watcher of a run was killed before it saw the end.
func Unwatched(hubDir, run string) bool {
	mark, err := projectfs.Above(hubDir).Open(filepath.Join(hubDir, run+markEnd))
	if err != nil {
		return false
	}
	defer mark.Close()
	return syscall.Flock(int(mark.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}
