// Package checkbook keeps what the checks have to know in the next run.
package checkbook

import (
	"errors"
	"io/fs"
	"path/filepath"
	"syscall"

	"github.com/hashicorp/go-hclog"

	"ralph/logs"
	"ralph/runner/gate"
	"ralph/runner/gate/report"
	"ralph/runner/turn"
)

// Read reads what is known about the checks of a project. A file that cannot be used is set
// aside.
func Read(dir string, log hclog.Logger) (*gate.Baseline, *gate.Flakes) {
	baseline, err1 := gate.ReadBaseline(filepath.Join(dir, gate.BaselineFile))
	flakes, err2 := gate.ReadFlakes(filepath.Join(dir, gate.FlakesFile))
	for _, err := range []error{err1, err2} {
		if err != nil {
			log.Warn("set aside", logs.KeyError, err)
		}
	}
	return baseline, flakes
}

// Recount forgets how many tests a check had under another command: a person changed it between two runs.
func Recount(b *gate.Baseline, checks []gate.Check) {
	for _, c := range checks {
		if b == nil {
			return
		}
		if e, known := b.Checks[c.Name]; known && e.Command != "" && e.Command != c.Command {
			e.Command, e.Tally = c.Command, report.Tally{}
			b.Checks[c.Name] = e
		}
	}
}

// Save writes the baseline and the known flaky tests. A folder that the agent removed is not an error: the run
// makes it again.
func Save(dir string, c turn.Checks) error {
	if b := c.Baseline; b != nil && !b.TakenAt.IsZero() {
		if err := b.Write(filepath.Join(dir, gate.BaselineFile)); err != nil && !Gone(err) {
			return err
		}
	}
	if f := c.Flakes; f != nil {
		if err := f.Write(filepath.Join(dir, gate.FlakesFile)); err != nil && !Gone(err) {
			return err
		}
	}
	return nil
}

// Gone is true when the folder of a file is not there.
func Gone(err error) bool { return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) }
