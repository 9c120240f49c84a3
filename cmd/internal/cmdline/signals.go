package cmdline

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"ralph/ptyexec"
	"ralph/runner/rules"
	"ralph/state"
)

// Signals are the process's signals as a run needs them.
type Signals struct {
	Ctx    context.Context // ends with the first signal; its cause is a *rules.Interrupt
	Kill   chan struct{}   // closed by the second signal
	Size   ptyexec.Size    // of the terminal; zero without one
	Resize chan ptyexec.Size
	Stop   func() // ends the handling
}

// obeyBound is how long a process may do nothing after the first signal before it is ended.
const obeyBound = 1200 * time.Millisecond

// HandleSignals ends a run in an orderly way on the first SIGINT, SIGTERM or
// SIGHUP, and immediately on the second. A closed terminal (SIGHUP, SIGPIPE)
// never ends it silently. If the orderly end hangs, such as in a read from a
// file system that does not answer, the process ends without it.
func HandleSignals(in *os.File) *Signals {
	ctx, cancel := context.WithCancelCause(context.Background())
	s := &Signals{Ctx: ctx, Kill: make(chan struct{}), Resize: make(chan ptyexec.Size, 1), Size: TermSize(in)}
	signal.Ignore(syscall.SIGPIPE)
	ch := make(chan os.Signal, 8)
	signal.Notify(ch, syscall.SIGINT, syscall.SIGTERM, syscall.SIGWINCH)
	if !signal.Ignored(syscall.SIGHUP) { // as under nohup
		signal.Notify(ch, syscall.SIGHUP)
	}
	quit := make(chan struct{})
	go s.loop(ch, quit, cancel, in)
	s.Stop = sync.OnceFunc(func() {
		signal.Stop(ch)
		close(quit)
		cancel(nil)
	})
	return s
}

func (s *Signals) loop(ch <-chan os.Signal, quit <-chan struct{}, cancel context.CancelCauseFunc, in *os.File) {
	ending := 0
	for {
		select {
		case <-quit:
			return
		case sig := <-ch:
			if sig == syscall.SIGWINCH {
				TermSize(in).Offer(s.Resize)
				continue
			}
			switch ending++; ending {
			case 1:
				go obey(sig, time.Now(), quit)
			case 2:
				close(s.Kill)
			}
			cancel(interruptBy(sig))
		}
	}
}

// obey ends the process when it has done nothing for obeyBound: it neither waits for a program that is about to end,
// nor computes.
func obey(sig os.Signal, asked time.Time, quit <-chan struct{}) {
	const pause, little = 100 * time.Millisecond, 50 * time.Millisecond
	for last, used := asked, cpuTime(); time.Since(last) < obeyBound; {
		select {
		case <-quit:
			return
		case <-time.After(pause):
		}
		if now := cpuTime(); ptyexec.Busy(asked) || now-used > little {
			last, used = time.Now(), now
		}
	}
	// The terminal may be what blocks.
	go fmt.Fprintf(os.Stderr, "\nralph: ended by %v without an orderly end: a file or the terminal does not answer\n", sig)
	time.Sleep(pause)
	os.Exit(interruptBy(sig).Exit)
}

// Pause waits, and returns false if ctx ends first.
func Pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// cpuTime is what this process has used of the processors.
func cpuTime() time.Duration {
	var used unix.Rusage
	_ = unix.Getrusage(unix.RUSAGE_SELF, &used) // it does not fail
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

func interruptBy(sig os.Signal) *rules.Interrupt {
	i := &rules.Interrupt{Exit: state.ExitTerminated, ExitReason: "interrupted"}
	switch sig {
	case syscall.SIGINT:
		i.Exit, i.Why = state.ExitInterrupted, "SIGINT (Ctrl-C)"
	case syscall.SIGHUP:
		i.Why = "SIGHUP: the terminal was closed"
	default:
		i.Why = "SIGTERM"
	}
	return i
}

// TermSize is the size of the terminal f; zero, the pty's default, without one.
func TermSize(f *os.File) ptyexec.Size {
	w, h, err := term.GetSize(int(f.Fd()))
	if err != nil || w <= 0 || h <= 0 {
		return ptyexec.Size{}
	}
	return ptyexec.Size{Rows: uint16(h), Cols: uint16(w)}
}
