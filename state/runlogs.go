package state

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// RunLogs is the folder that holds the prompts and the raw output of one run.
// Whoever works for the run may write there; it needs no lock.
type RunLogs struct{ Dir string }

// SavePrompt keeps the exact prompt of an iteration beside its raw output.
func (l RunLogs) SavePrompt(iteration int, text string) error {
	f, err := l.open(strconv.Itoa(iteration)+".prompt.md", os.O_TRUNC)
	if err != nil {
		return fmt.Errorf("keep prompt: %w", err)
	}
	// Written once and read by people only: not worth a sync.
	if _, err = f.WriteString(text); err != nil {
		err = fmt.Errorf("keep prompt: %w", err)
	}
	return errors.Join(err, f.Close())
}

// OpenRaw opens the file that takes what the agent prints in one iteration. A retry of the iteration appends.
func (l RunLogs) OpenRaw(iteration int) (*os.File, error) {
	f, err := l.open(strconv.Itoa(iteration)+".raw", os.O_APPEND)
	if err != nil {
		return nil, fmt.Errorf("keep raw output: %w", err)
	}
	return f, nil
}

// open opens a file for writing. An agent can guess its name, so anything there
// that is not a plain file with this name alone is removed first.
func (l RunLogs) open(name string, flags int) (*os.File, error) {
	if isLink(l.Dir) {
		if err := os.Remove(l.Dir); err != nil {
			return nil, err
		}
	}
	if err := os.MkdirAll(l.Dir, 0o700); err != nil {
		return nil, err
	}
	path := filepath.Join(l.Dir, name)
	if info, err := os.Lstat(path); err == nil && !plain(info) {
		if err := os.RemoveAll(path); err != nil {
			return nil, err
		}
	}
	return os.OpenFile(path, os.O_CREATE|os.O_WRONLY|syscall.O_NOFOLLOW|flags, 0o600)
}
