package ptyexec

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// supervisor follows one child from its start to the guard's last record.
type supervisor struct {
	Command
	child  *child
	clocks *clocks
	work   *work

	exit     Exit
	err      error
	pid      int       // of the child; 0: not started yet
	ended    bool      // the child has ended
	patience time.Time // when the guard's last record must have come; zero: no deadline
}

// watch returns when the guard has reported that nothing is left, or has itself ended.
func (s *supervisor) watch(ctx context.Context) (Exit, error) {
	s.exit = Exit{Code: -1, Cause: CauseExited, Size: s.Size}
	records := make(chan record)
	go func() {
		defer close(records)
		for {
			r, err := readRecord(s.child.report)
			if err != nil {
				return
			}
			records <- r
			if r.last() {
				return
			}
		}
	}()
	changed := make(chan os.Signal, 1) // a child of this process has ended or was stopped
	signal.Notify(changed, syscall.SIGCHLD)
	defer signal.Stop(changed)
	cancelled, kill := ctx.Done(), s.Kill
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case r, ok := <-records:
			if !ok {
				return s.exit, errors.Join(s.err, s.guardDied())
			}
			if s.note(r); r.last() {
				return s.exit, s.err
			}
		case <-cancelled:
			cancelled = nil
			s.stop(CauseCancelled, commandTerm)
		case <-kill:
			kill = nil
			s.stop(CauseCancelled, commandKill)
		case size, ok := <-s.Resize:
			if !ok {
				s.Resize = nil
			} else if s.exit.Size = size; s.child.tty {
				_ = resize(s.child.out, size)
			}
		case <-changed:
			if stopped(s.child.guard.Pid) {
				_ = s.child.guard.Signal(syscall.SIGCONT)
			}
		case <-s.clocks.changed:
		case <-timer.C:
		}
		timer.Reset(s.check())
	}
}

// note records a report of the guard.
func (s *supervisor) note(r record) {
	switch r.kind {
	case recordStarted:
		if s.pid = int(r.a); s.Started != nil {
			s.Started(s.pid)
		}
		s.Spare.refill()
	case recordFailed:
		s.err = startError(s.child.path, syscall.Errno(r.a))
	case recordUnconfined:
		s.err = fmt.Errorf("start %q: %w: %w", s.child.name, ErrNotConfined, syscall.Errno(r.a))
	case recordExited:
		s.ended = true
		s.exit.Duration = time.Since(s.clocks.started)
		if status := syscall.WaitStatus(r.a); status.Signaled() {
			s.exit.Signal = status.Signal()
		} else {
			s.exit.Code = status.ExitStatus()
		}
		s.hurry(s.KillGrace)
	case recordEnded:
		s.exit.Leftover = int(r.a)
		if r.b > 0 {
			s.err = fmt.Errorf("end %q: %d of its processes are still there %v after SIGKILL", s.child.name, r.b,
				giveUpAfter)
		}
	}
}

// stop makes the guard end what is left, and records why if the child still lives.
func (s *supervisor) stop(cause Cause, command byte) {
	if !s.ended && s.exit.Cause == CauseExited {
		s.exit.Cause = cause
	}
	grace := s.KillGrace
	if command == commandKill {
		grace = 0
	}
	s.hurry(grace)
	_, _ = s.child.control.Write([]byte{command}) // a dead guard shows as the end of its reports
}

// hurry sets a deadline for the guard, so that a hanging guard does not block Run.
func (s *supervisor) hurry(grace time.Duration) {
	s.work.ending.Store(true)
	if len(s.After) > 0 {
		grace += afterBound + settleBound
	}
	bound := time.Now().Add(grace + giveUpAfter + time.Second)
	if s.patience.IsZero() || bound.Before(s.patience) {
		s.patience = bound
	}
}

// check acts on the clocks that ran out, and returns the time to the next check.
func (s *supervisor) check() time.Duration {
	if s.patience.IsZero() {
		switch cause, left := s.clocks.next(); {
		case cause == "":
			return time.Hour
		case left > 0:
			return left
		case cause == CauseIdle && s.More != nil && s.clocks.extendIdle(s.More):
			return 0
		default:
			s.stop(cause, commandTerm)
		}
	}
	left := time.Until(s.patience)
	if left <= 0 {
		_ = s.child.guard.Kill()
		return time.Hour
	}
	return left
}

// guardDied does what the guard would have done, if somebody has killed it. The kernel has killed the child with it.
//
//nolint:contextcheck,nolintlint // for its callers: the call is over, and so may its context be
func (s *supervisor) guardDied() error {
	_ = s.child.guard.Kill() // its reports may have ended for another reason
	if len(s.After) > 0 {
		_, _ = Run(context.Background(), Command{Args: s.After, Dir: s.Dir, Env: s.Env, Pipe: true, Timeout: afterBound},
			func([]byte) bool { return false })
	}
	o := orphans{leader: s.pid, guard: s.child.guard.Pid, mark: s.child.mark, status: syscall.WaitStatus(syscall.SIGKILL),
		told: map[int]bool{}}
	grace := s.KillGrace
	select {
	case <-s.Kill:
		grace = 0
	default:
	}
	deadline := time.Now().Add(grace)
	left, busy := 0, 0
	for quiet := 0; quiet < 2; time.Sleep(sweepInterval) {
		if left, busy = o.sweep(time.Now().After(deadline)); left+busy == 0 {
			quiet++
		} else if quiet = 0; time.Since(deadline) > giveUpAfter {
			break
		}
	}
	if s.Cover != nil {
		s.Cover.Tidy()
	}
	if !s.ended {
		s.note(record{recordExited, int32(o.status), 0})
	}
	s.exit.Leftover = len(o.told)
	if left > 0 {
		return fmt.Errorf("end %q: its guard was killed, and %d of its processes are still there %v after SIGKILL",
			s.child.name, left, giveUpAfter)
	}
	return nil
}

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

// orphans are the processes that a guard leaves behind when it is killed.
type orphans struct {
	leader int    // the child; 0: unknown
	guard  int    // that was killed
	mark   uint64 // of every process of the command

	status syscall.WaitStatus // of the child
	told   map[int]bool       // those that were asked to end, or killed
}
