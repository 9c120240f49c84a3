package cli

import (
	"os/exec"
	"slices"
	"strings"

	"ralph/cmd/internal/scaffold"
	"ralph/config"
	"ralph/runner/gate"
)

// checks are the rows of a run: the listed checks, else the commands of the
// options, else what the project's files show; detected is true for the last.
// Each is valid, and no two have one name.
func (a *app) checks(dir string, cfg *config.Config) (rows []gate.Check, detected bool) {
	if rows = cfg.Checks(); len(rows) > 0 {
		return rows, false
	}
	for _, c := range []gate.Check{
		{Name: "build", Kind: gate.KindBuild, Command: cfg.BuildCommand},
		{Name: "test", Kind: gate.KindTest, Command: cfg.TestCommand},
		{Name: "lint", Kind: gate.KindLint, Command: cfg.LintCommand},
	} {
		if c.Command != "" {
			rows = append(rows, c)
		}
	}
	if len(rows) > 0 || !cfg.DetectChecks {
		return rows, false
	}
	rows = detectChecks(dir, onPath)
	return rows, len(rows) > 0
}

func onPath(program string) bool { _, err := exec.LookPath(program); return err == nil }

// laterChecks looks again in a project that shows no checks yet, whenever code
// or a manifest has changed; nil where nothing is to be looked for.
func laterChecks(dir string, cfg *config.Config, rows []gate.Check) func([]string) ([]gate.Check, gate.Mode) {
	if len(rows) > 0 || !cfg.DetectChecks {
		return nil
	}
	return func(changed []string) ([]gate.Check, gate.Mode) {
		if !slices.ContainsFunc(changed, scaffold.Telling) {
			return nil, ""
		}
		return detectChecks(dir, onPath), mode(cfg, true)
	}
}

// mode is which failures block. What nobody asked for may have been red for
// long: it must only not get worse.
func mode(cfg *config.Config, detected bool) gate.Mode {
	switch {
	case cfg.TestMode != "":
		return gate.Mode(cfg.TestMode)
	case detected:
		return gate.ModeTDD
	}
	return gate.ModeGate
}

// detectChecks are the commands that the project's files are evidence for: of
// its root, or, where that has none, of the folders with a manifest.
func detectChecks(dir string, has func(program string) bool) []gate.Check {
	p, err := scaffold.Detect(dir, has)
	if err != nil {
		return nil // what cannot be read shows nothing
	}
	if rows := rowsOf(p.Parts); len(rows) > 0 {
		return append(rows, rowsOf(otherLanguages(p))...)
	}
	return rowsOf(p.Subprojects)
}

// otherLanguages are the folders whose language the root does not have: its
// commands do not reach them. A makefile in the root reaches all.
func otherLanguages(p scaffold.Project) []scaffold.Part {
	general := func(part scaffold.Part) bool { return slices.Contains(generalTools, part.Language) }
	if !slices.ContainsFunc(p.Parts, func(part scaffold.Part) bool { return !general(part) }) {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(p.Subprojects), func(sub scaffold.Part) bool {
		return general(sub) || slices.ContainsFunc(p.Parts, func(part scaffold.Part) bool { return part.Language == sub.Language })
	})
}

// generalTools belong to no language.
var generalTools = []string{"Make", "Shell"}

// rowsOf makes a row of each command that is sure. In one folder, a tool that
// belongs to no language only fills the gaps: its rules run the same programs.
func rowsOf(parts []scaffold.Part) []gate.Check {
	var rows []gate.Check
	for _, part := range parts {
		general := slices.Contains(generalTools, part.Language)
		for _, c := range []struct {
			kind    gate.Kind
			command scaffold.Command
		}{{gate.KindBuild, part.Build}, {gate.KindTest, part.Test}, {gate.KindLint, part.Lint}} {
			row := gate.Check{Name: strings.TrimSpace(string(c.kind) + " " + part.Dir), Kind: c.kind, Dir: part.Dir, Command: c.command.Line}
			if taken := slices.ContainsFunc(rows, func(r gate.Check) bool { return r.Name == row.Name }); taken && general {
				continue
			} else if taken {
				row.Name += " " + part.Language
			}
			if c.command.Sure && row.Validate() == nil { // the path of a folder can be too long for a name
				rows = append(rows, row)
			}
		}
	}
	return rows
}
