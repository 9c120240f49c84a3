package cmdline

import (
	"path/filepath"

	"ralph/state"
	"ralph/state/people"
)

// Wrote records that a person wrote these files in the state directory of the project, for a run
// whose sandbox cannot lock it.
func (f *Factory) Wrote(dir string, names ...string) {
	record := people.Beside(f.Loader(dir, nil).PlanEditsPath())
	if err := people.Record(record, filepath.Join(dir, state.DirName), names...); err != nil {
		f.Warn(err)
	}
}
