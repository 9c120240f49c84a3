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
	bound  time.Duration // how long it may take to end
	ending atomic.Bool
}

// endBound is how long a command may take to end after its grace, with what runs after it.
const endBound = 20 * time.Second

func begin(bound time.Duration) (w *work, done func()) {
	w = &work{began: time.Now(), bound: bound}
	works.Store(w, true)
	return w, func() { works.Delete(w) }
}

// Working lets Busy know of other work that ends within a bound, such as a git command, until done is called.
func Working(bound time.Duration) (done func()) {
	w, done := begin(bound)
	w.ending.Store(true)
	return done
}

// Busy reports whether a command is still ending, or was started after the process was asked to end.
func Busy(asked time.Time) (busy bool) {
	works.Range(func(key, _ any) bool {
		w := key.(*work)
		since := asked
		if w.began.After(asked) {
			since = w.began
		}
		busy = (since != asked || w.ending.Load()) && time.Since(since) < w.bound
		return !busy
	})
	return busy
}
