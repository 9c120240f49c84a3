package ptyexec

import (
	"sync/atomic"
	"time"
)

// clocks are the three bounds of a child's life. They are safe for concurrent use.
// Times are durations since the start.
type clocks struct {
	total, idle, grace time.Duration

	started     time.Time
	printed     atomic.Int64  // when the latest output came
	reading     atomic.Bool   // the latest output is being read; more may wait behind it
	silentUntil atomic.Int64  // until when the child may be silent
	final       atomic.Int64  // when the final record came; 0: not yet
	changed     chan struct{} // gets a value when final changes
}

func newClocks(c Command) *clocks {
	return &clocks{
		total: c.Timeout, idle: c.IdleTimeout, grace: c.FinalGrace,
		started: time.Now(),
		changed: make(chan struct{}, 1),
	}
}

// whileReading runs read, which takes in what the child has just printed. The child does not count as silent
// until read returns.
func (c *clocks) whileReading(read func()) {
	c.reading.Store(true)
	read()
	c.printed.Store(int64(time.Since(c.started)))
	c.reading.Store(false)
}

// extendIdle asks more how long the child may stay silent. If that is more than zero, it extends the
// idle clock and returns true.
func (c *clocks) extendIdle(more func(silent time.Duration) time.Duration) bool {
	now := time.Since(c.started)
	left := more(now - time.Duration(c.printed.Load()))
	c.silentUntil.Store(int64(now + left))
	return left > 0
}

// setFinal starts the grace if it is not running, or stops it.
func (c *clocks) setFinal(final bool) {
	switch was := c.final.Load(); {
	case final && was == 0:
		c.final.Store(max(1, int64(time.Since(c.started))))
	case !final && was != 0:
		c.final.Store(0)
	default:
		return
	}
	select {
	case c.changed <- struct{}{}:
	default:
	}
}

// next returns the clock that runs out first and the time left on it, zero or less
// once it has run out. The cause is empty if no clock runs.
func (c *clocks) next() (cause Cause, left time.Duration) {
	now := time.Since(c.started)
	earlier := func(name Cause, bound time.Duration, since int64) {
		d := time.Duration(since) + bound - now
		if bound > 0 && (cause == "" || d < left) {
			cause, left = name, d
		}
	}
	earlier(CauseTimeout, c.total, 0)
	printed := int64(now)
	if !c.reading.Load() { // asked first: what has been read is in printed then
		printed = c.printed.Load()
	}
	earlier(CauseIdle, c.idle, max(printed, c.silentUntil.Load()-int64(c.idle)))
	if f := c.final.Load(); f != 0 {
		earlier(CauseFinal, c.grace, f)
	}
	return cause, left
}
