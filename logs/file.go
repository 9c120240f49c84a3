// Package logs sets up ralph's own log, keeps append-only files with rotation,
// and follows such files from another process.
package logs

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"sync"

	"ralph/state/projectfs"
)

// File is an append-only file that rotates by size. It is safe for concurrent use. It
// buffers until Flush, so that many small records cost one write call.
type File struct {
	mu   sync.Mutex
	out  *rotating
	buf  *bufio.Writer
	torn bool // the file may end in the middle of a line
}

// OpenFile opens path for appending. Above megabytes, the file is renamed with a time in
// its name; the newest keep of these stay. New files have mode 0600. It refuses what is
// not a plain file. If a killed writer left half a line, the next write starts a new one.
func OpenFile(path string, megabytes, keep int) (*File, error) {
	out := newRotating(path, megabytes, keep)
	if err := out.open(); err != nil { // now: later, an agent may have replaced it
		return nil, fmt.Errorf("open log: %w", err)
	}
	return &File{out: out, buf: bufio.NewWriterSize(out, 32<<10), torn: torn(path)}, nil
}

// torn reports whether a file ends in the middle of a line.
func torn(path string) bool {
	file, err := projectfs.Above(path).Open(path)
	if err != nil {
		return false // the first write reports it
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil || info.Size() == 0 {
		return false
	}
	var last [1]byte
	_, err = file.ReadAt(last[:], info.Size()-1)
	return err == nil && last[0] != '\n'
}

// Write appends p; it may stay in memory until Flush.
func (f *File) Write(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.torn {
		f.torn = false
		if err := f.buf.WriteByte('\n'); err != nil {
			return 0, f.reset(err)
		}
	}
	// Do not split a record between two writes: a rotation, a kill or a power cut could
	// come between them.
	if f.buf.Available() < len(p) {
		if err := f.buf.Flush(); err != nil {
			return 0, f.reset(err)
		}
	}
	n, err := f.buf.Write(p)
	return n, f.reset(err)
}

// Flush writes the buffer to the file.
func (f *File) Flush() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.reset(f.buf.Flush())
}

// reset makes the writer usable again after an error: a full disk loses lines, but
// logging continues once there is space.
func (f *File) reset(err error) error {
	if err != nil {
		f.buf.Reset(f.out)
		f.torn = torn(f.out.path)
		return fmt.Errorf("write log: %w", err)
	}
	return nil
}

// Rotate starts a new file.
func (f *File) Rotate() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.reset(f.buf.Flush()); err != nil {
		return err
	}
	f.torn = false // half a line stays in the old file
	return f.out.Rotate()
}

// Reopen starts a new file if somebody removed the open one or replaced it with
// something that is not a regular file.
func (f *File) Reopen() error {
	switch info, err := f.out.dir.Lstat(f.out.path); {
	case err == nil && info.Mode().IsRegular():
		return nil
	case err == nil:
		if err := f.out.dir.RemoveAll(f.out.path); err != nil {
			return fmt.Errorf("open log: %w", err)
		}
	case !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("open log: %w", err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	flushed, closed := f.reset(f.buf.Flush()), f.out.Close()
	f.torn = false
	return errors.Join(flushed, closed, f.out.open())
}

// Close flushes and closes.
func (f *File) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return errors.Join(f.reset(f.buf.Flush()), f.out.Close())
}
