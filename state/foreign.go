package state

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// An agent can replace any file that it may write: by a link that leads out of
// the project, a pipe that nobody writes to, or a device that never ends.

// ReadFile reads a file that the user or the agent keeps. Links are followed,
// but what they lead to must be a regular file of at most limit bytes.
func ReadFile(path string, limit int64) ([]byte, error) {
	// A pipe without a writer would hold up the open.
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, syscall.ENXIO) { // a socket: a sandbox covers what is missing
		return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
	}
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

// realDir makes a folder where there is none. A link in its place is refused.
func realDir(path string, mode fs.FileMode) error {
	err := os.MkdirAll(path, mode)
	if isLink(path) {
		err = fmt.Errorf("%q is a symbolic link; ralph keeps its state inside of the project", path)
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

// removeLinks removes what was put in the place of the state directory and of
// its folders since Acquire has made them.
func (w *Writer) removeLinks() (found bool, err error) {
	for _, path := range []string{w.dir, w.path(dirLogs), w.path(dirControl)} {
		info, err := os.Lstat(path)
		if err != nil || info.IsDir() || path == w.dir && w.linked {
			continue // Ensure makes it again
		}
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return true, fmt.Errorf("repair state directory: %w", err)
		}
		found = true
	}
	return found, nil
}

// clearForeign removes what is not a plain file from the place of one.
func clearForeign(path string) error {
	info, err := os.Lstat(path)
	if err != nil || info.Mode().IsRegular() {
		return nil
	}
	return os.RemoveAll(path)
}

// plain tells whether a file is regular and has no second name elsewhere.
func plain(info fs.FileInfo) bool {
	sys, ok := info.Sys().(*syscall.Stat_t)
	return info.Mode().IsRegular() && (!ok || sys.Nlink == 1)
}
