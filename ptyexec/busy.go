package ptyexec

import (
	"sync"
	"sync/atomic"
	"time"
)

// works has a *work for each command and each call of Working that is not over.
var works sync.Map

// work is something that this process waits for.
type work struct {
	began  time.Time
	ending atomic.Bool // it ends within a bound
}

// busyBound is how long a work may take to end, with its grace and what runs after it.
const busyBound = 20 * time.Second

func begin() (w *work, done func()) {
	w = &work{began: time.Now()}
	works.Store(w, true)
	return w, func() { works.Delete(w) }
}

// Working lets Busy know of other work that ends within a bound, such as a git command, until done is called.
func Working() (done func()) {
	w, done := begin()
	w.ending.Store(true)
	return done
}

// Busy reports whether this process has good reason to be still here, although it was asked to end at that time: a
// command is being ended, or was started later.
func Busy(asked time.Time) (busy bool) {
	works.Range(func(key, _ any) bool {
		w := key.(*work)
		since := asked
		if w.began.After(asked) {
			since = w.began
		}
		busy = (since != asked || w.ending.Load()) && time.Since(since) < busyBound
		return !busy
	})
	return busy
}
