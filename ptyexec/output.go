package ptyexec

import (
	"errors"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

const (
	chunkSize = 256 << 10
	// backlogSize bounds what waits for a slow output; there are two buffers.
	backlogSize = 1 << 20
	// A child leaves at most this much in a pty (68 KiB) or a pipe (1 MiB); another
	// process with the other end open may write for ever.
	drainSize = 2 << 20
)

// backlog holds what the child prints while output is busy with earlier bytes. One
// goroutine adds, one drains.
type backlog struct {
	mu      sync.Mutex
	turn    sync.Cond // at most one of the two goroutines waits
	waiting []byte
	closed  bool
}

func newBacklog() *backlog {
	b := &backlog{}
	b.turn.L = &b.mu
	return b
}

// add appends p, after waiting for room.
func (b *backlog) add(p []byte) {
	b.mu.Lock()
	for len(b.waiting) > 0 && len(b.waiting)+len(p) > backlogSize {
		b.turn.Wait()
	}
	b.waiting = append(b.waiting, p...)
	b.mu.Unlock()
	b.turn.Signal()
}

// close marks the end of the output.
func (b *backlog) close() {
	b.mu.Lock()
	b.closed = true
	b.mu.Unlock()
	b.turn.Signal()
}

// drain passes what was added to output, in order, until close.
func (b *backlog) drain(output func(p []byte)) {
	var taken []byte
	for {
		b.mu.Lock()
		for len(b.waiting) == 0 && !b.closed {
			b.turn.Wait()
		}
		b.waiting, taken = taken[:0], b.waiting
		b.mu.Unlock()
		b.turn.Signal()
		if len(taken) == 0 {
			return
		}
		output(taken)
	}
}

// readAll reads f to its end (EIO for the master of a pty), or until its read
// deadline and then whatever is there without blocking.
func readAll(f *os.File, sink func(p []byte)) {
	conn, err := f.SyscallConn()
	if err != nil {
		return
	}
	buf := make([]byte, chunkSize)
	for ended := false; !ended; {
		var n int
		err := conn.Read(func(fd uintptr) bool {
			n, ended = readReady(int(fd), buf)
			return n > 0 || ended
		})
		if n > 0 {
			sink(buf[:n])
		}
		if err != nil {
			break
		}
	}
	// After the deadline File reads nothing more; the descriptor does.
	_ = conn.Control(func(fd uintptr) {
		for total := 0; total < drainSize; {
			n, _ := readReady(int(fd), buf)
			if n == 0 {
				return
			}
			sink(buf[:n])
			total += n
		}
	})
}

// readReady fills buf with what can be read from fd without blocking. A pty returns
// 4 KiB a call; passing on each of them alone would cost more than reading it. If ended
// is true, nothing comes after these n bytes.
func readReady(fd int, buf []byte) (n int, ended bool) {
	for n < len(buf) {
		m, err := unix.Read(fd, buf[n:])
		switch {
		case m > 0:
			n += m
		case errors.Is(err, unix.EINTR):
		default:
			return n, !errors.Is(err, unix.EAGAIN)
		}
	}
	return n, false
}
