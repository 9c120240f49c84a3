package scaffold

import (
	"slices"
	"strings"

	"ralph/runner/gate"
)

// Checks returns the commands for which the project's files are evidence: those of its
// root, or if there are none, of the folders with a manifest. has reports whether a
// program is on PATH.
func Checks(dir string, has func(program string) bool) []gate.Check {
	p, err := Detect(dir, has)
	if err != nil {
		return nil // unreadable files are not evidence
	}
	if rows := checksOf(p.Parts); len(rows) > 0 {
		return append(rows, checksOf(p.uncovered())...)
	}
	return checksOf(p.Subprojects)
}

// uncovered returns the folders that the root's commands do not cover: packages of a workspace, and folders in languages
// that the root lacks. A makefile in the root covers all.
func (p Project) uncovered() []Part {
	if !slices.ContainsFunc(p.Parts, func(part Part) bool { return !part.general() }) {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(p.Subprojects), func(sub Part) bool {
		return sub.general() || !sub.Apart && slices.ContainsFunc(p.Parts,
			func(part Part) bool { return part.Language == sub.Language })
	})
}

// general reports whether the part is not a language.
func (p Part) general() bool { return p.Language == "Make" || p.Language == "Shell" }

// checksOf returns a row for each sure command. In a folder, a general tool only fills
// gaps: its rules run the same programs.
func checksOf(parts []Part) []gate.Check {
	var rows []gate.Check
	for _, part := range parts {
		for _, c := range []struct {
			name    string
			kind    gate.Kind
			command string
		}{
			{"lint-fast", gate.KindLintFast, part.Fast}, {"build", gate.KindBuild, part.Build},
			{"typecheck", gate.KindBuild, part.Types},
			{"test", gate.KindTest, part.Test}, {"lint", gate.KindLint, part.Lint},
		} {
			name := strings.TrimSpace(c.name + " " + part.Dir)
			row := gate.Check{Name: name, Kind: c.kind, Dir: part.Dir, Command: c.command}
			same := func(r gate.Check) bool { return r.Dir == row.Dir && r.Command == row.Command }
			if slices.ContainsFunc(rows, same) {
				continue
			}
			if slices.ContainsFunc(rows, func(r gate.Check) bool { return r.Name == name }) {
				if part.general() {
					continue
				}
				row.Name += " " + part.Language
			}
			if c.command != "" && row.Validate() == nil { // a folder's path can be too long for a name
				rows = append(rows, row)
			}
		}
	}
	return rows
}
