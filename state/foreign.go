package state

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"ralph/state/projectfs"
)

// An agent can replace any file that it may write: by a link that leads out of
// the project, a pipe that nobody writes to, or a device that never ends.

// ReadFile reads a file that the user or the agent keeps. Links are followed,
// but what they lead to must be a regular file of at most limit bytes.
func ReadFile(path string, limit int64) ([]byte, error) {
	// A pipe without a writer would hold up the open.
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // file: the user names it
	if errors.Is(err, syscall.ENXIO) {                             // a socket: a sandbox covers what is missing
		return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("read %q: not a regular file", path)
	}
	if err != nil {
		return nil, err
	}
	return projectfs.ReadAll(f, limit)
}

// folders are those of the state directory.
func folders() []string {
	return []string{dirLogs, dirControl, dirReports, dirQuestions, dirNotes, dirHub, dirArchive}
}

// removeForeign removes what was put in the place of the state directory and of its folders since Acquire.
func (w *Writer) removeForeign() (found bool, err error) {
	for _, name := range append([]string{""}, folders()...) {
		path := w.path(name)
		info, err := w.in.Lstat(path)
		if err != nil || info.IsDir() {
			continue // Ensure makes it again
		}
		if err := w.in.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return true, fmt.Errorf("repair state directory: %w", err)
		}
		found = true
	}
	return found, nil
}

// setAside keeps a file under another name.
func (w *Writer) setAside(path string, now time.Time) (name string, err error) {
	to := path + ".corrupt-" + now.Format("20060102T150405.000")
	if err := w.in.Rename(path, to); err != nil {
		return "", fmt.Errorf("set state file aside: %w", err)
	}
	return filepath.Base(to), nil
}

// setForeignAside sets aside what is in the place of a file that ralph keeps. A socket, which a
// sandbox puts where a file is missing, is removed or kept.
func (w *Writer) setForeignAside(now time.Time, keepSockets bool) (aside []error, err error) {
	for _, name := range []string{fileStatus, fileBreaker, fileSession, fileSignals, fileCalls, fileTokens, fileReset,
		fileHistory, fileAnalysis, fileBaseline, fileOwn, UseFile, fileEvents, fileLive, fileGitignore, LessonsFile,
		fileLearnings, fileBranch, dirLogs + "/ralph.log"} {
		path := w.path(filepath.FromSlash(name))
		f, err := w.in.Open(path)
		if err == nil {
			_ = f.Close() // it was only looked at
		}
		switch refused := (*projectfs.RefusedError)(nil); {
		case !errors.As(err, &refused):
		case projectfs.Refused(err) == nil && keepSockets:
		case projectfs.Refused(err) == nil:
			if err := w.remove(name); err != nil {
				return aside, err
			}
		default:
			kept, err := w.setAside(path, now)
			if errors.Is(err, fs.ErrNotExist) {
				continue // a write has just replaced it
			}
			if err != nil {
				return aside, err
			}
			aside = append(aside, fmt.Errorf("%w; kept as %q", refused, kept))
		}
	}
	return aside, nil
}
