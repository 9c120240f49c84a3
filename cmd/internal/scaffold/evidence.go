package scaffold

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// evidence is a condition on a folder's files.
type evidence func(*folder) bool

// folder is a folder of the project with its list of files.
type folder struct {
	fsys  fs.FS
	files []string // slash paths, at most maxDepth levels down, sorted
	has   func(program string) bool
	root  *folder // of the project; nil: this is it
}

const (
	maxDepth = 4
	maxFiles = 20000
	maxText  = 1 << 20 // of a file that is searched for a word
)

// foreign lists folders whose files are not the project's own.
var foreign = []string{
	"node_modules", "vendor", "third_party", "testdata", "fixtures", "examples", "example",
	"dist", "build", "target", "venv", "__pycache__",
}

// open lists the files of dir. It skips unreadable and deep folders; only dir itself must
// be readable.
func open(dir string, has func(string) bool) (*folder, error) {
	f := &folder{fsys: os.DirFS(dir), has: has}
	err := fs.WalkDir(f.fsys, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil && name == ".":
			return err
		case err != nil:
			return nil
		case !d.IsDir():
			if len(f.files) < maxFiles || isManifest(name) { // a project that is not seen is not checked
				f.files = append(f.files, name)
			}
		case name == ".":
		case strings.HasPrefix(d.Name(), "."), slices.Contains(foreign, d.Name()),
			strings.Count(name, "/") >= maxDepth-1:
			return fs.SkipDir
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read project: %w", err)
	}
	return f, nil
}

// subfolders returns the folders with a manifest of the table.
func (f *folder) subfolders() []string {
	var dirs []string
	for _, name := range f.files {
		if dir := path.Dir(name); dir != "." && isManifest(name) {
			dirs = append(dirs, dir)
		}
	}
	slices.Sort(dirs)
	return slices.Compact(dirs)
}

// canRun reports whether the program of a command line exists, on PATH or, with a slash,
// in the folder.
func (f *folder) canRun(line string) bool {
	for word := range strings.FieldsSeq(line) {
		switch {
		case strings.Contains(word, "="): // an assignment before the program
			continue
		case strings.Contains(word, "/"):
			info, err := fs.Stat(f.fsys, path.Clean(word))
			return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
		}
		return f.has(word)
	}
	return false
}

// file: one of the globs, relative to the folder, matches.
func file(globs ...string) evidence {
	return func(f *folder) bool {
		return slices.ContainsFunc(globs, func(glob string) bool { return len(f.glob(glob)) > 0 })
	}
}

// anywhere: the name of a file, at any depth, matches one of the globs.
func anywhere(globs ...string) evidence {
	return func(f *folder) bool { return len(f.named(globs)) > 0 }
}

// text: a file that matches the glob contains the words.
func text(glob, words string) evidence {
	return func(f *folder) bool { return f.contain(f.glob(glob), words) }
}

// textAnywhere: one of the first 20 files with a matching name contains the words.
func textAnywhere(words string, globs ...string) evidence {
	return func(f *folder) bool {
		names := f.named(globs)
		return f.contain(names[:min(len(names), 20)], words)
	}
}

// script: the manifest defines the script, and it is not npm's stub or a watcher that
// never ends.
func script(manifest, name string) evidence {
	return func(f *folder) bool {
		var m struct {
			Scripts map[string]any `json:"scripts"`
		}
		if json.Unmarshal(f.read(manifest), &m) != nil {
			return false
		}
		if list, ok := m.Scripts[name].([]any); ok { // composer runs them in order
			return len(list) > 0
		}
		line, _ := m.Scripts[name].(string)
		watches := strings.HasSuffix(line, "--watch") || strings.Contains(line, "--watch ") ||
			strings.Contains(line, "--watchAll ")
		return line != "" && !watches && !strings.Contains(line, "no test specified")
	}
}

// packageManager: package.json names it.
func packageManager(name string) evidence {
	return func(f *folder) bool {
		var m struct {
			PackageManager string `json:"packageManager"`
		}
		return json.Unmarshal(f.read("package.json"), &m) == nil && strings.HasPrefix(m.PackageManager, name+"@")
	}
}

// target: the Makefile has a rule for this target, and make needs no more than its name to run it.
func target(name string) evidence {
	return func(f *folder) bool {
		for _, makefile := range []string{"GNUmakefile", "makefile", "Makefile"} {
			text := string(f.read(makefile))
			lines := strings.Split(text, "\n")
			for i, line := range lines {
				names, rest, isRule := strings.Cut(line, ":")
				isRule = isRule && !strings.HasPrefix(line, "\t") && !strings.HasPrefix(rest, "=") &&
					!strings.HasPrefix(rest, ":=")
				if isRule && slices.Contains(strings.Fields(names), name) {
					return !wantsValue(text, recipe(lines[i+1:]))
				}
			}
		}
		return false
	}
}

// recipe is what follows the first line of a rule and belongs to it, conditional directives included.
func recipe(lines []string) string {
	directive := regexp.MustCompile(`^\s*(?:ifn?def|ifn?eq|else|endif)\b|^\t|^\s*#|^\s*$`)
	end := slices.IndexFunc(lines, func(line string) bool { return !directive.MatchString(line) })
	if end < 0 {
		end = len(lines)
	}
	return strings.Join(lines[:end], "\n")
}

// wantsValue reports whether a recipe uses a variable that somebody has to give: neither the makefile nor make sets it, and
// not every environment has it. It does not look at the environment: a run that cron starts must find the same checks.
// Variables with a name such as ARGS may be empty, unless the recipe tests for that.
func wantsValue(makefile, recipe string) bool {
	const name = `[A-Za-z_]\w*`
	mayBeEmpty := regexp.MustCompile(`(?i:arg|flag|opt|extra|verbose|quiet|debug|colou?r|lib|dir|prefix)|^[A-Z]{1,2}$`)
	missing := func(variable string) bool {
		builtIn := slices.Contains([]string{"MAKE", "MAKEFLAGS", "MAKEFILE_LIST", "CURDIR", "SHELL", "PWD", "HOME", "USER", "LOGNAME", "PATH", "OS", "CC", "CXX", "CPP", "AR", "AS", "LD", "RM"}, variable)
		assigned := regexp.MustCompile(`(?m)(?:^|\s)` + variable + `\s*[:?+!]*=|^define ` + variable + `\b`)
		return !builtIn && !assigned.MatchString(makefile)
	}
	finds := func(pattern string, wanted func(variable string) bool) bool {
		for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(recipe, -1) {
			if wanted(m[1]) {
				return true
			}
		}
		return false
	}
	fails := strings.Contains(recipe, "exit") || strings.Contains(recipe, "error")
	tested := finds(`(?:ifndef\s+|ifeq\s*\(\s*\$[({]|-[zn]\s+"?\$+[({]?|\$\(if\s+\$[({])(`+name+`)`, missing)
	used := finds(`(?:^|[^$])\$[({](`+name+`)[)}]`, func(v string) bool { return missing(v) && !mayBeEmpty.MatchString(v) })
	included := regexp.MustCompile(`(?m)^-?s?include\s`).MatchString(makefile)
	return fails && tested || finds(`(`+name+`):\?`, missing) || used && !included || strings.Contains(recipe, "$(MAKECMDGOALS)")
}

func both(a, b evidence) evidence { return func(f *folder) bool { return a(f) && b(f) } }

func no(e evidence) evidence { return func(f *folder) bool { return !e(f) } }

func either(all ...evidence) evidence {
	return func(f *folder) bool {
		return slices.ContainsFunc(all, func(e evidence) bool { return e(f) })
	}
}

func (f *folder) glob(glob string) []string {
	names, _ := fs.Glob(f.fsys, glob) // the globs are constants
	return names
}

func (f *folder) named(globs []string) []string {
	var names []string
	for _, name := range f.files {
		matches := func(glob string) bool {
			ok, _ := path.Match(glob, path.Base(name))
			return ok
		}
		if slices.ContainsFunc(globs, matches) {
			names = append(names, name)
		}
	}
	return names
}

func (f *folder) contain(names []string, words string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return strings.Contains(string(f.read(name)), words) })
}

// read returns the start of a file, or nothing on an error.
func (f *folder) read(name string) []byte {
	file, err := f.fsys.Open(name)
	if err != nil {
		return nil
	}
	defer file.Close()
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	data, err := io.ReadAll(io.LimitReader(file, maxText))
	if err != nil && !errors.Is(err, io.EOF) {
		return nil
	}
	return data
}

// exists is also true for a broken link.
func exists(name string) bool {
	_, err := os.Lstat(filepath.FromSlash(name))
	return !errors.Is(err, fs.ErrNotExist)
}
