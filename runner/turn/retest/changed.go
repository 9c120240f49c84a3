package retest

import (
	"fmt"
	"path"
	"slices"

	"ralph/logs/termtext"
	"ralph/runner/audit"
	"ralph/runner/git"
)

// maxChanged bounds the files that changedTests lists, and the tests of each.
const maxChanged = 10

// changedTests lists the files of tests that existed and had lines that are changed or gone now, each with the names of
// those tests, as far as they are known. A file that was only moved is not one of them.
func changedTests(files []git.Text) (all []string) {
	more := 0
	for _, f := range files {
		if path.Ext(f.Path) == ".rs" && !isTest(f.Path) { // its tests are among the code
			_, f.Before, _ = audit.Inline(f.Before)
			_, f.After, _ = audit.Inline(f.After)
		} else if !isTest(f.Path) {
			continue
		}
		moved := func(o git.Text) bool { return !f.Exists && !o.Existed && !audit.LosesLines(f.Before, o.After) }
		if !f.Existed || !audit.LosesLines(f.Before, f.After) || slices.ContainsFunc(files, moved) {
			continue
		}
		if len(all) == maxChanged {
			more++
			continue
		}
		what := f.Path
		if names := audit.ChangedTests(f); !f.Exists {
			what += " (deleted)"
		} else if len(names) > 0 {
			what += " (" + termtext.Some(names, maxChanged) + ")"
		}
		all = append(all, what)
	}
	if more > 0 {
		all = append(all, fmt.Sprintf("and %d more", more))
	}
	return all
}
