package gate

// split returns the checks as a Suite runs them: a check of a whole workspace
// (go.work, npm, pnpm, yarn, cargo, uv) becomes one for each package. The func reports for changed files (slash paths
// relative to dir) whether a row has to run: its package has changed, or depends
// on one that has. A row without a folder always has to.
func split(dir string, checks []Check) (all []Check, touched func(changed []string) func(Check) bool) {
	w := openWorkspaces(dir)
	for _, c := range checks {
		var parts []workspacePart
		if c.Dir == "" {
			parts = w.Parts(c.Command)
		} else {
			w.Add(c.Dir)
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
	return all, func(changed []string) func(Check) bool {
		touched := w.Touched(changed)
		return func(c Check) bool { return c.Dir == "" || touched(c.Dir) }
	}
}
