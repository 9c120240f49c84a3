package gate

import (
	"slices"

	"ralph/runner/gate/workspace"
)

// Affected returns the checks that changed files ask for, with slash paths
// relative to dir. A check of a whole workspace (go.work, npm, pnpm, yarn,
// cargo, uv) becomes one for each package that was touched or that depends on a
// touched one; a check with a folder of its own stays if that was touched. All
// other checks stay as they are.
func Affected(dir string, changed []string, checks []Check) []Check {
	all, touched := split(dir, checks)
	affected := touched(changed)
	return slices.DeleteFunc(all, func(c Check) bool { return !affected(c) })
}

// split makes rows for each package out of rows for a whole workspace. touched
// tells of each row whether changed files ask for it.
func split(dir string, checks []Check) (all []Check, touched func(changed []string) func(Check) bool) {
	w := workspace.Open(dir)
	for _, c := range checks {
		var parts []workspace.Part
		if c.Dir == "" {
			parts = w.Parts(c.Command)
		}
		if len(parts) == 0 {
			all = append(all, c)
		}
		for _, p := range parts {
			row := c
			row.Name, row.Dir, row.Command = c.Name+" "+p.Dir, p.Dir, p.Command
			all = append(all, row)
		}
	}
	for _, c := range all {
		if c.Dir != "" {
			w.Add(c.Dir)
		}
	}
	return all, func(changed []string) func(Check) bool {
		touched := w.Touched(changed)
		return func(c Check) bool { return c.Dir == "" || touched(c.Dir) }
	}
}
