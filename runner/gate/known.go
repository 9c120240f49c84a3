package gate

// This file has the checks of a project and what is known about them, and saves what the next run needs.

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"syscall"

	"ralph/runner/gate/report"
	"ralph/state"
	"ralph/state/projectfs"
)

// Known are the project's own checks and all that is known about them. The zero value: there are none.
type Known struct {
	Rows     []Check `json:"rows,omitempty"`
	Mode     Mode    `json:"mode,omitempty"` // also of checks that are still to be found
	FailFast bool    `json:"fail_fast,omitempty"`
	// Scope is what a baseline is valid for: the project (global), a task, or else a run.
	Scope string `json:"scope,omitempty"`
	// Detect asks the turn to look for checks when there are none yet.
	Detect bool `json:"detect,omitempty"`
	// Everything asks for every check, because it is not known what has changed. A
	// turn that calls the agent follows it only when the plan has nothing left.
	Everything bool `json:"everything,omitempty"`

	Baseline *Baseline `json:"baseline,omitempty"`
	Memory   Memory    `json:"memory,omitzero"`
	// Findings are those that were reported last. A finding is not reported again
	// while it stays the same.
	Findings []string `json:"findings,omitempty"`
}

// Gated is true when a check can keep a task from counting as done.
func (c Known) Gated() bool {
	return c.Mode != ModeReport && slices.ContainsFunc(c.Rows, Check.Required)
}

// NeedBaseline is true when there are checks and no valid baseline.
func (c Known) NeedBaseline(from state.Origin) bool {
	b := c.Baseline
	switch {
	case len(c.Rows) == 0:
		return false
	case b == nil || b.TakenAt.IsZero():
		return true
	}
	return c.Scope != "global" && b.Run != from.Run || c.Scope == "task" && from.Task != "" && b.Task != from.Task
}

// Clone copies everything that a turn changes.
func (c Known) Clone() Known {
	c.Baseline, c.Memory = c.Baseline.Clone(), c.Memory.Clone()
	return c
}

// Recount forgets how many tests a check had under another command: a person changed it between two runs.
func Recount(b *Baseline, checks []Check) {
	if b == nil {
		return
	}
	for _, c := range checks {
		if e, known := b.Checks[c.Name]; known && e.Command != "" && e.Command != c.Command {
			e.Command, e.Tally = c.Command, report.Tally{}
			b.Checks[c.Name] = e
		}
	}
}

// SaveKnown writes the baseline. A folder that the agent removed is not an error: the run makes it again.
func SaveKnown(dir string, c Known) error {
	if c.Baseline == nil || c.Baseline.TakenAt.IsZero() {
		return nil
	}
	err := c.Baseline.Write(filepath.Join(dir, BaselineFile))
	if FolderGone(err) {
		return nil
	}
	return err
}

// FolderGone is true when the folder of a file is not there, or something else is in its place: the next event repairs that.
func FolderGone(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || projectfs.InPlaceOfFolder(err)
}
