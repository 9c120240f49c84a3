package projectfs

import (
	"errors"
	"io/fs"
	"time"

	"golang.org/x/sys/unix"
)

// info is the fs.FileInfo of a path that was not opened.
type info struct {
	name string
	st   *unix.Stat_t
}

func (i info) Name() string       { return i.name }
func (i info) Size() int64        { return i.st.Size }
func (i info) ModTime() time.Time { return time.Unix(i.st.Mtim.Unix()) }
func (i info) IsDir() bool        { return i.Mode().IsDir() }
func (i info) Sys() any           { return i.st }

func (i info) Mode() fs.FileMode { return fs.FileMode(i.st.Mode&0o777) | modes[kind(i.st)] }

var modes = map[string]fs.FileMode{folder: fs.ModeDir, link: fs.ModeSymlink, fifo: fs.ModeNamedPipe,
	socket: fs.ModeSocket, device: fs.ModeDevice}

// named returns err as an error of package os would say it; nil for nil.
func named(op, path string, err error) error {
	if err == nil {
		return nil
	}
	return &fs.PathError{Op: op, Path: path, Err: err}
}

// retry repeats a system call that a signal interrupted.
func retry(call func() error) error {
	for {
		if err := call(); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
