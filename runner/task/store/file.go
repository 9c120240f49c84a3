package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"golang.org/x/sys/unix"

	"ralph/runner/task"
)

// stamp changes with a file. No program can set the time of an inode.
type stamp struct {
	device, inode uint64
	size          int64
	changed       time.Time
}

// settled is the age of a file whose next change shows in its stamp: the clock of a file
// system moves in steps.
const settled = time.Second

func stampOf(path string) (s stamp) {
	var st unix.Stat_t
	if unix.Stat(path, &st) == nil {
		s = stampIn(st)
	}
	return s
}

func stampIn(st unix.Stat_t) stamp {
	return stamp{uint64(st.Dev), st.Ino, st.Size, time.Unix(st.Ctim.Unix())} //nolint:unconvert // the device is an int32 on macOS
}

// readFiles reads the files of a plan from an index on, but for those that are as they were earlier.
func (p *plan) readFiles(from int, earlier []planFile) error {
	was := make(map[string]planFile, len(earlier))
	for _, f := range earlier {
		was[f.path] = f
	}
	files := p.files[from:]
	errs := make([]error, len(files))
	task.Each(len(files), func(i int) {
		f := &files[i]
		if old, known := was[f.path]; known && old.of != (stamp{}) && stampOf(f.path) == old.of {
			*f = old
			return
		}
		now := time.Now()
		if f.data, f.of, errs[i] = read(f.path); now.Sub(f.of.changed) < settled {
			f.of = stamp{} // the next change may not show
		}
	})
	total := 0
	for i, f := range files {
		if errs[i] != nil {
			return errs[i]
		}
		if total += len(f.data); total > 4*MaxSize {
			return fmt.Errorf("%w: the files of %q are larger than %d MiB", ErrUnusable, p.files[0].path, 4*MaxSize>>20)
		}
	}
	return nil
}

// read returns the bytes of a plan file, at most MaxSize, as they were at one moment.
func read(path string) ([]byte, stamp, error) {
	for range rereads {
		data, of, err := readOnce(path)
		if err != nil || of != (stamp{}) {
			return data, of, err
		}
	}
	return nil, stamp{}, fmt.Errorf("%w: %q changes while it is read", ErrUnusable, path)
}

// readOnce reads a file with as few system calls as that takes: a plan may have thousands of files. The zero
// stamp: it changed meanwhile.
func readOnce(path string) (data []byte, of stamp, err error) {
	var st unix.Stat_t
	if unix.Stat(path, &st) == nil && st.Mode&unix.S_IFMT != unix.S_IFREG {
		return nil, of, fmt.Errorf("%w: %q is not a regular file", ErrUnusable, path) // nothing opens a pipe or a device
	}
	fd, err := again(func() (int, error) { return unix.Open(path, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0) })
	if err != nil {
		return nil, of, fmt.Errorf("%w: %w", ErrUnusable, &fs.PathError{Op: "open", Path: path, Err: err})
	}
	defer func() { _ = unix.Close(fd) }() // nothing was written
	if err := unix.Fstat(fd, &st); err != nil {
		return nil, of, fmt.Errorf("%w: %w", ErrUnusable, &fs.PathError{Op: "stat", Path: path, Err: err})
	}
	switch before := stampIn(st); {
	case st.Mode&unix.S_IFMT != unix.S_IFREG:
		return nil, of, fmt.Errorf("%w: %q is not a regular file", ErrUnusable, path)
	case st.Size > MaxSize:
		return nil, of, fmt.Errorf("%w: %q is larger than %d MiB", ErrUnusable, path, MaxSize>>20)
	default:
		data = make([]byte, st.Size)
		n := 0
		for n < len(data) && err == nil {
			var more int
			if more, err = again(func() (int, error) { return unix.Read(fd, data[n:]) }); more == 0 && err == nil {
				err = io.ErrUnexpectedEOF
			}
			n += max(more, 0)
		}
		if errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, of, nil // it was cut off meanwhile
		}
		if err == nil {
			err = unix.Fstat(fd, &st)
		}
		if err != nil {
			return nil, of, fmt.Errorf("%w: %w", ErrUnusable, &fs.PathError{Op: "read", Path: path, Err: err})
		}
		if now := stampIn(st); now == before {
			of = now
		}
		return data, of, nil
	}
}

// again makes a system call until no signal interrupts it.
func again(call func() (int, error)) (n int, err error) {
	for {
		if n, err = call(); !errors.Is(err, unix.EINTR) {
			return n, err
		}
	}
}
