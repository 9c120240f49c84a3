package state

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// RunLogs is the folder that holds the prompts and the raw output of one run.
// Whoever works for the run may write there; it needs no lock.
type RunLogs struct{ Dir string }

// SavePrompt keeps the exact prompt of an iteration beside its raw output.
func (l RunLogs) SavePrompt(iteration int, text string) error {
	_, err := l.Keep(strconv.Itoa(iteration)+".prompt.md", text)
	return err // no sync: only people read it
}

// OpenRaw opens the file that takes what the agent prints in one iteration. A retry of the iteration appends.
func (l RunLogs) OpenRaw(iteration int) (*os.File, error) {
	f, err := l.open(strconv.Itoa(iteration)+".raw", os.O_APPEND)
	if err != nil {
		return nil, fmt.Errorf("keep raw output: %w", err)
	}
	return f, nil
}

// Keep keeps a text under a name, in place of an earlier one, and returns its path.
func (l RunLogs) Keep(name, text string) (path string, err error) {
	f, err := l.open(name, os.O_TRUNC)
	if err != nil {
		return "", fmt.Errorf("keep %s: %w", name, err)
	}
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Close()); err != nil {
		return "", fmt.Errorf("keep %s: %w", name, err)
	}
	return filepath.Join(l.Dir, name), nil
}

// open opens a file for writing. An agent can guess its name, and those of the folders below the
// state directory: a link there is removed first, and so is anything that is not a plain file with
// this name alone.
func (l RunLogs) open(name string, flags int) (*os.File, error) {
	top := filepath.Dir(l.Dir)
	if filepath.Base(top) == dirLogs {
		top = filepath.Dir(top)
	}
	if err := os.MkdirAll(top, 0o755); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(top)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	at := ""
	for _, folder := range strings.Split(strings.TrimPrefix(l.Dir, top+"/"), "/") {
		at = filepath.Join(at, folder)
		if info, err := root.Lstat(at); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			if err := root.Remove(at); err != nil {
				return nil, err
			}
		}
	}
	if err := root.MkdirAll(at, 0o700); err != nil {
		return nil, err
	}
	at = filepath.Join(at, name)
	if info, err := root.Lstat(at); err == nil && !plain(info) {
		if err := root.RemoveAll(at); err != nil {
			return nil, err
		}
	}
	return root.OpenFile(at, os.O_CREATE|os.O_WRONLY|syscall.O_NOFOLLOW|flags, 0o600)
}
