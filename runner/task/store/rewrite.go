package store

// This file changes files of a plan: under the lock that all writers in ralph take, each file
// atomically, and never over what somebody else has written meanwhile.

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"ralph/state/projectfs"
)

// ErrChanged is the error if a file has changed since it was read.
var ErrChanged = errors.New("the plan keeps changing; try again")

const (
	// MaxTries limits how often a change is tried because somebody else keeps writing.
	MaxTries = 100
	// lockWait limits how long to wait for another writer.
	lockWait = 10 * time.Second
)

// LockPlan keeps other writers in ralph away from the plan at path, which must not be a symbolic link. The lock is on the
// folder, so it leaves no file.
func LockPlan(path string) (unlock func(), err error) {
	dir, err := os.OpenFile(filepath.Dir(path), os.O_RDONLY|syscall.O_DIRECTORY, 0) // file: only to lock the folder
	if err != nil {
		return nil, fmt.Errorf("lock plan: %w", err)
	}
	// The kernel queues blocked waiters. A caller that polls may never get the lock.
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
		return func() { _ = dir.Close() }, nil // it is only a lock
	case <-time.After(lockWait):
		go func() {
			err := <-got // give the lock up if it comes later
			_ = errors.Join(err, dir.Close())
		}()
		return nil, fmt.Errorf("lock plan: another ralph has held the lock of %s for %v", filepath.Dir(path), lockWait)
	}
}

// replaceFile writes a file that still has its old content; see ErrChanged.
func replaceFile(in projectfs.Dir, path string, old, text []byte) error {
	file, err := in.Replace(path, 0o644)
	if err == nil {
		defer file.Discard() // does nothing after the rename
		_, err = file.Write(text)
		err = errors.Join(err, file.KeepMode())
	}
	if err != nil {
		return fmt.Errorf("write plan: %w", err)
	}
	if now, err := in.Read(path, MaxSize); err != nil || !bytes.Equal(now, old) {
		return ErrChanged
	}
	if err := file.Commit(); err != nil {
		return fmt.Errorf("write plan: %w", err)
	}
	return nil
}

// RewriteFile changes one file of the plan at path. It calls change again whenever somebody
// else has written the file meanwhile.
func RewriteFile(in projectfs.Dir, path, file string, change func(text string) string) error {
	unlock, err := LockPlan(path)
	if err != nil {
		return err
	}
	defer unlock()
	for range MaxTries {
		old, err := in.Read(file, MaxSize)
		if err != nil {
			return fmt.Errorf("change plan: %w", err)
		}
		text := change(string(old))
		if text == string(old) {
			return nil
		}
		if err := replaceFile(in, file, old, []byte(text)); !errors.Is(err, ErrChanged) {
			return err
		}
	}
	return ErrChanged
}
