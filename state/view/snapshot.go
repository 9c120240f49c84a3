package view

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"ralph/logs/termtext"
	"ralph/state"
)

// What Snapshot.State can hold besides the values of state.Status.Status.
const (
	StateNone     = "none"     // nothing has run here
	StateStarting = "starting" // a runner holds the lock but has not written its status yet
	StateCrashed  = "crashed"  // the runner died: its status still says that it works, waits or is paused
)

// Snapshot is the content of the state files at one moment.
type Snapshot struct {
	At      time.Time     `json:"at"`
	Dir     string        `json:"dir"` // the project
	Status  state.Status  `json:"status"`
	Breaker state.Breaker `json:"breaker"`
	Calls   state.Calls   `json:"calls"`
	Owner   state.Owner   `json:"owner"`
	Alive   bool          `json:"alive"` // the lock is held
	// Age is the time since status.json was refreshed, in nanoseconds; never negative.
	Age   time.Duration `json:"age_ns"`
	State string        `json:"state"` // a value of Status.Status, StateNone, StateStarting or StateCrashed
	// Ending says how the run ended. It is meaningless while the runner is alive.
	Ending state.Ending `json:"ending"`
	Wait   Wait         `json:"wait,omitzero"`
	// Next is the agent that a person chose since the latest turn began; zero: none.
	Next state.AgentUse `json:"next_agent,omitzero"`
	// Problems names each state file that cannot be read, one sentence each.
	Problems []string `json:"problems,omitempty"`

	badStatus, badBreaker, badCalls bool
}

// Wait is what a run waits for. Zero: it does not wait.
type Wait struct {
	Rule   string    `json:"rule"` // why it waits; "paused": until ralph resume
	Reason string    `json:"reason,omitempty"`
	Window string    `json:"window,omitempty"` // name of the usage-limit window
	Until  time.Time `json:"until,omitzero"`   // zero: unknown
}

// Gather reads the state files. It never fails: what it cannot read is zero and named in
// Problems.
func Gather(r *state.Reader, now time.Time) Snapshot {
	s := Snapshot{At: now, Dir: filepath.Dir(r.Dir())}
	var e1, e2, e3 error
	// Read the lock first: a runner that ends after that has written its last status.
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
		if corrupt, ok := errors.AsType[*state.CorruptError](err); ok {
			text = fmt.Sprintf("%s is unusable: %s", filepath.Base(corrupt.Path), corrupt.Why)
		}
		s.Problems = append(s.Problems, termtext.Line(text))
	}
	if use, ok := r.AgentUse(s.Owner.RunID); ok && s.Alive && s.Status.IterationStartedAt.Before(use.At) {
		s.Next = use
	}
	if asked := r.Asked(); s.Alive && s.Status.Active() && s.Status.Status != state.StatusPaused && asked != "" {
		s.Status.Pending = asked
	}
	return s.Settled()
}

// Keep fills in what could not be read from an earlier snapshot.
func (s Snapshot) Keep(before Snapshot) Snapshot {
	if s.badStatus {
		s.Status = before.Status
	}
	if s.badBreaker {
		s.Breaker = before.Breaker
	}
	if s.badCalls {
		s.Calls = before.Calls
	}
	return s.Settled()
}

// Settled derives Age, State, Ending and Wait from the rest.
func (s Snapshot) Settled() Snapshot {
	st := s.Status
	s.Age, s.Ending, s.Wait = max(s.At.Sub(st.Timestamp), 0), st.Ending(), Wait{}
	switch {
	case s.Alive && (st.Status == "" || s.Owner.RunID != "" && s.Owner.RunID != st.RunID):
		s.State = StateStarting
	case st.Status == "":
		s.State, s.Age = StateNone, 0
	case st.Active() && !s.Alive:
		s.State = StateCrashed
	default:
		s.State = st.Word()
	}
	switch s.State {
	case state.StatusPaused:
		s.Wait = Wait{Rule: state.RulePaused, Reason: st.Reason}
	case state.StatusWaiting:
		s.Wait = Wait{Rule: st.Rule, Reason: st.Reason, Until: st.WakeAt}
		if st.Limit != nil && st.Rule == state.RuleUsageLimit {
			s.Wait.Window = st.Limit.Name
		}
	}
	return s
}

// Active reports whether the runner is alive and the run works, waits or is paused.
func (s Snapshot) Active() bool { return s.Status.Active() && s.State == s.Status.Status }

// Reopened reports whether the run had completed, and a part of it was undone since: its work is not complete now.
func (s Snapshot) Reopened() bool {
	done := s.Status.Task.Total > 0 && s.Status.Task.Done >= s.Status.Task.Total
	return s.State == state.StatusCompleted && s.Ending == state.EndingUndone && !done
}
