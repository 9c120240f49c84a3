package cli

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

// signals turns the process's signals into a context that ends with the reason,
// a channel for the second one, and terminal sizes.
type signals struct {
	ctx    context.Context
	kill   chan struct{}
	size   ptyexec.Size
	resize chan ptyexec.Size
	stop   func()
}

// handleSignals: the first SIGINT, SIGTERM or SIGHUP ends the run in order, the
// second at once. A closed terminal (SIGHUP, SIGPIPE) never ends it silently.
func handleSignals(in *os.File) *signals {
	ctx, cancel := context.WithCancelCause(context.Background())
	s := &signals{ctx: ctx, kill: make(chan struct{}), resize: make(chan ptyexec.Size, 1), size: termSize(in)}
	signal.Ignore(syscall.SIGPIPE)
	ch := make(chan os.Signal, 8)
	signal.Notify(ch, syscall.SIGINT, syscall.SIGTERM, syscall.SIGWINCH)
	if !signal.Ignored(syscall.SIGHUP) { // as under nohup
		signal.Notify(ch, syscall.SIGHUP)
	}
	quit := make(chan struct{})
	go s.loop(ch, quit, cancel, in)
	s.stop = sync.OnceFunc(func() {
		signal.Stop(ch)
		close(quit)
		cancel(nil)
	})
	return s
}

func (s *signals) loop(ch <-chan os.Signal, quit <-chan struct{}, cancel context.CancelCauseFunc, in *os.File) {
	ending := 0
	for {
		select {
		case <-quit:
			return
		case sig := <-ch:
			if sig == syscall.SIGWINCH {
				select {
				case s.resize <- termSize(in):
				default: // the agent has not taken the one before: the next brings the size of then
				}
				continue
			}
			ending++
			if ending == 2 {
				close(s.kill)
			}
			cancel(interruptBy(sig))
		}
	}
}

func interruptBy(sig os.Signal) *rules.Interrupt {
	i := &rules.Interrupt{Exit: rules.ExitTerminated, ExitReason: "interrupted"}
	switch sig {
	case syscall.SIGINT:
		i.Exit, i.Why = rules.ExitInterrupted, "SIGINT"
	case syscall.SIGHUP:
		i.Why = "SIGHUP: the terminal was closed"
	default:
		i.Why = "SIGTERM"
	}
	return i
}

// termSize is zero, the default of the pty, where there is no terminal.
func termSize(f *os.File) ptyexec.Size {
	w, h, err := term.GetSize(int(f.Fd()))
	if err != nil || w <= 0 || h <= 0 {
		return ptyexec.Size{}
	}
	return ptyexec.Size{Rows: uint16(h), Cols: uint16(w)}
}
