package state

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// maxSnapshot is the size limit of a state file in bytes. ralph itself writes a few
// kilobytes.
const maxSnapshot = 1 << 20

// CorruptError reports a state file that ralph cannot have written: empty, torn,
// invalid or huge.
type CorruptError struct {
	Path string
	Why  string
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("state file %q is unusable: %s", e.Path, e.Why)
}

// Status reads status.json. It is zero if nothing has run here.
func (r *Reader) Status() (Status, error) {
	return readJSON(r.path(fileStatus), func(s Status) string {
		if s.RunID != "" && !isRunID(s.RunID) {
			return fmt.Sprintf("invalid run_id %.40q", s.RunID)
		}
		if s.LoopCount < 0 || s.CallsThisHour < 0 {
			return "negative count"
		}
		return ""
	})
}

// Breaker reads the circuit breaker. A missing file means a closed breaker.
func (r *Reader) Breaker() (Breaker, error) {
	b, err := readJSON(r.path(fileBreaker), func(b Breaker) string {
		if !slices.Contains([]string{BreakerClosed, BreakerHalfOpen, BreakerOpen}, b.State) {
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

// Session reads the agent session to resume. It is zero if there is none.
func (r *Reader) Session() (Session, error) {
	return readJSON(r.path(fileSession), func(s Session) string {
		odd := func(c rune) bool { return unicode.IsControl(c) || strings.ContainsRune(" {}\"", c) }
		if strings.ContainsFunc(s.SessionID, odd) || strings.HasPrefix(s.SessionID, "-") || len(s.SessionID) > 256 {
			return "invalid session_id"
		}
		return ""
	})
}

// Signals reads the exit signals of the current run.
func (r *Reader) Signals() (Signals, error) {
	return readJSON(r.path(fileSignals), func(Signals) string { return "" })
}

// Calls reads the counters of the clock hour in which they were written. The
// caller compares Hour with the current hour.
func (r *Reader) Calls() (Calls, error) {
	calls, err1 := readCount(r.path(fileCalls), 1<<31)
	tokens, err2 := readCount(r.path(fileTokens), 1<<53)
	hour, err3 := readHour(r.path(fileReset))
	return Calls{hour, int(calls), tokens}, errors.Join(err1, err2, err3)
}

// History reads the breaker's transitions, oldest first. It skips invalid lines.
func (r *Reader) History() ([]BreakerChange, error) {
	data, err := readBounded(r.path(fileHistory))
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

// RunFlags reads the command line of a run. It is empty for an unknown run.
func (r *Reader) RunFlags(run string) ([]string, error) {
	return readJSON(filepath.Join(r.RunDir(run), fileFlags), func([]string) string { return "" })
}

// readJSON returns the zero value for a missing file. check says what is wrong with
// a value that parses.
func readJSON[T any](path string, check func(T) string) (T, error) {
	var v, zero T
	data, err := readBounded(path)
	if err != nil || data == nil {
		return zero, err
	}
	why := ""
	if len(bytes.TrimSpace(data)) == 0 {
		why = "empty"
	} else if err := json.Unmarshal(data, &v); err != nil {
		why = err.Error()
	} else {
		why = check(v)
	}
	if why != "" {
		return zero, &CorruptError{path, why}
	}
	return v, nil
}

// readCount reads a decimal number from 0 to limit.
func readCount(path string, limit int64) (int64, error) {
	data, err := readBounded(path)
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

func readHour(path string) (time.Time, error) {
	data, err := readBounded(path)
	if err != nil || data == nil {
		return time.Time{}, err
	}
	text := strings.TrimSpace(string(data))
	t, err := time.ParseInLocation(hourLayout, text, time.Local)
	if err != nil {
		return time.Time{}, &CorruptError{path, fmt.Sprintf("%.40q is not an hour like 2026112004", text)}
	}
	// Where clocks are set forward in the middle of an hour, the start of that hour
	// does not exist.
	before, after := t.ZoneBounds()
	switch shown := t.Format(hourLayout); {
	case shown < text:
		return after, nil
	case shown > text:
		return before, nil
	}
	return t, nil
}

// readBounded returns nil, nil for a missing file. It does not follow a symbolic
// link: ralph never writes one, and it could lead out of the project.
func readBounded(path string) ([]byte, error) {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read state: %w", err)
	case !info.Mode().IsRegular():
		return nil, &CorruptError{path, "not a regular file"}
	case info.Size() > maxSnapshot:
		return nil, &CorruptError{path, "larger than 1 MiB"}
	}
	data, err := ReadFile(path, maxSnapshot)
	if err != nil {
		return nil, fmt.Errorf("read state: %w", err)
	}
	return data, nil
}
