package fleet

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"ralph/cmd/internal/cmdline"
)

const (
	lookAround = 500 * time.Millisecond // of a server that yields
	lockTry    = 20 * time.Millisecond
	lockWait   = time.Second      // servers that yield look at the lock for a moment
	yieldWait  = 10 * time.Second // for the end of one that yields
)

// ErrRuns means that the user has a server already.
var ErrRuns = errors.New("start the server: one of yours runs already on this machine; " +
	"ralph and workers find it by themselves")

// enter makes this process the user's only server until the returned function is called. There are two locks. Whoever
// serves holds "lock". A server that does not yield takes "first" before it: servers that yield see that and leave,
// and their context ends.
func enter(ctx context.Context, dir string, yields bool) (context.Context, func(), error) {
	first, lock := flock.New(filepath.Join(dir, "first")), flock.New(filepath.Join(dir, "lock"))
	free := func() bool {
		ok, err := first.TryRLock()
		return err == nil && ok && first.Unlock() == nil
	}
	if yields {
		if ok, err := lock.TryLock(); !free() || err != nil || !ok {
			_ = lock.Unlock()
			return nil, nil, ErrRuns
		}
		ctx, cancel := context.WithCancel(ctx)
		go func() {
			defer cancel()
			for free() && cmdline.Pause(ctx, lookAround) {
			}
		}()
		return ctx, func() { cancel(); _ = lock.Unlock() }, nil
	}
	if !within(ctx, lockWait, first) || !within(ctx, yieldWait, lock) {
		_ = first.Unlock()
		return nil, nil, ErrRuns
	}
	return ctx, func() { _ = lock.Unlock(); _ = first.Unlock() }, nil
}

// within takes a lock, if it is free soon.
func within(ctx context.Context, wait time.Duration, l *flock.Flock) bool {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	ok, err := l.TryLockContext(ctx, lockTry)
	return err == nil && ok
}
