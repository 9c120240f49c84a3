package view

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"ralph/state"
)

// eventFiles lists the event files, oldest first: the rotated ones, whose names
// hold the time, then the current one.
func eventFiles(path string) ([]string, error) {
	old, err := filepath.Glob(strings.TrimSuffix(path, ".jsonl") + "-*.jsonl")
	if err != nil {
		return nil, fmt.Errorf("find events: %w", err)
	}
	return append(old, path), nil
}

// ReadRun folds all events of one run, including rotated files. alive decides whether an
// iteration without an end is running or was cut off. A run without events gives an
// empty model.
func ReadRun(r *state.Reader, run string, alive bool) (*Run, error) {
	all := &Run{ID: run}
	files, err := eventFiles(r.EventsPath())
	if err != nil {
		return nil, err
	}
	for _, name := range files {
		err := readEvents(name, Folded, func(e state.Event) {
			if e.Run == run {
				all.Add(e)
			}
		})
		if err != nil {
			return nil, err
		}
	}
	all.settle(alive)
	return all, nil
}

// ReadRotated folds the events of the current file's run that are in rotated files. It
// returns nil if there are none.
func ReadRotated(r *state.Reader) (*Run, error) {
	files, err := eventFiles(r.EventsPath())
	if err != nil {
		return nil, err
	}
	last := len(files) - 1
	first := last
	for first > 0 && !startsRun(files[first]) {
		first--
	}
	if first == last {
		return nil, nil
	}
	run := &Run{}
	for _, name := range files[first:last] {
		if err := readEvents(name, Folded, run.Add); err != nil {
			return run, err
		}
	}
	return run, nil
}

// startsRun reports whether a file begins with the start of a run. Files before it then
// belong to other runs.
func startsRun(name string) bool {
	file, err := os.Open(name)
	if err != nil {
		return false
	}
	defer file.Close()
	line, err := bufio.NewReader(file).ReadBytes('\n')
	return err == nil && state.Kind(gjson.GetBytes(line, "kind").String()) == state.KindRunStart
}

// Folded reports whether a Run uses events of this kind. The others, most of a file,
// only appear in the log.
func Folded(k state.Kind) bool { return k != state.KindText && k != state.KindToolResult }

// readEvents calls do for each event of a file. A missing file has none.
func readEvents(name string, wanted state.EventFilter, do func(state.Event)) error {
	file, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read events: %w", err)
	}
	defer file.Close()
	lines := bufio.NewReaderSize(file, 1<<16)
	for {
		line, err := lines.ReadBytes('\n')
		if e, ok := wanted.Decode(line); ok {
			do(e)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read events: %w", err)
		}
	}
}

const (
	olderBlock = 256 << 10
	olderBytes = 1 << 20 // of events that one call brings
	olderReach = 64 << 20
)

// Older returns the latest 1 MiB of events before t, oldest first. It searches the latest
// 64 MiB.
func Older(r *state.Reader, t time.Time) ([]state.Event, error) {
	var all []state.Event // newest first
	taken := 0
	err := backwards(r.EventsPath(), func(line []byte) bool {
		if gjson.GetBytes(line, "time").Time().Before(t) {
			if e, ok := state.EventFilter(nil).Decode(line); ok {
				all = append(all, e)
				taken += len(line)
			}
		}
		return taken < olderBytes
	})
	slices.Reverse(all)
	return all, err
}

// Recall adds the latest three findings of this run to a model without events. It
// ignores events that cannot be read: status.json does not depend on them.
func (m *Model) Recall(r *state.Reader) {
	const most = 3
	var notes []Note
	wanted := state.EventFilter(func(k state.Kind) bool {
		return k == state.KindFinding || k == state.KindTask || k == state.KindDecision || k == state.KindRunStart
	})
	_ = backwards(r.EventsPath(), func(line []byte) bool {
		e, ok := wanted.Decode(line)
		if !ok || e.Run != m.Status.RunID {
			return true
		}
		switch e.Data.(type) {
		case state.RunStart:
			return false
		case state.Finding, state.TaskChange:
			if n, ok := noteOf(e); ok {
				notes = append(notes, n)
			}
		}
		return len(notes) < most
	})
	slices.Reverse(notes)
	m.Run.Notes = notes
}

// backwards calls f for the lines of all event files, last line first, until f returns
// false or olderReach bytes are read.
func backwards(path string, f func(line []byte) (more bool)) error {
	files, err := eventFiles(path)
	if err != nil {
		return err
	}
	reach := int64(olderReach)
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

// fileBackwards does this for one file and subtracts the bytes read from reach.
func fileBackwards(name string, reach *int64, f func(line []byte) bool) (more bool, err error) {
	file, err := os.Open(name)
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
		n := min(at, olderBlock)
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
		for _, line := range slices.Backward(lines) {
			if !f(line) {
				return false, nil
			}
		}
	}
	return *reach > 0, nil
}
