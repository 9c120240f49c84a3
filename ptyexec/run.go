// Package ptyexec runs one child in a pty (or on a pipe), streams its output, limits
// its run time, and leaves no process behind.
//
//	         control: spec, term, kill                  pty slave = stdout, stderr, controlling terminal
//	       .--------------------------> guard --------> child --------> its descendants
//	Run ---<--------------------------. (this              |                |  also those that made a
//	^ | ^    report: started, exited,    program again)    |                |  session of their own
//	| | |    ended                       ^---- orphans ----+----------------'
//	| | '------- pty master ------- reader -> backlog -> output()
//	| '--------- prompt ----------- pipe = the child's stdin, closed after it
//	'- clocks: total, idle, grace after the final record; ctx; Kill; Resize
//
// The guard makes sure that everything ends. It is a process of its own, so it outlives
// a runner that is killed with -9 (its control pipe ends). If the guard itself is
// killed, the child dies with it (parent death signal). It is a sub-reaper: a
// descendant may fork twice, create a session or clear its environment, but when its
// parent ends it becomes a child of the guard. So when the kernel reports no more
// children, nothing is left. Only Linux has sub-reapers and death signals; elsewhere
// the guard ends the child's process group.
//
// The end is always the same: TERM to the child's group and to every process that the
// child leaves behind; after at most Command.KillGrace, KILL to all of them until none
// is left.
package ptyexec

import (
	"context"
	"errors"
	"io"
	"syscall"
	"time"
)

// Size is a terminal's size in character cells.
type Size struct{ Rows, Cols uint16 }

// Offer puts the size into a channel of capacity 1, in place of one that nobody
// has taken yet. Only one goroutine may offer sizes to a channel.
func (s Size) Offer(sizes chan Size) {
	select {
	case <-sizes:
	default:
	}
	sizes <- s
}

// Command is a program to run, and its limits.
type Command struct {
	Args  []string  // argv; Args[0] without a slash is looked up in the PATH of Env
	Dir   string    // working directory; empty: this process's
	Env   []string  // the child's whole environment (of equal keys the last counts); nil: this process's
	Stdin io.Reader // copied through a pipe, then closed; nil: /dev/null. A child that does not read it never blocks Run
	Size  Size      // zero: 24x80
	// Resize delivers new sizes of the pty. The kernel sends SIGWINCH to its foreground
	// group. nil or closed: never.
	Resize <-chan Size
	Pipe   bool // stdout and stderr on one plain pipe instead of a pty

	Timeout     time.Duration // for the child's whole life; 0: none
	IdleTimeout time.Duration // without a byte of output; 0: none
	FinalGrace  time.Duration // for the child to exit after its final record; 0: no limit

	KillGrace time.Duration   // from TERM to KILL; 0: 2s
	Kill      <-chan struct{} // closed: KILL now, without grace; nil: never

	Spare *Spare // speeds up starts in a pty; nil: none
}

// Cause is why a child ended.
type Cause string

// The causes. All but CauseExited mean that Run ended the child.
const (
	CauseExited    Cause = "exited"      // on its own, or by a signal that Run did not send
	CauseTimeout   Cause = "timeout"     // Command.Timeout
	CauseIdle      Cause = "idle"        // Command.IdleTimeout
	CauseFinal     Cause = "final-grace" // Command.FinalGrace
	CauseCancelled Cause = "cancelled"   // the context, or Command.Kill
)

// Exit is how a child ended.
type Exit struct {
	Code     int            // the exit code; -1: ended by a signal, or never started
	Signal   syscall.Signal // that ended the child; 0: none
	Cause    Cause          // first reason for its end
	Duration time.Duration  // from the start of Run to the child's own end
	Leftover int            // processes that outlived the child and were ended
}

// Errors of the start, for errors.Is.
var (
	ErrNotFound      = errors.New("program not found")
	ErrNotExecutable = errors.New("program not executable")
)

const defaultKillGrace = 2 * time.Second

// Run starts the command and returns when no process of it is left.
//
// One goroutine passes all output of the child to output, in order; p is valid only
// during the call. output returns whether the child has printed its final record: the
// first true starts FinalGrace, false stops it. A slow output slows the child down once
// 2 MiB are pending, but never the clocks.
//
// A child that fails, is killed or runs out of time is not an error. An error means
// that the command did not start, or that processes may be left. Call Init first. Run
// does not wait for a Stdin.Read that blocks.
func Run(ctx context.Context, c Command, output func(p []byte) (final bool)) (Exit, error) {
	exit := Exit{Code: -1, Cause: CauseCancelled}
	if ctx.Err() != nil {
		return exit, nil
	}
	if c.KillGrace <= 0 {
		c.KillGrace = defaultKillGrace
	}
	clocks := newClocks(c)
	ch, err := start(c)
	if err != nil {
		exit.Cause = CauseExited
		return exit, err
	}
	printed := newBacklog()
	delivered := make(chan struct{})
	go func() {
		defer close(delivered)
		printed.drain(func(p []byte) { clocks.setFinal(output(p)) })
	}()
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		defer printed.close()
		readAll(ch.out, func(p []byte) {
			clocks.touch()
			printed.add(p)
		})
	}()
	copied := make(chan struct{})
	go func() {
		defer close(copied)
		ch.feed(c.Stdin)
	}()

	s := supervisor{Command: c, child: ch, clocks: clocks}
	exit, err = s.watch(ctx)

	// No process of the command is left, so all of its output is readable now.
	_ = ch.out.SetReadDeadline(time.Now())
	<-drained
	ch.close()
	<-delivered
	select {
	case <-copied:
	case <-time.After(feedBound):
	}
	return exit, err
}
