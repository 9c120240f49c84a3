package state

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/gofrs/flock"
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
	owner, err := readOwner(r.path(fileLock))
	// A released lock is empty. A reader then does not test it, so that it does
	// not get in the way of a starting runner.
	if err != nil || owner.PID <= 0 {
		return owner, false
	}
	l := flock.New(r.path(fileLock), flock.SetFlag(os.O_RDONLY))
	got, err := l.TryRLock()
	if err != nil {
		return owner, false
	}
	if got {
		_ = l.Close() // reading is all that was wanted
		return owner, false
	}
	return owner, true
}

// readOwner reads the lock file. It drops a run id that ralph did not make.
func readOwner(path string) (Owner, error) {
	owner, err := readJSON(path, func(Owner) string { return "" })
	if !isRunID(owner.RunID) {
		owner.RunID = ""
	}
	return owner, err
}

// lockPatience is how long Acquire tries: long enough to outlast a reader that
// tests the lock, far too short for a person to notice.
const lockPatience = 300 * time.Millisecond

// acquireLock takes the exclusive lock and writes the owner into the file.
func acquireLock(path string, owner Owner) (*flock.Flock, error) {
	if err := clearForeign(path); err != nil {
		return nil, fmt.Errorf("lock project: %w", err)
	}
	l := flock.New(path, flock.SetFlag(os.O_CREATE|os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK),
		flock.SetPermissions(0o600))
	deadline := time.Now().Add(lockPatience)
	for {
		got, err := l.TryLock()
		if err != nil {
			return nil, fmt.Errorf("lock project: %w", err)
		}
		if got {
			break
		}
		if time.Now().After(deadline) {
			other, _ := readOwner(path)
			return nil, &LockedError{other}
		}
		time.Sleep(10 * time.Millisecond)
	}
	data, err := json.Marshal(owner)
	if err == nil {
		err = overwrite(path, append(data, '\n'))
	}
	if err != nil {
		_ = l.Close()
		return nil, fmt.Errorf("lock project: %w", err)
	}
	return l, nil
}

// overwrite writes a file in place: a rename would leave the lock on an unlinked
// file. A link that has taken its place is not followed.
func overwrite(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_TRUNC|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}
