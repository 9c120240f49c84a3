package scaffold

import (
	"fmt"
	"slices"
	"strings"

	"ralph/logs/termtext"
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
	return p.Checks()
}

// Checks returns the commands for which the project's files are evidence.
func (p Project) Checks() []gate.Check {
	if rows := checksOf(p.Parts); len(rows) > 0 {
		return append(rows, checksOf(p.uncovered())...)
	}
	return checksOf(p.Subprojects)
}

// uncovered returns the folders that the root's commands do not cover: packages of a workspace, folders in languages that
// the root lacks, and those with tests if the root has none in their language. A makefile with tests covers all others.
func (p Project) uncovered() []Part {
	makefile := !slices.ContainsFunc(p.Parts, func(part Part) bool { return !part.general() })
	left := map[string]bool{}
	for _, sub := range p.Subprojects {
		covered := slices.ContainsFunc(p.Parts, func(part Part) bool {
			return (makefile || part.Language == sub.Language) && (part.Test != "" || sub.Test == "")
		})
		if sub.Apart || !covered && !sub.general() {
			left[sub.Dir] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(p.Subprojects), func(sub Part) bool { return !left[sub.Dir] })
}

// general reports whether the part is not a language.
func (p Part) general() bool { return p.Language == "Make" || p.Language == "Shell" }

// checksOf returns a row for each sure command, each with a name of its own. In a folder, a general tool only fills
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
			name := checkName(c.name, part.Dir)
			row := gate.Check{Name: name, Kind: c.kind, Dir: part.Dir, Command: c.command}
			taken := func() bool { return slices.ContainsFunc(rows, func(r gate.Check) bool { return r.Name == row.Name }) }
			if c.command == "" || slices.ContainsFunc(rows, func(r gate.Check) bool {
				return r.Dir == row.Dir && (r.Command == row.Command || part.general() && r.Name == name)
			}) {
				continue
			}
			if taken() {
				row.Name += " " + part.Language
			}
			for n := 2; taken(); n++ {
				row.Name = fmt.Sprintf("%s %d", name, n)
			}
			rows = append(rows, row)
		}
	}
	return rows
}

// checkName names a check by its folder, of which a name has place only for the end if its path is long.
func checkName(kind, dir string) string {
	name := strings.TrimSpace(kind + " " + termtext.Line(dir))
	if len(name) > 64 {
		name = kind + " ..." + strings.ToValidUTF8(name[len(name)-48:], "")
	}
	return name
}
