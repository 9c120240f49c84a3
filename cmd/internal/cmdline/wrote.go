package cmdline

import (
	"path"

	"ralph/state"
)

// Wrote records that a person wrote these files in the state directory of the project, for a run
// whose sandbox cannot lock it.
func (f *Factory) Wrote(dir string, names ...string) {
	inProject := make([]string, len(names))
	for i, name := range names {
		inProject[i] = path.Join(state.DirName, name)
	}
	f.WroteInProject(dir, inProject...)
}

// WroteInProject is Wrote for names relative to the project.
func (f *Factory) WroteInProject(dir string, names ...string) {
	record := state.PeopleRecordPath(f.Loader(dir, nil).PlanEditsPath())
	if err := state.RecordPeople(record, dir, names...); err != nil {
		f.Warn(err)
	}
}
