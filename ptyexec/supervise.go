package ptyexec

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"
)

// verifyBound is how long the processes of a dead guard may take to end.
const verifyBound = 2 * time.Second

// supervisor follows one child from its start to the guard's last report.
type supervisor struct {
	Command
	child  *child
	clocks *clocks

	exit     Exit
	err      error
	pid      int       // of the child; 0: not started yet
	ended    bool      // the child has ended
	finished bool      // the guard has sent its last report
	deadline time.Time // for the guard's last report; zero: none
}

// watch returns when the guard has ended everything, or has died.
func (s *supervisor) watch(ctx context.Context) (Exit, error) {
	s.exit = Exit{Code: -1, Cause: CauseExited}
	records := make(chan record)
	go func() {
		defer close(records)
		for {
			r, err := readRecord(s.child.report)
			if err != nil {
				return
			}
			records <- r
		}
	}()
	cancelled, kill := ctx.Done(), s.Kill
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case r, ok := <-records:
			if !ok && !s.finished {
				s.err = errors.Join(s.err, s.guardDied())
			}
			if !ok {
				return s.exit, s.err
			}
			s.note(r)
		case <-cancelled:
			cancelled = nil
			s.stop(CauseCancelled, commandTerm)
		case <-kill:
			kill = nil
			s.stop(CauseCancelled, commandKill)
		case size, ok := <-s.Resize:
			if !ok {
				s.Resize = nil
			} else if s.child.tty {
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
	switch r.Kind {
	case recordStarted:
		s.pid = int(r.A)
		s.Spare.refill() // not earlier: it would slow down this start
	case recordFailed:
		s.finished = true
		s.err = startError(s.child.name, syscall.Errno(r.A))
	case recordExited:
		s.ended = true
		s.exit.Duration = time.Since(s.clocks.started)
		if status := syscall.WaitStatus(r.A); status.Signaled() {
			s.exit.Signal = status.Signal()
		} else {
			s.exit.Code = status.ExitStatus()
		}
		s.limit(s.KillGrace)
	case recordEnded:
		s.finished = true
		s.exit.Leftover = int(r.A)
		if r.B > 0 {
			s.err = fmt.Errorf("end %q: %d of its processes are still there %v after SIGKILL", s.child.name, r.B, giveUpAfter)
		}
	}
	if s.finished {
		_ = s.child.guard.Kill() // it is about to exit, unless it is stopped
	}
}

// stop makes the guard end everything, and records the cause if the child still lives.
func (s *supervisor) stop(cause Cause, command byte) {
	if !s.ended && s.exit.Cause == CauseExited {
		s.exit.Cause = cause
	}
	grace := s.KillGrace
	if command == commandKill {
		grace = 0
	}
	s.limit(grace)
	_, _ = s.child.control.Write([]byte{command}) // a dead guard shows as the end of the reports
}

// limit sets the deadline for the guard, so that a hanging guard does not block Run.
func (s *supervisor) limit(grace time.Duration) {
	bound := time.Now().Add(grace + giveUpAfter + time.Second)
	if s.deadline.IsZero() || bound.Before(s.deadline) {
		s.deadline = bound
	}
}

// check stops a child whose time is up, and returns the time to the next check.
func (s *supervisor) check() time.Duration {
	if s.deadline.IsZero() {
		switch cause, left := s.clocks.next(); {
		case cause == "":
			return time.Hour
		case left > 0:
			return left
		default:
			s.stop(cause, commandTerm)
		}
	}
	left := time.Until(s.deadline)
	if left <= 0 {
		_ = s.child.guard.Kill()
		return time.Hour
	}
	return left
}

// guardDied ends the child's group and session. The child itself was killed by the
// kernel on Linux.
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
