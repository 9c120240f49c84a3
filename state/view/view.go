// Package view folds the state files and the events of a run into one model, and
// formats events as text. The monitor, ralph status and ralph iterations show it. It
// does not depend on a terminal: its output is plain data and text without control
// characters.
package view

import (
	"slices"

	"ralph/state"
)

// Model is a run at one moment: its state files and the events so far.
type Model struct {
	Snapshot `json:"now"`
	Run      Run    `json:"run"`
	begun    int    // the latest iteration, as Recall found it
	task     string // of that iteration
}

// Update is what changed since the last look at a run.
type Update struct {
	Snapshot
	// Past has the events in rotated files. It is nil if there are none, and in every
	// update after the first.
	Past   *Run
	Events []state.Event // since the last update
	Gap    bool          // events that only fill the log were skipped
	// Early is the end of a long log, before the events that precede it; only for the log.
	Early []state.Event
	Thin  bool // Events are only those that a Run needs; the log has Early instead
}

// LogEvents returns the events of the update for a log.
func (u Update) LogEvents() []state.Event {
	if u.Thin {
		return u.Early
	}
	return append(u.Early, u.Events...)
}

// Apply brings the model up to date.
func (m *Model) Apply(u Update) {
	m.Snapshot = u.Snapshot
	if u.Past != nil {
		m.Run = *u.Past
	}
	for _, e := range u.Events {
		m.Run.Add(e)
	}
	m.Run.Settle(m.Alive && (m.Owner.RunID == "" || m.Owner.RunID == m.Run.ID))
}

// Iteration returns the number of the running or the last iteration; 0 before the first.
func (m *Model) Iteration() int {
	n := m.Status.Iteration()
	if all := m.Run.Iterations; m.Run.ID == m.Status.RunID && len(all) > 0 {
		n = max(n, all[len(all)-1].Number)
	}
	return max(n, m.begun)
}

// LatestTask is the id of the task of the latest iteration. known: there is an iteration.
func (m *Model) LatestTask() (id string, known bool) {
	if n := len(m.Run.Iterations); n > 0 {
		return m.Run.Iterations[n-1].TaskID, true
	}
	return m.task, m.begun > 0
}

// Checks returns the project's checks. They come from status.json, which also has the
// running one, or without it from the events.
func (m *Model) Checks() []state.CheckStatus {
	if m.Status.RunID != "" {
		return m.Status.Checks
	}
	return m.Run.Checks
}

// Limits returns the known usage-limit windows.
func (m *Model) Limits() []state.Limit {
	if m.Status.Limit == nil {
		return m.Run.Limits
	}
	return withLimit(slices.Clone(m.Run.Limits), *m.Status.Limit)
}

// withLimit replaces the window of the same name or adds one. Agents have a handful;
// the bound protects against made-up names.
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
