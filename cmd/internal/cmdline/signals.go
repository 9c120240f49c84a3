package cmdline

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"golang.org/x/term"

	"ralph/ptyexec"
	"ralph/runner/rules"
)

// Signals are the process's signals as a run needs them.
type Signals struct {
	Ctx    context.Context // ends with the first signal; its cause is a *rules.Interrupt
	Kill   chan struct{}   // closed by the second signal
	Size   ptyexec.Size    // of the terminal; zero without one
	Resize chan ptyexec.Size
	Stop   func() // ends the handling
}

// HandleSignals ends a run in an orderly way on the first SIGINT, SIGTERM or
// SIGHUP, and immediately on the second. A closed terminal (SIGHUP, SIGPIPE)
// never ends it silently.
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
			ending++
			if ending == 2 {
				close(s.Kill)
			}
			cancel(interruptBy(sig))
		}
	}
}

func interruptBy(sig os.Signal) *rules.Interrupt {
	i := &rules.Interrupt{Exit: rules.ExitTerminated, ExitReason: "interrupted"}
	switch sig {
	case syscall.SIGINT:
		i.Exit, i.Why = rules.ExitInterrupted, "SIGINT (Ctrl-C)"
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
