//go:build linux

package faults

import (
	"bytes"
	"encoding/binary"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// A step is one thing that happened to a file of the state directory.
type step struct {
	name string
	mask uint32
}

// watchFiles reports what happens in a folder as it happens, until stop.
func watchFiles(t testing.TB, dir string) (steps chan step, stop func()) {
	t.Helper()
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := unix.InotifyAddWatch(fd, dir, unix.IN_CREATE|unix.IN_MODIFY|unix.IN_CLOSE_WRITE|unix.IN_MOVED_TO); err != nil {
		t.Fatal(err)
	}
	f := os.NewFile(uintptr(fd), "inotify")
	steps = make(chan step, 4096)
	go func() {
		defer close(steps)
		buf := make([]byte, 64<<10)
		for {
			n, err := f.Read(buf)
			if err != nil {
				return
			}
			for p := buf[:n]; len(p) >= unix.SizeofInotifyEvent; {
				mask, size := binary.NativeEndian.Uint32(p[4:]), int(binary.NativeEndian.Uint32(p[12:]))
				name := p[unix.SizeofInotifyEvent : unix.SizeofInotifyEvent+size]
				select {
				case steps <- step{string(bytes.TrimRight(name, "\x00")), mask}:
				default: // nobody waits for this one
				}
				p = p[unix.SizeofInotifyEvent+size:]
			}
		}
	}()
	return steps, func() { f.Close() }
}

// of tells whether the step belongs to the write of a file: to itself, or to
// the temporary file that takes its place.
func (s step) of(name string) bool {
	return s.name == name || strings.HasPrefix(s.name, "."+name)
}
