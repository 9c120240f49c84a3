package view

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"ralph/state"
)

// EndOf is the offset at which the last whole line of a file ends; 0 for a missing file.
func EndOf(name string) (int64, error) {
	file, size, err := open(name)
	if file == nil {
		return 0, err
	}
	defer file.Close()
	for at := size; at > 0; {
		n := min(at, 64<<10)
		part := make([]byte, n)
		if _, err := file.ReadAt(part, at-n); err != nil {
			return 0, fmt.Errorf("read events: %w", err)
		}
		if i := bytes.LastIndexByte(part, '\n'); i >= 0 {
			return at - n + int64(i) + 1, nil
		}
		at -= n
	}
	return 0, nil
}

func open(name string) (*os.File, int64, error) {
	file, err := state.OpenEvents(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, fmt.Errorf("read events: %w", err)
	}
	info, err := file.Stat()
	if err != nil {
		_ = file.Close()
		return nil, 0, fmt.Errorf("read events: %w", err)
	}
	return file, info.Size(), nil
}

// lineBegin is the beginning of the first line at or after an offset.
func lineBegin(file io.ReaderAt, at int64) int64 {
	if at <= 0 {
		return 0
	}
	part := make([]byte, 64<<10)
	for from := at - 1; ; from += int64(len(part)) {
		n, err := file.ReadAt(part, from)
		if i := bytes.IndexByte(part[:n], '\n'); i >= 0 {
			return from + int64(i) + 1
		}
		if err != nil {
			return from + int64(n)
		}
	}
}

// findTime is the beginning of the first line of a file whose event is not before t. The events stand in
// the order of their times.
func findTime(name string, t time.Time) (int64, error) {
	file, size, err := open(name)
	if file == nil {
		return 0, err
	}
	defer file.Close()
	low, high := int64(0), size // a line that begins before low is before t; one from high on is not
	for low < high {
		middle := lineBegin(file, low+(high-low)/2)
		if middle >= high {
			middle = low // one line is left, or a long one
		}
		var at time.Time
		next, err := ScanLines(name, middle, -1, func(line []byte) bool {
			at = state.HeadOf(line).Time
			return at.IsZero()
		})
		switch {
		case err != nil:
			return 0, err
		case at.IsZero() || !at.Before(t):
			if middle == low {
				return low, nil
			}
			high = middle
		default:
			low = next
		}
	}
	return low, nil
}

// EventsBefore returns the latest events before t, up to most bytes, oldest first. None means that there are
// none.
func EventsBefore(r *state.Reader, t time.Time, most int64) ([]state.Event, error) {
	files, err := r.EventFiles()
	var all []state.Event
	for i := len(files) - 1; i >= 0 && err == nil && most > 0; i-- {
		end, fault := findTime(files[i], t)
		if err = fault; err != nil || end == 0 {
			continue
		}
		part, from, fault := span(files[i], end-most, end)
		all, most, err = append(part, all...), most-(end-from), fault
		if from > 0 {
			break
		}
	}
	return all, err
}

// span returns the events of the lines that begin at or after from and before to.
func span(name string, from, to int64) (all []state.Event, first int64, err error) {
	file, _, err := open(name)
	if file == nil {
		return nil, to, err
	}
	from = lineBegin(file, from)
	_ = file.Close()
	_, err = ScanLines(name, from, to, func(line []byte) bool {
		all = append(all, DecodeLine(line)...)
		return true
	})
	return all, from, err
}

// TailEvents returns the events of the last bytes before an offset, which is the end of a line.
func TailEvents(name string, end, most int64) ([]state.Event, error) {
	all, _, err := span(name, end-most, end)
	return all, err
}
