package monitor

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"ralph/state"
)

// What Snapshot.State can hold beside the values of state.Status.Status.
const (
	StateNone     = "none"     // nothing has run here
	StateStarting = "starting" // a runner holds the lock and has not written its status yet
	StateDead     = "dead"     // the runner ended without a last word
)

// Snapshot is everything that the state files say at one moment.
type Snapshot struct {
	At      time.Time
	Dir     string // the project
	Status  state.Status
	Breaker state.Breaker
	Calls   state.Calls
	Owner   state.Owner
	Alive   bool          // the lock is held
	Age     time.Duration // since status.json was refreshed, never negative
	State   string        // a value of Status.Status, StateNone, StateStarting or StateDead
	// Problems names each state file that cannot be read, one sentence each.
	Problems []string

	badStatus, badBreaker, badCalls bool

	notes []note // what Recall has found
}

// Gather reads the state files. It changes nothing and never fails: what
// cannot be read is zero and named in Problems.
func Gather(r *state.Reader, now time.Time) Snapshot {
	s := Snapshot{At: now, Dir: filepath.Dir(r.Dir())}
	var e1, e2, e3 error
	// The lock comes first: a runner that ends in between has then written its last status.
	s.Owner, s.Alive = r.Owner()
	s.Status, e1 = r.Status()
	s.Breaker, e2 = r.Breaker()
	s.Calls, e3 = r.Calls()
	s.badStatus, s.badBreaker, s.badCalls = e1 != nil, e2 != nil, e3 != nil
	for _, err := range []error{e1, e2, e3} {
		if err == nil {
			continue
		}
		text := err.Error()
		if corrupt := (*state.CorruptError)(nil); errors.As(err, &corrupt) {
			text = fmt.Sprintf("%s is unusable: %s", filepath.Base(corrupt.Path), corrupt.Why)
		}
		s.Problems = append(s.Problems, oneLine(text))
	}
	s.settle()
	return s
}

// Recall adds what was found about the work of this run, the latest three.
// Events that cannot be read add nothing: they are a log, not the state.
func (s Snapshot) Recall(r *state.Reader) Snapshot {
	const most = 3
	_ = backwards(r.EventsPath(), func(line []byte) bool {
		var e state.Event
		if (bytes.Contains(line, []byte(`"rule":"audit"`)) || bytes.Contains(line, []byte(`"rule":"checks"`))) && json.Unmarshal(line, &e) == nil && e.Run == s.Status.RunID {
			if word, _ := proofOf(e); word != "" {
				s.notes = append(s.notes, noteOf(e))
			}
		}
		return len(s.notes) < most
	})
	slices.Reverse(s.notes)
	return s
}

// keep fills what could not be read from the snapshot before.
func (s Snapshot) keep(before Snapshot) Snapshot {
	if s.badStatus {
		s.Status = before.Status
	}
	if s.badBreaker {
		s.Breaker = before.Breaker
	}
	if s.badCalls {
		s.Calls = before.Calls
	}
	s.settle()
	return s
}

// settle derives Age and State.
func (s *Snapshot) settle() {
	s.Age = max(s.At.Sub(s.Status.Timestamp), 0)
	active := false
	switch s.Status.Status {
	case state.StatusRunning, state.StatusWaiting, state.StatusPaused:
		active = true
	}
	switch {
	case s.Alive && s.Owner.RunID != "" && s.Owner.RunID != s.Status.RunID:
		s.State = StateStarting
	case s.Status.Status == "" && s.Alive:
		s.State = StateStarting
	case s.Status.Status == "":
		s.State, s.Age = StateNone, 0
	case active && !s.Alive:
		s.State = StateDead
	default:
		s.State = s.Status.Status
	}
}
