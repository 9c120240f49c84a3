package turn

import (
	"errors"
	"fmt"
	"os"

	"ralph/logs"
	"ralph/state"
)

// mostRaw bounds the output that is kept of one call, in bytes.
const mostRaw = 256 << 20

// RawLog takes the output of one call. It is not safe for concurrent use.
type RawLog struct {
	Printed int64 // bytes so far
	Err     error // why nothing more can be kept; nil: more can

	file *os.File // nil: nothing is kept
	out  *logs.Redactor
}

// OpenRawLog keeps the prompt of a call in dir and returns the log for its output. Secrets
// are hidden in both. An empty dir keeps nothing.
func OpenRawLog(dir string, iteration int, prompt string, secrets logs.Values) (*RawLog, error) {
	if dir == "" {
		return &RawLog{}, nil
	}
	kept := state.RunLogs{Dir: dir}
	if err := kept.SavePrompt(iteration, secrets.Redact(prompt)); err != nil {
		return nil, err
	}
	file, err := kept.OpenRaw(iteration)
	if err != nil {
		return nil, err
	}
	return &RawLog{file: file, out: logs.NewRedactor(file, secrets)}, nil
}

// Write keeps p while the call has printed at most mostRaw bytes. It returns Err.
func (l *RawLog) Write(p []byte) error {
	room := mostRaw - l.Printed
	l.Printed += int64(len(p))
	if l.file == nil || l.Err != nil || room <= 0 {
		return l.Err
	}
	_, err := l.out.Write(p[:min(int64(len(p)), room)])
	if err == nil && int64(len(p)) >= room {
		_, err = l.out.Write([]byte("\n[ralph keeps no more of what this call prints]\n"))
	}
	return l.fail(err)
}

// Close writes the rest. It returns Err.
func (l *RawLog) Close() error {
	if l.file == nil {
		return nil
	}
	err := errors.Join(l.out.Close(), l.file.Close())
	l.file = nil
	return l.fail(err)
}

func (l *RawLog) fail(err error) error {
	if err != nil && l.Err == nil {
		l.Err = fmt.Errorf("keep raw output: %w", err)
	}
	return l.Err
}
