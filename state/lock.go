package state

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"ralph/state/projectfs"
)

// Owner is who holds the lock.
type Owner struct {
	PID       int       `json:"pid"`
	RunID     string    `json:"run_id"`
	StartedAt time.Time `json:"started_at"`
}

// LockedError says that another runner is alive in this project.
type LockedError struct{ Owner Owner }

func (e *LockedError) Error() string {
	if e.Owner.PID == 0 {
		return "another ralph is starting in this project"
	}
	return fmt.Sprintf("another ralph is running in this project: pid %d, run %s, since %s",
		e.Owner.PID, e.Owner.RunID, e.Owner.StartedAt.Local().Format("2006-01-02 15:04:05"))
}

// Owner returns who wrote the lock last, and whether that runner is alive. Only
// the lock itself decides: another process may have the pid by now, and
// status.json of a killed runner keeps saying "running".
func (r *Reader) Owner() (Owner, bool) {
	owner, err := readOwner(r.in, r.path(fileLock))
	// A released lock is empty. A reader then does not test it, so that it does
	// not get in the way of a starting runner.
	if err != nil || owner.PID <= 0 {
		return owner, false
	}
	l, err := r.in.Open(r.path(fileLock))
	if err != nil {
		return owner, false
	}
	defer l.Close()
	err = syscall.Flock(int(l.Fd()), syscall.LOCK_SH|syscall.LOCK_NB)
	return owner, errors.Is(err, syscall.EWOULDBLOCK)
}

// readOwner reads the lock file. It drops a run id that ralph did not make.
func readOwner(in projectfs.Dir, path string) (Owner, error) {
	owner, err := readJSON(in, path, func(Owner) string { return "" })
	if !isRunID(owner.RunID) {
		owner.RunID = ""
	}
	return owner, err
}

// lockPatience is how long Acquire tries: long enough to outlast a reader that
// tests the lock, far too short for a person to notice.
const lockPatience = 300 * time.Millisecond

// acquireLock takes the exclusive lock and writes the owner into the file.
func acquireLock(in projectfs.Dir, path string, owner Owner) (*os.File, error) {
	if err := in.Clear(path); err != nil {
		return nil, fmt.Errorf("lock project: %w", err)
	}
	l, err := in.OpenFile(path, os.O_CREATE|os.O_RDONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock project: %w", err)
	}
	deadline := time.Now().Add(lockPatience)
	for {
		err := syscall.Flock(int(l.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			break
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			_ = l.Close()
			return nil, fmt.Errorf("lock project: %w", err)
		}
		if time.Now().After(deadline) {
			_ = l.Close()
			other, _ := readOwner(in, path)
			return nil, &LockedError{other}
		}
		time.Sleep(10 * time.Millisecond)
	}
	data, err := json.Marshal(owner)
	if err == nil {
		err = overwrite(in, path, append(data, '\n'))
	}
	if err != nil {
		_ = l.Close()
		return nil, fmt.Errorf("lock project: %w", err)
	}
	return l, nil
}

// overwrite writes a file in place: a rename would leave the lock on an unlinked
// file.
func overwrite(in projectfs.Dir, path string, data []byte) error {
	f, err := in.OpenFile(path, os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}
