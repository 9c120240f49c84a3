// Package ptyexec runs one child in a pty (or on a pipe), streams what it
// prints, bounds its life, and leaves nothing of it behind.
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
// The guard makes the end certain. As a process of its own it outlives a runner
// that is killed with -9 (its control pipe ends). It is a sub-reaper: a descendant may
// fork twice, make a session or clear its environment, but once its parent is gone
// it becomes a child of the guard. So "no children left", which the kernel knows,
// means "nothing left".
//
// If the guard is killed, the child dies with it (parent death signal), and the runner
// ends the rest: it is a sub-reaper, too, and knows the processes of each command by
// their mark (orphans_linux.go). Then the child counts as killed. If the guard or the
// runner is stopped, the other one sees to it that the guard continues.
//
// Only Linux has sub-reapers and death signals; elsewhere the guard ends the child's group.
//
// Every end is the same, whatever its cause: TERM to the child's group and to every
// process that the child leaves behind; at most Command.KillGrace later KILL to all
// of them, until none is left.
package ptyexec

import (
	"context"
	"errors"
	"io"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"ralph/ptyexec/confine"
	"ralph/ptyexec/cover"
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

// Command is what to run, and its bounds.
type Command struct {
	Args  []string  // argv; Args[0] without a slash is looked up in the PATH of Env
	Dir   string    // working directory; empty: this process's
	Env   []string  // the child's whole environment (of equal keys the last counts); nil: this process's
	Stdin io.Reader // copied through a pipe, then closed; nil: /dev/null. A child that reads nothing never blocks Run
	Size  Size      // zero: 24x80
	// Resize carries new sizes for the pty; each makes the kernel send SIGWINCH to
	// the pty's foreground group. nil or closed: never.
	Resize <-chan Size
	Pipe   bool // stdout and stderr on one plain pipe instead of a pty

	Timeout     time.Duration // for the child's whole life; 0: none
	IdleTimeout time.Duration // without a byte of output; 0: none
	// More says, after IdleTimeout, how much longer the child may be silent; 0 or less: it is stuck. nil: it always is.
	More       func(silent time.Duration) time.Duration
	FinalGrace time.Duration // how long the child may keep running after its final record; 0: no bound

	KillGrace time.Duration   // from TERM to KILL; 0: 2s
	Kill      <-chan struct{} // closed: KILL now, no grace any more; nil: never

	// After is run by the guard once the child is gone, whatever ended it, even if this
	// process is dead: it ends what the child started elsewhere, such as a container.
	// It has the child's environment and folder, and 10s. nil: nothing is run.
	After []string
	// Cover is what the guard makes before the child starts, and removes once nothing is
	// left of it: the places that a sandbox mounts something on. nil: nothing.
	Cover   *cover.Places
	Started func(pid int) // called with the child's pid once it runs; nil: not called
	// Around is called before the start, and what it returns once nothing is left of the child. Their errors are Run's;
	// after the first one, nothing is started. nil: not called.
	Around func() (after func() error, err error)

	Spare   *Spare          // makes starts in a pty faster; nil: none
	Confine *confine.Limits // what the child may touch; nil: what this process may
}

// Cause is why a child ended.
type Cause string

// The causes. All but CauseExited mean that Run ended the child.
const (
	CauseExited    Cause = "exited"      // by itself, also by a signal that Run did not send
	CauseTimeout   Cause = "timeout"     // Command.Timeout
	CauseIdle      Cause = "idle"        // Command.IdleTimeout
	CauseFinal     Cause = "final-grace" // Command.FinalGrace
	CauseCancelled Cause = "cancelled"   // the context, or Command.Kill
)

// Exit is how a child ended.
type Exit struct {
	Code     int            // the exit code; -1 when ended by a signal, or never started
	Signal   syscall.Signal // that ended it; 0: none
	Cause    Cause          // first reason for its end
	Duration time.Duration  // from the start of Run to the child's own end
	Leftover int            // processes that outlived the child and had to be ended
	Size     Size           // of the terminal at the end, for the next command
}

// Errors of the start; test with errors.Is.
var (
	ErrNotConfined   = errors.New("the sandbox cannot be set up")
	ErrNotFound      = errors.New("program not found")
	ErrNotExecutable = errors.New("program not executable")
)

const defaultKillGrace = 2 * time.Second

// Run starts the command and returns when nothing of it is left.
//
// output gets everything that the child prints, in order, from one goroutine; p is
// valid only during the call. It returns whether the child has printed its final
// record: the first true starts FinalGrace, a false stops it. A slow output slows
// the child down once its pty is full, but never the clocks; the child is not idle meanwhile.
//
// It is not an error if the child fails, is killed, or runs out of time. An error means
// that the command did not start, or that its end is not certain. Init must have
// been called at the start of main. Run returns even if Stdin.Read blocks; it does
// not wait for that Read.
func Run(ctx context.Context, c Command, output func(p []byte) (final bool)) (Exit, error) {
	exit := Exit{Code: -1, Cause: CauseCancelled, Size: c.Size}
	if ctx.Err() != nil {
		return exit, nil
	}
	if c.KillGrace <= 0 {
		c.KillGrace = defaultKillGrace
	}
	if c.Around != nil {
		after, err := c.Around()
		if err != nil {
			exit.Cause = CauseExited
			return exit, err
		}
		c.Around = nil
		exit, err = Run(ctx, c, output)
		return exit, errors.Join(err, after())
	}
	clocks := newClocks(c)
	w, done := begin(c.KillGrace + endBound)
	defer done()
	ch, err := start(c)
	if err != nil {
		exit.Cause = CauseExited
		return exit, err
	}
	delivered := make(chan struct{})
	go func() {
		defer close(delivered)
		readAll(ch.out, func(p []byte) {
			clocks.whileReading(func() { clocks.setFinal(output(p)) })
		})
	}()
	copied := make(chan struct{})
	go func() {
		defer close(copied)
		ch.feed(c.Stdin)
	}()

	s := supervisor{Command: c, child: ch, clocks: clocks, work: w}
	exit, err = s.watch(ctx)

	// No writer of the output is left, or none that counts. All it has printed is
	// readable now, so the reader need not wait.
	_ = ch.out.SetReadDeadline(time.Now())
	<-delivered
	ch.free()
	c.Spare.reap(ch)
	select {
	case <-copied:
	case <-time.After(feedBound):
	}
	return exit, err
}

const (
	chunkSize = 256 << 10
	// A child leaves at most this much in a pty (68 KiB) or a pipe (1 MiB); another
	// process with the other end open may write for ever.
	drainSize = 2 << 20
)

// readAll reads f to its end (EIO for the master of a pty), or until its read
// deadline and then whatever is there without blocking. A pty returns 4 KiB at a time. The goroutine that
// reads them also takes them in: the child fills the pty meanwhile, and waking another goroutine
// for each would cost more than reading them.
func readAll(f *os.File, sink func(p []byte)) {
	buf := make([]byte, chunkSize)
	for {
		n, err := f.Read(buf)
		if n > 0 {
			sink(buf[:n])
		}
		if err != nil {
			break
		}
	}
	conn, err := f.SyscallConn()
	if err != nil {
		return
	}
	// After the deadline File reads nothing more; the descriptor does.
	_ = conn.Control(func(fd uintptr) {
		for total := 0; total < drainSize; {
			n := readReady(int(fd), buf)
			if n == 0 {
				return
			}
			sink(buf[:n])
			total += n
		}
	})
}

// readReady reads what is there without blocking; 0: nothing.
func readReady(fd int, buf []byte) int {
	for {
		n, err := unix.Read(fd, buf)
		if !errors.Is(err, unix.EINTR) {
			return max(n, 0)
		}
	}
}
