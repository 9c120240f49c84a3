package view

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"slices"

	"ralph/state"
)

// ReadRun folds all events of one run, also those in rotated files; of tool calls, it knows only how many there were.
// With alive, an iteration without an end is running, else it was cut off. A run without events gives an empty model.
func ReadRun(r *state.Reader, run string, alive bool) (*Run, error) {
	all, kind := &Run{ID: run}, state.Kind("")
	var call state.Event
	var from []byte // of the latest call: most have the same
	decoded := state.EventFilter(func(k state.Kind) bool { kind = k; return Folded(k) && k != state.KindTool })
	err := eachLine(r, run, func(line []byte) {
		e, ok := decoded.Decode(line)
		if kind == state.KindTool && json.Valid(line) { // a killed runner may have left half a line
			_, origin, _ := bytes.Cut(line, []byte(`"kind":"tool",`))
			if origin, _, _ = bytes.Cut(origin, []byte(`"data":`)); !bytes.Equal(origin, from) || len(from) == 0 {
				h := state.HeadOf(line)
				if from = nil; h.Run != "" {
					from = bytes.Clone(origin)
				}
				call = state.NewEvent(state.Origin{Run: h.Run, Iteration: h.Iteration, Task: h.Task}, h.Time, state.Tool{})
			}
			e, ok = call, true
		}
		if ok && e.Run == run {
			all.Add(e)
		}
	})
	if err != nil {
		return nil, err
	}
	all.Settle(alive)
	return all, nil
}

// EachEvent calls do for the events of a run, or of all runs if run is empty, oldest first.
func EachEvent(r *state.Reader, run string, wanted state.EventFilter, do func(state.Event)) error {
	return eachLine(r, run, decoding(run, wanted, do))
}

// eachLine calls do for the lines of the files with events of a run.
func eachLine(r *state.Reader, run string, do func(line []byte)) error {
	files, err := r.EventFiles()
	for i, name := range slices.Backward(files) {
		if run != "" && startsRun(name) == run {
			files = files[i:]
			break
		}
	}
	for _, name := range files {
		if err == nil {
			err = readLines(name, do)
		}
	}
	return err
}

// ReadRotated folds the events in rotated files that belong to the run of the
// current file. Nil means that there are none.
func ReadRotated(r *state.Reader) (*Run, error) {
	files, err := RunFiles(r)
	if err != nil || len(files) == 1 {
		return nil, err
	}
	run := &Run{}
	for _, name := range files[:len(files)-1] {
		if err := readLines(name, decoding("", Folded, run.Add)); err != nil {
			return run, err
		}
	}
	return run, nil
}

// RunFiles lists the files of events that the run of the current one has filled, the current one
// last. It may be missing.
func RunFiles(r *state.Reader) ([]string, error) {
	files, err := r.EventFiles()
	if err != nil {
		return nil, err
	}
	first := len(files) - 1
	for first > 0 && startsRun(files[first]) == "" {
		first--
	}
	return files[first:], nil
}

// startsRun returns the run that starts with a file; empty: the file continues a run.
func startsRun(name string) string {
	file, err := state.OpenEvents(name)
	if err != nil {
		return ""
	}
	defer file.Close()
	line, err := bufio.NewReader(io.LimitReader(file, state.MaxEvent)).ReadBytes('\n')
	e, ok := state.EventFilter(func(k state.Kind) bool { return k == state.KindRunStart }).Decode(line)
	if start, _ := e.Data.(state.RunStart); err != nil || !ok || start.Resumed {
		return ""
	}
	return e.Run
}

// Folded reports whether a Run uses events of this kind. The others only fill the
// log, and are most of a file.
func Folded(k state.Kind) bool { return k != state.KindText && k != state.KindToolResult }

// readLines calls do for the lines of one file; a missing file has none.
func readLines(name string, do func(line []byte)) error {
	_, err := ScanLines(name, 0, -1, func(line []byte) bool { do(line); return true })
	return err
}

// decoding returns a function that calls do for the event of a line, if it is of this run; empty: of any.
func decoding(run string, wanted state.EventFilter, do func(state.Event)) func(line []byte) {
	return func(line []byte) {
		if e, ok := wanted.Decode(line); ok && (run == "" || e.Run == run) {
			do(e)
		}
	}
}

// Recall adds the latest three findings, and the latest iteration, of this run to a model whose events were
// not folded. It ignores events that cannot be read: they are a log, not the state.
func (m *Model) Recall(r *state.Reader) {
	run := &Run{}
	_ = EachEvent(r, m.Status.RunID, func(k state.Kind) bool {
		return k == state.KindFinding || k == state.KindTask || k == state.KindRunStart || k == state.KindIterationStart ||
			k == state.KindIterationEnd
	}, run.Add)
	if n := len(run.Iterations); n > 0 {
		m.begun, m.task = run.Iterations[n-1].Number, run.Iterations[n-1].TaskID
	}
	m.Run.Notes = run.Notes[max(len(run.Notes)-3, 0):]
}
