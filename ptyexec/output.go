package ptyexec

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

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
