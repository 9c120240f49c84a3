// Package rewrite changes files of a plan: under the lock that all writers of ralph take, each file at
// once or not at all, and never over what somebody else has written meanwhile.
package rewrite

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/google/renameio/v2"
)

// ErrChanged says that a file is not any more what it was when it was read.
var ErrChanged = errors.New("the plan keeps changing; try again")

const (
	// Tries bounds how often a change begins anew because somebody else has written.
	Tries = 100
	// lockWait is how long another writer may take.
	lockWait = 10 * time.Second
)

// Lock keeps other writers of ralph away from the plan at path, which is not a symbolic link. Nothing is
// left of it: the lock is on the folder.
func Lock(path string) (unlock func(), err error) {
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return nil, fmt.Errorf("lock plan: %w", err)
	}
	// The kernel queues those that wait. Whoever only tries again and again may never get it.
	got := make(chan error, 1)
	go func() {
		for {
			if err := syscall.Flock(int(dir.Fd()), syscall.LOCK_EX); !errors.Is(err, syscall.EINTR) {
				got <- err
				return
			}
		}
	}()
	select {
	case err := <-got:
		if err != nil {
			_ = dir.Close()
			return nil, fmt.Errorf("lock plan: %w", err)
		}
		return func() { _ = dir.Close() }, nil // nothing was written to it
	case <-time.After(lockWait):
		go func() {
			err := <-got // the lock is not wanted any more
			_ = errors.Join(err, dir.Close())
		}()
		return nil, fmt.Errorf("lock plan: another ralph has held the lock of %s for %v", filepath.Dir(path), lockWait)
	}
}

// Replace writes a file that still has its old content; see ErrChanged.
func Replace(path string, old, text []byte) error {
	file, err := renameio.NewPendingFile(path, renameio.WithTempDir(filepath.Dir(path)), renameio.WithExistingPermissions(), renameio.WithPermissions(0o644))
	if err != nil {
		return fmt.Errorf("write plan: %w", err)
	}
	defer func() { _ = file.Cleanup() }() // does nothing after the rename
	if _, err := file.Write(text); err != nil {
		return fmt.Errorf("write plan: %w", err)
	}
	if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, old) {
		return ErrChanged
	}
	if err := file.CloseAtomicallyReplace(); err != nil {
		return fmt.Errorf("write plan: %w", err)
	}
	return nil
}

// File changes one file of the plan at path. change may be called several times: whenever somebody
// else has written the file meanwhile.
func File(path, file string, change func(text string) string) error {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return fmt.Errorf("change plan: %w", err)
	}
	unlock, err := Lock(real)
	if err != nil {
		return err
	}
	defer unlock()
	if file, err = filepath.EvalSymlinks(file); err != nil {
		return fmt.Errorf("change plan: %w", err)
	}
	for range Tries {
		old, err := os.ReadFile(file)
		if err != nil {
			return fmt.Errorf("change plan: %w", err)
		}
		text := change(string(old))
		if text == string(old) {
			return nil
		}
		if err := Replace(file, old, []byte(text)); !errors.Is(err, ErrChanged) {
			return err
		}
	}
	return ErrChanged
}
