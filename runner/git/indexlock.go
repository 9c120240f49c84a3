package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"ralph/runner/git/command"
)

const (
	lockName  = "index.lock"
	indexDirs = "ralph-index-" // where Commit prepares an index; git ignores them
	wasName   = "was"          // the user's index, as it was copied
	oidName   = "commit"       // the commit that a new index belongs to
	// lockPatience is longer than a commit of another ralph holds the lock.
	lockPatience = 2 * time.Second
)

// ClearLock removes a lock of the index that a killed commit of ralph left, or completes that commit if HEAD has moved
// already. It fails if somebody else holds the lock.
func ClearLock(ctx context.Context, dir string) error {
	root, ok := Root(dir)
	if !ok {
		return nil
	}
	meta := command.MetaDir(root)
	lock := filepath.Join(meta, lockName)
	deadline := time.Now().Add(lockPatience)
	for {
		if _, err := os.Lstat(lock); err != nil {
			return nil // nobody holds it, or git will say what is wrong
		}
		fresh := ownFresh(meta, lock)
		if fresh == "" || time.Now().After(deadline) {
			return fmt.Errorf("another git is running, or was killed: %q exists", lock)
		}
		if free(fresh) {
			return finishMove(ctx, root, fresh, lock)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// Locked returns the lock of the index, empty if there is none. Git commits nothing while it is there.
func Locked(dir string) string {
	root, ok := Root(dir)
	if !ok {
		return ""
	}
	lock := filepath.Join(command.MetaDir(root), lockName)
	if _, err := os.Lstat(lock); err != nil {
		return ""
	}
	return lock
}

// ownFresh returns ralph's new index that the lock is a link to; empty: it is somebody else's.
func ownFresh(meta, lock string) string {
	all, _ := fs.Glob(os.DirFS(meta), indexDirs+"*/index")
	for _, name := range all {
		if fresh := filepath.Join(meta, name); sameFile(fresh, lock) {
			return fresh
		}
	}
	return ""
}

func sameFile(a, b string) bool {
	one, err := os.Lstat(a)
	other, otherErr := os.Lstat(b)
	return err == nil && otherErr == nil && one.Mode().IsRegular() && os.SameFile(one, other)
}

// lockFresh locks a new index while a process that has its file open lives, and records the commit that it belongs to.
func lockFresh(fresh, oid string) (*os.File, error) {
	f, err := os.OpenFile(fresh, os.O_CREATE|os.O_RDONLY|syscall.O_NOFOLLOW, 0o644) // file: in the folder of git
	if err != nil {
		return nil, err
	}
	if err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err == nil {
		err = os.WriteFile(filepath.Join(filepath.Dir(fresh), oidName), []byte(oid), 0o600) // file: in the folder of git
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// free reports whether nobody who locked the file lives.
func free(path string) bool {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0) // file: in the folder of git
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	defer f.Close()
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}

// finishMove gives the user's index the files of a commit that HEAD has reached, or drops the new index.
func finishMove(ctx context.Context, root, fresh, lock string) error {
	oid, _ := os.ReadFile(filepath.Join(filepath.Dir(fresh), oidName)) // file: in the folder of git
	head, err := command.Run(ctx, root, "rev-parse", "-q", "--verify", "HEAD")
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err == nil && len(oid) > 0 && strings.TrimSpace(head) == string(oid) {
		err = os.Rename(lock, filepath.Join(filepath.Dir(lock), "index"))
	} else {
		err = os.Remove(lock)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("clear lock of index: %w", err)
	}
	_ = os.RemoveAll(filepath.Dir(fresh)) // git and ralph ignore a leftover
	return nil
}
