// Package logs sets up ralph's own log, keeps append-only files with rotation,
// and follows such files from another process.
package logs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"ralph/state/projectfs"
)

const (
	// backupTime is the time in the name of a file that was rotated away: NAME-TIME.EXT.
	backupTime = "2006-01-02T15-04-05.000"
	bufferSize = 32 << 10
	// flushAfter is how long a record may stay in memory. People watch the log as it grows.
	flushAfter = 50 * time.Millisecond
)

// File is an append-only file of the project that rotates by size. It is safe for concurrent use. It
// buffers for a moment, so that many small records cost one write call. It follows no link, not
// even one that an agent puts in the place of the file between two writes.
type File struct {
	mu   sync.Mutex
	dir  projectfs.Dir
	path string
	most int64 // bytes
	keep int   // backups
	file *os.File
	size int64 // of the file
	buf  []byte
	torn bool  // the file may end in the middle of a line
	soon bool  // a flush is due
	late error // of that flush; the next Write, Flush or Close returns it
}

// OpenFile opens path for appending. Above megabytes, the file is renamed with a time in
// its name; the newest keep of these stay. New files have mode 0600. It refuses what is
// not a plain file. If a killed writer left half a line, the next write starts a new one.
func OpenFile(path string, megabytes, keep int) (*File, error) {
	f := &File{dir: projectfs.Above(path), path: path, most: int64(megabytes) << 20, keep: keep}
	if err := f.open(); err != nil { // now: later, an agent may have replaced it
		return nil, fmt.Errorf("open log: %w", err)
	}
	f.torn = f.endsTorn()
	return f, nil
}

// endsTorn reports whether the file ends in the middle of a line.
func (f *File) endsTorn() bool {
	file, err := f.dir.Open(f.path)
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

// open opens the file, unless it is open.
func (f *File) open() error {
	if f.file != nil {
		return nil
	}
	file, err := f.dir.OpenFile(f.path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	info, err := file.Stat()
	if err != nil {
		return errors.Join(err, file.Close())
	}
	f.file, f.size = file, info.Size()
	return nil
}

func (f *File) closeFile() error {
	if f.file == nil {
		return nil
	}
	err := f.file.Close()
	f.file = nil
	return err
}

// Write appends p; it may stay in memory for flushAfter, or until Flush. A record is never split between two
// writes: a rotation, a kill or a power cut could come between them.
func (f *File) Write(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.buf)+len(p) > bufferSize {
		if err := f.flush(); err != nil {
			return 0, err
		}
	}
	if f.torn {
		f.torn = false
		f.buf = append(f.buf, '\n')
	}
	if f.buf = append(f.buf, p...); len(f.buf) > bufferSize {
		return len(p), f.flush()
	}
	if !f.soon {
		f.soon = true
		time.AfterFunc(flushAfter, f.flushLater)
	}
	return len(p), f.takeLate()
}

func (f *File) takeLate() error {
	err := f.late
	f.late = nil
	return err
}

func (f *File) flushLater() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.soon = false
	if err := f.flush(); err != nil {
		f.late = err
	}
}

// Flush writes the buffer to the file.
func (f *File) Flush() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return errors.Join(f.takeLate(), f.flush())
}

// flush empties the buffer also after an error: a full disk loses lines, but logging continues once
// there is space.
func (f *File) flush() error {
	if len(f.buf) == 0 {
		return nil
	}
	err := f.open()
	if err == nil && f.size > 0 && f.size+int64(len(f.buf)) > f.most {
		err = f.rotate()
	}
	if err == nil {
		var n int
		n, err = f.file.Write(f.buf)
		f.size += int64(n)
	}
	f.buf = f.buf[:0]
	if err != nil {
		f.torn = f.endsTorn()
		return fmt.Errorf("write log: %w", err)
	}
	return nil
}

// Rotate starts a new file.
func (f *File) Rotate() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.flush(); err != nil {
		return err
	}
	f.torn = false // half a line stays in the old file
	return f.rotate()
}

// rotate gives the file a name with the time, removes the oldest backups, and starts a new file.
func (f *File) rotate() error {
	if err := f.closeFile(); err != nil {
		return err
	}
	ext := filepath.Ext(f.path)
	stem := strings.TrimSuffix(f.path, ext) + "-"
	err := f.dir.Rename(f.path, stem+time.Now().Format(backupTime)+ext)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	entries, err := f.dir.ReadDir(filepath.Dir(f.path))
	if err != nil {
		return err
	}
	var backups []string
	for _, e := range entries {
		at, fits := strings.CutPrefix(e.Name(), filepath.Base(stem))
		at, ends := strings.CutSuffix(at, ext)
		if _, err := time.Parse(backupTime, at); fits && ends && err == nil {
			backups = append(backups, e.Name())
		}
	}
	slices.Sort(backups)
	for _, name := range backups[:max(0, len(backups)-f.keep)] {
		if err := f.dir.Remove(filepath.Join(filepath.Dir(f.path), name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return f.open()
}

// Reopen starts a new file if somebody removed the open one or replaced it with
// something that is not a regular file.
func (f *File) Reopen() error {
	switch info, err := f.dir.Lstat(f.path); {
	case err == nil && info.Mode().IsRegular():
		return nil
	case err == nil:
		if err := f.dir.RemoveAll(f.path); err != nil {
			return fmt.Errorf("open log: %w", err)
		}
	case !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("open log: %w", err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	flushed, closed := f.flush(), f.closeFile()
	f.torn = false
	return errors.Join(flushed, closed, f.open())
}

// Close flushes and closes.
func (f *File) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return errors.Join(f.takeLate(), f.flush(), f.closeFile())
}
