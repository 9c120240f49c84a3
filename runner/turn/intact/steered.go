package intact

import (
	"slices"

	"ralph/runner/audit"
	"ralph/runner/git/command"
	"ralph/runner/turn/steer"
)

// Steered adds to changed files those that steer the run and that git does not see.
func Steered(dir string, files []audit.File, changed []steer.File) []audit.File {
	inProject := command.Relative(dir)
	for _, c := range changed {
		if !slices.ContainsFunc(files, func(f audit.File) bool { return inProject(f.Path) == c.Path }) {
			files = append(files, audit.File(c))
		}
	}
	return files
}
