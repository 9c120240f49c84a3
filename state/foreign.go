package state

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// An agent can replace any file that it can write to: with a link that leads out of
// the project, a pipe that nobody writes to, or a device that never ends.

// ReadFile reads a file of the user or the agent. It follows links, but the target
// must be a regular file of at most limit bytes.
func ReadFile(path string, limit int64) ([]byte, error) {
	// Without O_NONBLOCK, opening a pipe without a writer would hang.
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("read %q: not a regular file", path)
	}
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("read %q: larger than %d bytes", path, limit)
	}
	return data, err
}

// realDir creates a folder if it is missing. It refuses a link in its place.
func realDir(path string, mode fs.FileMode) error {
	err := os.MkdirAll(path, mode)
	if isLink(path) {
		err = fmt.Errorf("%q is a symbolic link; ralph keeps its state inside the project", path)
	}
	if err != nil {
		return fmt.Errorf("create state directory: %w", err)
	}
	return nil
}

func isLink(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode()&fs.ModeSymlink != 0
}

// removeLinks removes whatever has replaced the state directory or one of its
// folders since Acquire.
func (w *Writer) removeLinks() (found bool, err error) {
	for _, path := range []string{w.dir, w.path(dirLogs), w.path(dirControl)} {
		info, err := os.Lstat(path)
		if err != nil || info.IsDir() || path == w.dir && w.linked {
			continue // Ensure recreates what is missing
		}
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return true, fmt.Errorf("restore state directory: %w", err)
		}
		found = true
	}
	return found, nil
}

// clearForeign removes anything at path that is not a regular file.
func clearForeign(path string) error {
	info, err := os.Lstat(path)
	if err != nil || info.Mode().IsRegular() {
		return nil
	}
	return os.RemoveAll(path)
}

// plain reports whether a file is regular and has no other hard link.
func plain(info fs.FileInfo) bool {
	sys, ok := info.Sys().(*syscall.Stat_t)
	return info.Mode().IsRegular() && (!ok || sys.Nlink == 1)
}
