package logs

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"ralph/state/projectfs"
)

// maxTailLine is the length, in bytes, at which Poll cuts a line, because readers keep it in
// memory.
const maxTailLine = 1 << 20

// maxTailPoll is the most bytes that one Poll reads, so that a screen stays responsive
// while it catches up with a large file.
const maxTailPoll = 4 << 20

// Tail follows a file that another process appends to, rotates, truncates, removes or
// has yet to create. It never blocks; call Poll when something may have changed. The
// zero value is not usable.
type Tail struct {
	path    string
	back    int64 // bytes before the end at which to start
	from    int64 // offset of the line at which to start, if the file is that long
	file    *os.File
	info    fs.FileInfo
	offset  int64
	started bool
	partial []byte
	skip    bool // inside a line that was cut
	buf     []byte
}

// NewTail follows path. It starts with the first whole line in the last backBytes; a
// negative number means at the beginning.
func NewTail(path string, backBytes int64) *Tail {
	return &Tail{path: path, back: backBytes}
}

// NewTailFrom follows path from an offset, which must be the beginning of a line. If the file is shorter, it is a new
// one, and the Tail starts at its beginning.
func NewTailFrom(path string, offset int64) *Tail {
	return &Tail{path: path, back: -1, from: offset}
}

// Poll returns the complete lines since the last Poll, without line ends. A missing file
// has none. It cuts lines above 1 MiB. After a rotation, the rest of the old file comes
// first.
func (t *Tail) Poll() ([][]byte, error) {
	var lines [][]byte
	budget := maxTailPoll
	for budget > 0 {
		if t.file == nil {
			if ok, err := t.open(); !ok {
				return lines, err
			}
		}
		n, err := t.read(budget, &lines)
		budget -= n
		if err != nil {
			return lines, err
		}
		if n > 0 {
			continue
		}
		replaced, err := t.replaced()
		if err != nil || !replaced {
			return lines, err
		}
	}
	return lines, nil
}

func (t *Tail) open() (bool, error) {
	f, err := projectfs.Above(t.path).Open(t.path)
	if errors.Is(err, fs.ErrNotExist) {
		t.started = true // a file that appears later is new from its first byte
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("follow log: %w", err)
	}
	info, err := f.Stat()
	if err != nil {
		_ = f.Close()
		return false, fmt.Errorf("follow log: %w", err)
	}
	t.file, t.info, t.offset, t.skip = f, info, 0, false
	if !t.started && t.back >= 0 && info.Size() > t.back {
		// The byte before shows whether the line is whole.
		t.offset = max(info.Size()-t.back-1, 0)
		t.skip = true
	}
	if !t.started && t.from > 0 && info.Size() >= t.from {
		t.offset = t.from
	}
	t.started = true
	return true, nil
}

func (t *Tail) read(budget int, lines *[][]byte) (int, error) {
	if t.buf == nil {
		t.buf = make([]byte, 64<<10)
	}
	n, err := t.file.ReadAt(t.buf[:min(len(t.buf), budget)], t.offset)
	if err != nil && !errors.Is(err, io.EOF) {
		return 0, fmt.Errorf("follow log: %w", err)
	}
	t.offset += int64(n)
	for p := t.buf[:n]; len(p) > 0; {
		i := bytes.IndexByte(p, '\n')
		if i < 0 {
			t.keep(p)
			break
		}
		t.keep(p[:i])
		if !t.skip || len(t.partial) > 0 {
			*lines = append(*lines, bytes.Clone(bytes.TrimSuffix(t.partial, []byte("\r"))))
		}
		t.partial, t.skip = t.partial[:0], false
		p = p[i+1:]
	}
	return n, nil
}

// keep adds p to the current line, unless skip is set because the line was cut or its
// beginning is unknown.
func (t *Tail) keep(p []byte) {
	if t.skip {
		return
	}
	if room := maxTailLine - len(t.partial); len(p) > room {
		p, t.skip = p[:room], true
	}
	t.partial = append(t.partial, p...)
}

// replaced reports whether path is now another file, or shorter than the part that was read. The Tail then starts over.
func (t *Tail) replaced() (bool, error) {
	info, err := os.Stat(t.path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil // gone, or about to be created: keep the open one
	}
	if err != nil {
		return false, fmt.Errorf("follow log: %w", err)
	}
	same := os.SameFile(info, t.info)
	if same && info.Size() >= t.offset {
		return false, nil
	}
	t.partial = t.partial[:0]
	if same {
		t.offset, t.skip = 0, false
		return true, nil
	}
	return true, t.Close()
}

// Close releases the file. A later Poll reads it from the beginning.
func (t *Tail) Close() error {
	if t.file == nil {
		return nil
	}
	err := t.file.Close()
	t.file = nil
	return err
}
