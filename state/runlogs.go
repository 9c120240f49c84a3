package state

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
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

// KeepMore is Keep under a name that is free: the given one, or the same with .2 and so on, up to most.
func (l RunLogs) KeepMore(name, text string, most int) (path string, err error) {
	free := name
	for n := 2; n <= most; n++ {
		if info, err := os.Lstat(filepath.Join(l.Dir, free)); err != nil || !info.Mode().IsRegular() {
			break
		}
		free = fmt.Sprintf("%s.%d", name, n)
	}
	return l.Keep(free, text)
}

// open opens a file for writing. An agent can guess its name, and those of the folders below the
// state directory: what is not a folder there is removed first, and so is anything that is not a plain file with
// this name alone.
func (l RunLogs) open(name string, flags int) (*os.File, error) {
	folders := []string{l.Dir}
	if top := filepath.Dir(l.Dir); filepath.Base(top) == dirLogs {
		folders = []string{top, l.Dir}
	}
	in := Project(filepath.Dir(folders[0]))
	for _, folder := range folders {
		if info, err := in.Lstat(folder); err == nil && !info.IsDir() {
			if err := in.Remove(folder); err != nil {
				return nil, err
			}
		}
	}
	if err := in.MkdirAll(l.Dir, 0o700); err != nil {
		return nil, err
	}
	path := filepath.Join(l.Dir, name)
	if err := in.Clear(path); err != nil {
		return nil, err
	}
	return in.OpenFile(path, os.O_CREATE|os.O_WRONLY|flags, 0o600)
}
