// Package view folds the state files and the events of a run into one model of
// the run, and puts events into words. The monitor, ralph status and ralph
// iterations show it. It knows no screen and no terminal: everything is plain data
// and clean text without control characters.
package view

import (
	"slices"

	"ralph/state"
)

// Model is a run at one moment: what its state files say now, and what its
// events have told.
type Model struct {
	Snapshot `json:"now"`
	Run      Run `json:"run"`
}

// Update is what one look at a run has brought.
type Update struct {
	Snapshot
	// Past is what the events tell that were rotated away before the first look.
	// It is nil in all later looks, and where there are none.
	Past   *Run
	Events []state.Event // since the look before
	Gap    bool          // events in between that only fill a log were left out
}

// Apply takes what one look has brought.
func (m *Model) Apply(u Update) {
	m.Snapshot = u.Snapshot
	if u.Past != nil {
		m.Run = *u.Past
	}
	for _, e := range u.Events {
		m.Run.Add(e)
	}
	m.Run.settle(m.Alive && (m.Owner.RunID == "" || m.Owner.RunID == m.Run.ID))
}

// Iteration is the number of the iteration that runs or was the last; 0: none
// has begun.
func (m *Model) Iteration() int {
	st := m.Status
	n := st.LoopCount
	if st.Status == state.StatusRunning && st.Rule == "" && !st.IterationStartedAt.IsZero() {
		n++ // it is counted once a rule has decided about it
	}
	if all := m.Run.Iterations; m.Run.ID == st.RunID && len(all) > 0 {
		n = max(n, all[len(all)-1].Number)
	}
	return n
}

// Checks are ralph's own checks as status.json has them, which also knows the one
// that runs; without it as the events tell.
func (m *Model) Checks() []state.CheckStatus {
	if m.Status.RunID != "" {
		return m.Status.Checks
	}
	return m.Run.Checks
}

// Limits are the usage-limit windows that are known.
func (m *Model) Limits() []state.Limit {
	if m.Status.Limit == nil {
		return m.Run.Limits
	}
	return withLimit(slices.Clone(m.Run.Limits), *m.Status.Limit)
}

// withLimit replaces the window of the same name, or adds one. Agents name a
// handful; more would be noise.
func withLimit(all []state.Limit, l state.Limit) []state.Limit {
	const most = 16
	i := slices.IndexFunc(all, func(o state.Limit) bool { return o.Name == l.Name })
	switch {
	case i >= 0:
		all[i] = l
	case len(all) < most:
		all = append(all, l)
	}
	return all
}
