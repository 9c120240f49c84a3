package store

// This file records what people change in a plan, so that no run takes it for the work of
// an agent.

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"ralph/runner/task"
	"ralph/runner/turn/edits"
	"ralph/state"
)

// JournalEdit is one change by a person. Before is nil for a new task.
type JournalEdit struct {
	At     time.Time  `json:"at"`
	Before *task.Task `json:"before,omitempty"`
	After  *task.Task `json:"after,omitempty"`
	Why    string     `json:"why,omitempty"` // the person's reason; empty: none was given
}

// RecordEdit appends an edit to a file.
func RecordEdit(path string, e JournalEdit) error {
	e.At = time.Now()
	line, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("record edit: %w", err)
	}
	if path == "" {
		return nil // without a file for it, the change will count as an agent's
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("record edit: %w", err)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600) // file: outside of the project
	if err != nil {
		return fmt.Errorf("record edit: %w", err)
	}
	_, err = f.Write(append(line, '\n'))
	return errors.Join(err, f.Close())
}

// recorded returns all edits; none, if the file cannot be read.
func recorded(path string) (all []JournalEdit) {
	data, _ := os.ReadFile(path) // file: outside of the project
	for line := range bytes.Lines(data) {
		var e JournalEdit
		if json.Unmarshal(line, &e) == nil {
			all = append(all, e)
		}
	}
	return all
}

// RecordedEdits returns the edits since a moment, each as the plan before and after it.
func RecordedEdits(path string, since time.Time) (all []edits.Edit[Plan]) {
	of := func(t *task.Task) Plan {
		if t == nil {
			return Of(task.List{})
		}
		return Of(task.List{Tasks: []task.Task{*t}})
	}
	for _, e := range recorded(path) {
		if e.At.After(since) {
			all = append(all, edits.Edit[Plan]{Before: of(e.Before), After: of(e.After)})
		}
	}
	return all
}

// JournalReasons returns the latest reasons that people gave for blocking tasks, by id.
func JournalReasons(path string) map[string]string {
	all := map[string]string{}
	for _, e := range recorded(path) {
		if e.After != nil {
			all[e.After.ID] = e.Why
		}
	}
	return all
}

// JournalPeople finds what people have changed in a plan since a moment.
type JournalPeople struct {
	File    File
	From    Plan // as it was then
	Since   time.Time
	Watched []edits.Edit[Plan] // edits that a watch saw
	// Exclusive is true if nobody but people can have written the plan.
	Exclusive bool

	// Plan has their changes, and Changes lists the new and changed tasks. Now sets both.
	Plan    Plan
	Changes []Change
}

// Now looks for changes, and reports whether there are any.
func (p *JournalPeople) Now() (Plan, bool) {
	all := append(slices.Clone(p.Watched), RecordedEdits(p.File.Edits, p.Since)...)
	if p.Exclusive {
		all = []edits.Edit[Plan]{{Before: p.From, After: Read(p.File)}}
	}
	p.Plan, p.Changes = p.From, nil
	for _, e := range all {
		plan, changes := p.Plan.With(e.Before, e.After)
		p.Plan, p.Changes = plan, append(p.Changes, changes...)
	}
	return p.Plan, len(all) > 0
}

// Events returns the changes as events. left describes what an agent did to its own task and what did not get into the
// plan because of them; empty: nothing.
func (p *JournalPeople) Events(own task.Task, left string) (all []state.TaskChange) {
	for _, c := range p.Changes {
		is := state.TaskChanged
		switch {
		case c.New:
			is = state.TaskNew
		case c.Moved:
			is = c.State.String()
		}
		all = append(all, state.TaskChange{ID: c.ID, Title: c.Title, State: is, Person: true,
			Why: "a person edited the plan while the agent worked"})
	}
	if left != "" {
		all = append(all, state.TaskChange{ID: own.ID, Title: own.Title, State: state.TaskChanged, Why: left})
	}
	return all
}
