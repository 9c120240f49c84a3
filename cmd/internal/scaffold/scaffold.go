// Package scaffold detects how a repository is built and tested and writes ralph's first
// files for it.
//
//	Detect  files -> Project         table.go has one row for each kind of project
//	Checks  Project -> checks
//	Files   Project + Answers -> texts
//	Write   writes all of the texts, or none
package scaffold

import (
	"cmp"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"ralph/logs/termtext"
	"ralph/runner/agent"
	"ralph/runner/gate"
)

// Part is one language, or tool, in one folder, and its commands: shell command lines for which the folder's files are
// evidence, and whose programs exist. Empty: none is known.
type Part struct {
	Dir      string // slash path below the project; empty: the project itself
	Apart    bool   // a package of a workspace, which the root's commands leave out
	Language string
	Setup    string
	Build    string
	Types    string // check of types beside the build
	Test     string
	Fast     string // linter that takes seconds; checks begin with it
	Lint     string
	Allow    []string // prefixes of the commands that its developers use
}

// Project is what was found in a repository.
type Project struct {
	Name        string   // of its folder
	Parts       []Part   // of the root, the most significant first; empty: nothing was recognized
	Subprojects []Part   // of folders with their own manifest, sorted
	Guides      []string // instructions for agents that the repository has
	Bare        bool     // no code yet: at most documents and manifests
	Wants       string   // the variable without which make test fails; empty: none
}

// Detect reads the files below dir. It runs nothing. has reports whether a
// program is on PATH.
func Detect(dir string, has func(program string) bool) (Project, error) {
	f, err := open(dir, has)
	if err != nil {
		return Project{}, err
	}
	p := Project{Name: name(dir), Parts: f.parts(""), Bare: !slices.ContainsFunc(f.files, IsCode)}
	_, p.Wants = f.target("test")
	for _, guide := range []string{"AGENTS.md", "CLAUDE.md", "CONTRIBUTING.md", "README.md"} {
		if slices.Contains(f.files, guide) {
			p.Guides = append(p.Guides, guide)
		}
	}
	for _, sub := range f.subfolders() {
		below, err := open(filepath.Join(dir, filepath.FromSlash(sub)), has)
		if err != nil {
			return Project{}, err
		}
		below.root = f
		for _, part := range below.parts(sub) {
			part.Apart = slices.ContainsFunc(table(), func(r row) bool {
				return r.Language == part.Language && r.Apart != nil && r.Apart(f, sub)
			})
			p.Subprojects = append(p.Subprojects, part)
		}
	}
	return p, nil
}

// AffectsDetect reports whether a change to the file can change the result of Detect.
func AffectsDetect(file string) bool {
	return IsCode(file) || isManifest(file)
}

// isManifest reports whether a file makes its folder a project of its own.
func isManifest(file string) bool {
	return slices.ContainsFunc(table(), func(r row) bool { return slices.Contains(r.Manifests, path.Base(file)) })
}

// IsCode reports whether a file is not a document, manifest or setting.
func IsCode(file string) bool {
	ext := path.Ext(file)
	return ext != "" && !strings.HasPrefix(path.Base(file), ".") &&
		!slices.Contains([]string{
			".md", ".txt", ".rst", ".adoc", ".json", ".toml", ".yaml", ".yml", ".lock", ".mod", ".sum", ".xml", ".ini",
			".cfg",
		}, ext)
}

func name(dir string) string {
	base := strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, filepath.Base(dir))
	if strings.Trim(base, "./ ") == "" {
		return "project"
	}
	return base
}

// Languages returns the languages of the project, those of subprojects last.
func (p Project) Languages() []string {
	var all []string
	for _, part := range slices.Concat(p.Parts, p.Subprojects) {
		if !slices.Contains(all, part.Language) {
			all = append(all, part.Language)
		}
	}
	return all
}

// Commands returns those of the whole project: of each kind, the first of its parts.
func (p Project) Commands() (all Part) {
	for _, part := range p.Parts {
		all.Build, all.Types = cmp.Or(all.Build, part.Build), cmp.Or(all.Types, part.Types)
		all.Test = cmp.Or(all.Test, part.Test)
		all.Fast, all.Lint = cmp.Or(all.Fast, part.Fast), cmp.Or(all.Lint, part.Lint)
	}
	return all
}

// parts matches the table. The first row of a language wins.
func (f *folder) parts(dir string) []Part {
	var parts []Part
	for _, r := range table() {
		known := slices.ContainsFunc(parts, func(p Part) bool { return p.Language == r.Language })
		if known || !r.When(f) {
			continue
		}
		parts = append(parts, Part{
			Dir: dir, Language: r.Language, Allow: r.Allow,
			Setup: f.choose(r.Setup), Build: f.choose(r.Build), Test: f.choose(r.Test), Lint: f.choose(r.Lint),
			Types: f.choose(r.Types), Fast: f.choose(r.Fast),
		})
	}
	return parts
}

// choose returns the first command with evidence and a program; empty: none.
func (f *folder) choose(candidates []candidate) string {
	for _, c := range candidates {
		if c.When(f) && f.canRun(c.Line) {
			return c.Line
		}
	}
	return ""
}

// Tools returns the allowed tools plus those for the project's commands: an agent that
// may not run the tests cannot check its work.
func (p Project) Tools(allowed []string, commands ...string) []string {
	var prefixes, more []string
	for _, part := range slices.Concat(p.Parts, p.Subprojects) {
		for _, prefix := range part.Allow {
			prefixes = append(prefixes, prefix)
			more = append(more, "Bash("+prefix+":*)")
		}
	}
	for _, line := range commands {
		covered := slices.ContainsFunc(prefixes, func(prefix string) bool {
			return strings.HasPrefix(line+" ",
				prefix+" ")
		})
		if line != "" && !covered {
			more = append(more, agent.AllowEntry("Bash", line))
		}
	}
	slices.Sort(more)
	more = slices.DeleteFunc(slices.Compact(more), func(entry string) bool { return slices.Contains(allowed, entry) })
	return slices.Concat(allowed, more)
}

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
