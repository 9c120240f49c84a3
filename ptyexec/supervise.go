package ptyexec

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"
)

// verifyBound is how long a broken guard's processes may take to disappear.
const verifyBound = 2 * time.Second

// supervisor follows one child from its start to the guard's last record.
type supervisor struct {
	Command
	child  *child
	clocks *clocks

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

// guardDied ends what it can still find: the child, which on Linux the kernel
// killed with its guard, its group, and its session.
func (s *supervisor) guardDied() error {
	for giveUp := time.Now().Add(verifyBound); s.pid != 0; time.Sleep(5 * time.Millisecond) {
		_ = syscall.Kill(-s.pid, syscall.SIGKILL)
		members, err := sessionMembers(s.pid)
		for _, pid := range members {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		if err != nil || len(members) == 0 || time.Now().After(giveUp) {
			break
		}
	}
	return fmt.Errorf("guard of %q was killed before the end; processes may be left", s.child.name)
}
