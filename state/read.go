package state

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"time"
	"unicode"

	"ralph/state/projectfs"
)

// maxSnapshot bounds what is read of a snapshot: the largest that ralph writes
// is a few kilobytes, so anything above this is foreign.
const maxSnapshot = 1 << 20

// CorruptError says that a state file exists but is not what ralph writes:
// empty, torn, of another shape, or huge.
type CorruptError struct {
	Path string
	Why  string
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("state file %q is unusable: %s", e.Path, e.Why)
}

// Status reads status.json. Zero when nothing has run here.
func (r *Reader) Status() (Status, error) {
	return readJSON(r.in, r.path(fileStatus), func(s Status) string {
		if s.RunID != "" && !isRunID(s.RunID) {
			return fmt.Sprintf("run_id %.40q is none", s.RunID)
		}
		if s.LoopCount < 0 || s.CallsThisHour < 0 {
			return "negative count"
		}
		return ""
	})
}

// Breaker reads the circuit breaker; a missing file is a closed breaker.
func (r *Reader) Breaker() (Breaker, error) {
	b, err := readJSON(r.in, r.path(fileBreaker), func(b Breaker) string {
		switch b.State {
		case BreakerClosed, BreakerHalfOpen, BreakerOpen:
		default:
			return fmt.Sprintf("unknown state %q", b.State)
		}
		if b.NoProgress < 0 || b.SameError < 0 || b.PermissionDenials < 0 || b.TotalOpens < 0 {
			return "negative count"
		}
		return ""
	})
	if err != nil || b.State == "" {
		b = Breaker{State: BreakerClosed}
	}
	return b, err
}

// Session reads the agent session that may be resumed; zero when there is none.
func (r *Reader) Session() (Session, error) {
	return readJSON(r.in, r.path(fileSession), func(s Session) string {
		odd := func(c rune) bool { return unicode.IsControl(c) || strings.ContainsRune(" {}\"", c) }
		if strings.ContainsFunc(s.SessionID, odd) || strings.HasPrefix(s.SessionID, "-") || len(s.SessionID) > 256 {
			return "session_id is not an id"
		}
		return ""
	})
}

// Signals reads the exit signals of the current run.
func (r *Reader) Signals() (Signals, error) {
	return readJSON(r.in, r.path(fileSignals), func(Signals) string { return "" })
}

// Calls reads the counters of the clock hour in which they were written. The
// caller compares Hour with its own hour.
func (r *Reader) Calls() (Calls, error) {
	calls, e1 := readCount(r.in, r.path(fileCalls), 1<<31)
	tokens, e2 := readCount(r.in, r.path(fileTokens), 1<<53)
	hour, e3 := readHour(r.in, r.path(fileReset))
	return Calls{Hour: hour, Calls: int(calls), Tokens: tokens}, errors.Join(e1, e2, e3)
}

// History reads the breaker's transitions, oldest first; lines that do not
// parse are left out.
func (r *Reader) History() ([]BreakerChange, error) {
	data, err := readBounded(r.in, r.path(fileHistory))
	if err != nil || data == nil {
		return nil, err
	}
	var all []BreakerChange
	for line := range bytes.Lines(data) {
		var c BreakerChange
		if json.Unmarshal(line, &c) == nil {
			all = append(all, c)
		}
	}
	return all, nil
}

// readJSON returns the zero value for a missing file.
func readJSON[T any](in projectfs.Dir, path string, check func(T) string) (T, error) {
	var v, zero T
	data, err := readBounded(in, path)
	if err != nil || data == nil {
		return zero, err
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return zero, &CorruptError{path, "empty"}
	}
	if err := json.Unmarshal(data, &v); err != nil {
		return zero, &CorruptError{path, err.Error()}
	}
	if why := check(v); why != "" {
		return zero, &CorruptError{path, why}
	}
	return v, nil
}

// readCount reads a decimal number of 0..limit; digits only, never evaluated.
func readCount(in projectfs.Dir, path string, limit int64) (int64, error) {
	data, err := readBounded(in, path)
	if err != nil || data == nil {
		return 0, err
	}
	text := strings.TrimSpace(string(data))
	n, err := strconv.ParseUint(text, 10, 63)
	if err != nil || int64(n) > limit {
		return 0, &CorruptError{path, fmt.Sprintf("%.40q is not a count", text)}
	}
	return int64(n), nil
}

const hourLayout = "2006010215"

func readHour(in projectfs.Dir, path string) (time.Time, error) {
	data, err := readBounded(in, path)
	if err != nil || data == nil {
		return time.Time{}, err
	}
	text := strings.TrimSpace(string(data))
	t, err := time.ParseInLocation(hourLayout, text, time.Local)
	if err != nil {
		return time.Time{}, &CorruptError{path, fmt.Sprintf("%.40q is not an hour like 2026112004", text)}
	}
	// Where the clocks are set forward within an hour, the beginning of that hour does
	// not exist.
	before, after := t.ZoneBounds()
	switch shown := t.Format(hourLayout); {
	case shown < text:
		return after, nil
	case shown > text:
		return before, nil
	}
	return t, nil
}

// readBounded returns nil, nil for a missing file. What is not a plain file is foreign: ralph never writes it.
func readBounded(in projectfs.Dir, path string) ([]byte, error) {
	data, err := in.Read(path, maxSnapshot)
	refused := projectfs.Refused(err)
	switch {
	case refused != nil && refused.Path == path:
		return nil, &CorruptError{path, "it is " + refused.Is}
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read state: %w", err)
	}
	return data, nil
}
