package view

// This file reads long files of events fast: it looks at the head of each line and decodes
// only what somebody wants.

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"time"

	"ralph/state"
)

const block = 1 << 20 // bytes that are read at once

// ScanLines calls f for each whole line of a file from an offset, which must be the beginning of a
// line, until f returns false or the offset to is reached; below 0: the end. It returns where
// it stopped. The line is valid only during the call. A missing file has no lines.
func ScanLines(name string, from, to int64, f func(line []byte) (more bool)) (at int64, err error) {
	file, err := state.OpenEvents(name)
	if errors.Is(err, fs.ErrNotExist) {
		return from, nil
	}
	if err != nil {
		return from, fmt.Errorf("read events: %w", err)
	}
	defer file.Close()
	buf, at, have := make([]byte, block), from, 0
	for {
		n, err := file.ReadAt(buf[have:], at+int64(have))
		if err != nil && !errors.Is(err, io.EOF) {
			return at, fmt.Errorf("read events: %w", err)
		}
		have += n
		rest := buf[:have]
		for to < 0 || at < to {
			i := bytes.IndexByte(rest, '\n')
			if i < 0 {
				break
			}
			at += int64(i) + 1
			if !f(rest[:i]) {
				return at, nil
			}
			rest = rest[i+1:]
		}
		if n == 0 || to >= 0 && at >= to {
			return at, nil
		}
		have = copy(buf, rest)
		if have > state.MaxEvent { // not an event: its end counts as a line, which nobody can decode
			at, have = at+int64(have), 0
		}
		if have == len(buf) { // a line longer than the buffer
			buf = append(buf, make([]byte, len(buf))...)
		}
	}
}

// EventsOfIteration returns the events of an iteration, oldest first: of a long one the latest, up to
// most bytes.
func EventsOfIteration(r *state.Reader, run string, n, most int) ([]state.Event, error) {
	return SelectEvents(r, most, func(line []byte) bool {
		h := state.HeadOf(line)
		return h.Iteration == n && h.Run == run
	})
}

// SelectEvents returns the events of the wanted lines of all files, oldest first: the latest, up to most
// bytes.
func SelectEvents(r *state.Reader, most int, wanted func(line []byte) bool) ([]state.Event, error) {
	files, err := r.EventFiles()
	if err != nil {
		return nil, err
	}
	var lines [][]byte
	size := 0
	for _, name := range files {
		_, err := ScanLines(name, 0, -1, func(line []byte) bool {
			if wanted(line) {
				lines, size = append(lines, bytes.Clone(line)), size+len(line)
			}
			for size > most && len(lines) > 1 {
				size -= len(lines[0])
				lines = lines[1:]
			}
			return true
		})
		if err != nil {
			return nil, err
		}
	}
	var all []state.Event
	for _, line := range lines {
		all = append(all, DecodeLine(line)...)
	}
	return all, nil
}

// EventsBefore returns the latest events before t, up to most bytes, oldest first. None means that there are none.
func EventsBefore(r *state.Reader, t time.Time, most int) (all []state.Event, err error) {
	err = r.EventsBackwards(func(line []byte) bool {
		if at := state.HeadOf(line).Time; !at.IsZero() && at.Before(t) {
			all = append(all, DecodeLine(line)...)
			most -= len(line)
		}
		return most > 0
	})
	slices.Reverse(all)
	return all, err
}

// DecodeLine returns the event of a line; nil: it is none.
func DecodeLine(line []byte) []state.Event {
	if e, ok := state.EventFilter(nil).Decode(line); ok {
		return []state.Event{e}
	}
	return nil
}
