package gate

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// row says what one program needs.
type row struct {
	commands []string // the command starts one of these; none: any command
	says     string   // its output has this; empty: any output
	needs    []string // globs: a file in the project with such a name
	not      []string // globs of names that do not count
	above    bool     // a folder above the project may have it, too
	why      string
}

func rows() []row {
	return []row{
		{commands: []string{"go"}, needs: []string{"go.mod", "go.work"}, above: true, why: "there is no go.mod"},
		{commands: []string{"go"}, says: "[setup failed]", needs: []string{"*.go"}, not: []string{"*_test.go"},
			why: "there is no Go code besides tests"},
		{commands: []string{"npm", "pnpm", "yarn", "bun"}, needs: []string{"package.json"}, above: true,
			why: "there is no package.json"},
		{commands: []string{"cargo"}, needs: []string{"Cargo.toml"}, above: true, why: "there is no Cargo.toml"},
		{commands: []string{"pytest"}, needs: []string{"*test*.py"}, why: "there is no test"},
		{says: "No rule to make target", needs: []string{"GNUmakefile", "makefile", "Makefile"},
			why: "there is no makefile"},
	}
}

// maxFiles limits how many files of a project Why looks at.
const maxFiles = 100_000

// whyUnneeded returns why the command, which failed in dir with this output, does not apply yet; empty: it does. top is the
// project.
func whyUnneeded(top, dir, command, output string) string {
	for _, r := range rows() {
		if !strings.Contains(output, r.says) || !r.starts(command) {
			continue
		}
		if !r.found(dir) && !r.found(top) && !(r.above && r.foundAbove(top)) {
			return r.why
		}
	}
	return ""
}

// starts reports whether one of the words of the command is one of r's programs.
func (r row) starts(command string) bool {
	words := regexp.MustCompile(`[^\w./-]+`).Split(command, -1)
	return len(r.commands) == 0 || slices.ContainsFunc(words, func(word string) bool {
		return slices.Contains(r.commands, filepath.Base(word))
	})
}

func (r row) found(dir string) bool {
	found, files := false, 0
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		files++
		switch {
		case files > maxFiles:
			found = true // that is not an empty project
		case err != nil:
			return nil
		case d.IsDir():
			if path != dir && slices.Contains([]string{".git", ".ralph", "node_modules", ".venv", "target"}, d.Name()) {
				return fs.SkipDir
			}
			return nil
		case r.matches(d.Name()):
			found = true
		}
		if found {
			return fs.SkipAll
		}
		return nil
	})
	return found
}

func (r row) foundAbove(dir string) bool {
	for up := filepath.Dir(dir); up != dir; dir, up = up, filepath.Dir(up) {
		for _, name := range r.needs {
			if _, err := os.Stat(filepath.Join(up, name)); err == nil {
				return true
			}
		}
	}
	return false
}

func (r row) matches(name string) bool {
	match := func(glob string) bool { return MatchGlob(glob, name) }
	return slices.ContainsFunc(r.needs, match) && !slices.ContainsFunc(r.not, match)
}
