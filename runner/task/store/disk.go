package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"ralph/state/projectfs"
)

// errUnusable is the error of a file that cannot be a plan.
var errUnusable = errors.New("the plan cannot be used")

const (
	// maxFileSize is the size in bytes of the largest file that Read accepts.
	maxFileSize = 16 << 20
	// maxFiles and maxDepth limit a plan that is a folder.
	maxFiles = 50_000
	maxDepth = 6
	// maxReads is how often Read tries a file that changes meanwhile.
	maxReads = 5
)

// stamp changes whenever a file does: no program can set a ctime.
type stamp struct {
	device, inode uint64
	size          int64
	changed       time.Time
}

// settled is how old a change must be so that the next one shows in the stamp: the clock of a file
// system moves in steps.
const settled = time.Second

// Old reports whether the last change is so long before a moment that the next one will show in the stamp.
func (s stamp) Old(at time.Time) bool { return at.Sub(s.changed) > settled }

// stampOf returns the stamp of a file; zero if there is none.
func stampOf(in projectfs.Dir, path string) (s stamp) {
	if info, err := in.Lstat(path); err == nil {
		if st, ok := info.Sys().(*unix.Stat_t); ok {
			s = stampIn(*st)
		}
	}
	return s
}

func stampIn(st unix.Stat_t) stamp {
	return stamp{uint64(st.Dev), st.Ino, st.Size, time.Unix(st.Ctim.Unix())} //nolint:unconvert // an int32 on macOS
}

// readStable returns the bytes of a plan file, at most MaxSize, as they were at one moment.
func readStable(in projectfs.Dir, path string) ([]byte, stamp, error) {
	for range maxReads {
		data, of, err := readOnce(in, path)
		if err != nil || of != (stamp{}) {
			return data, of, err
		}
	}
	return nil, stamp{}, fmt.Errorf("%w: %q changes while it is read", errUnusable, path)
}

// readOnce reads a file with few system calls, because a plan may have thousands of files. The zero
// stamp: it changed meanwhile.
func readOnce(in projectfs.Dir, path string) (data []byte, of stamp, err error) {
	fd, st, err := in.OpenFD(path)
	if err != nil {
		return nil, of, fmt.Errorf("%w: %w", errUnusable, err)
	}
	defer func() { _ = unix.Close(fd) }() // nothing was written
	switch before := stampIn(st); {
	case st.Size > maxFileSize:
		return nil, of, fmt.Errorf("%w: %q is larger than %d MiB", errUnusable, path, maxFileSize>>20)
	default:
		data = make([]byte, st.Size)
		n := 0
		for n < len(data) && err == nil {
			var more int
			if more, err = retry(func() (int, error) { return unix.Read(fd, data[n:]) }); more == 0 && err == nil {
				err = io.ErrUnexpectedEOF
			}
			n += max(more, 0)
		}
		if errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, of, nil // somebody shortened it meanwhile
		}
		if err == nil {
			err = unix.Fstat(fd, &st)
		}
		if err != nil {
			return nil, of, fmt.Errorf("%w: %w", errUnusable, &fs.PathError{Op: "read", Path: path, Err: err})
		}
		if now := stampIn(st); now == before {
			of = now
		}
		return data, of, nil
	}
}

// retry repeats a system call until no signal interrupts it.
func retry(call func() (int, error)) (n int, err error) {
	for {
		if n, err = call(); !errors.Is(err, unix.EINTR) {
			return n, err
		}
	}
}

// filesIn lists the regular files below dir by slash path, sorted, without following links.
func filesIn(in projectfs.Dir, dir string) ([]string, error) {
	var names []string
	err := fs.WalkDir(in.FS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (strings.Count(name, "/") >= maxDepth || name != "." && strings.HasPrefix(d.Name(), ".")):
			return fs.SkipDir
		case d.Type().IsRegular():
			names = append(names, name)
		}
		if len(names) > maxFiles {
			return fmt.Errorf("%q has more than %d files", dir, maxFiles)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errUnusable, err)
	}
	return names, nil
}
