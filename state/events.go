package state

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// MaxEvent is the length in bytes of the longest line of the event files. Readers may leave out longer ones.
const MaxEvent = 16 << 20

const (
	eventBlock = 256 << 10
	eventReach = 128 << 20 // how far back EventsBackwards reads: more than is kept
)

// EventFiles lists the event files, oldest first: the rotated ones, whose names
// hold the time, then the current one, which may be missing.
func (r *Reader) EventFiles() ([]string, error) {
	path := r.EventsPath()
	name, ext, _ := strings.Cut(filepath.Base(path), ".")
	entries, err := r.in.ReadDir(r.dir) // sorted; not a glob, because the path may contain its special characters
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("find events: %w", err)
	}
	var files []string
	for _, e := range entries {
		if e.Type().IsRegular() && strings.HasPrefix(e.Name(), name+"-") && strings.HasSuffix(e.Name(), "."+ext) {
			files = append(files, r.path(e.Name()))
		}
	}
	return append(files, path), nil
}

// OpenEvents opens one of the EventFiles.
func OpenEvents(name string) (*os.File, error) { return Project(filepath.Dir(name)).Open(name) }

// LastEvent returns the latest numbered event of a run. It is zero when the run
// has none: before it began.
func (r *Reader) LastEvent(run string) (Event, error) {
	var last Event
	err := r.EventsBackwards(func(line []byte) bool {
		e, ok := EventFilter(nil).Decode(line) // a killed runner may have left half a line
		if ok && e.Run == run && e.Seq > 0 {
			last = e
		}
		return last.Seq == 0
	})
	return last, err
}

// EventsBackwards calls f for the lines of all event files, the last line first,
// until f returns false or the latest 128 MiB are read.
func (r *Reader) EventsBackwards(f func(line []byte) (more bool)) error {
	files, err := r.EventFiles()
	if err != nil {
		return err
	}
	reach := int64(eventReach)
	for _, name := range slices.Backward(files) {
		more, err := fileBackwards(name, &reach, f)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("read older events: %w", err)
		}
		if err == nil && !more {
			return nil
		}
	}
	return nil
}

// fileBackwards does this for one file. It subtracts what it reads from reach.
func fileBackwards(name string, reach *int64, f func(line []byte) bool) (more bool, err error) {
	file, err := OpenEvents(name)
	if err != nil {
		return false, err
	}
	defer file.Close()
	at, err := file.Seek(0, io.SeekEnd)
	if err != nil {
		return false, err
	}
	var rest []byte // the end of a line that starts in an earlier block
	for at > 0 && *reach > 0 {
		n := min(at, eventBlock)
		at -= n
		*reach -= n
		block := make([]byte, n, int(n)+len(rest))
		if _, err := file.ReadAt(block, at); err != nil {
			return false, err
		}
		block = append(block, rest...)
		lines := bytes.Split(block, []byte("\n"))
		if at > 0 {
			rest, lines = lines[0], lines[1:]
		}
		if len(rest) > MaxEvent {
			rest = nil
		}
		for _, line := range slices.Backward(lines) {
			if !f(line) {
				return false, nil
			}
		}
	}
	return *reach > 0, nil
}
