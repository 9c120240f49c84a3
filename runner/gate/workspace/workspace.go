// Package workspace finds the packages of a monorepo, from the workspaces of go,
// npm, pnpm, yarn, cargo and uv. It reads manifests and runs nothing.
package workspace

import (
	"encoding/json"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/goccy/go-yaml"
)

// member is a package of a workspace.
type member struct {
	tool     string // go, npm, cargo, uv; empty: no more than the folder of a check
	dir      string // slash path relative to the project; "." for the project itself
	name     string // by which other packages refer to it; empty: unknown
	manifest string // the text of it
}

// Workspaces are the packages of a project, of all its tools.
type Workspaces struct {
	root    string
	members []member
	// virtual has the tools whose root manifest is no package of its own.
	virtual map[string]bool
}

// Open reads the manifests. What it cannot read is no workspace.
func Open(root string) *Workspaces {
	w := &Workspaces{root: root, virtual: map[string]bool{}}
	w.openGo()
	w.openNode()
	w.openCargo()
	w.openUV()
	return w
}

// text returns a file of the project; empty if it cannot be read.
func (w *Workspaces) text(elem ...string) string {
	data, err := os.ReadFile(filepath.Join(append([]string{w.root}, elem...)...))
	if err != nil {
		return ""
	}
	return string(data)
}

// add adds the folders with a manifest; name finds the package's name in it.
func (w *Workspaces) add(tool string, dirs []string, manifest string, name func(text string) string) {
	slices.Sort(dirs)
	for _, dir := range slices.Compact(dirs) {
		if text := w.text(dir, manifest); text != "" && filepath.IsLocal(dir) {
			w.members = append(w.members, member{tool: tool, dir: dir, name: name(text), manifest: text})
		}
	}
}

// openGo reads the use directives of go.work.
func (w *Workspaces) openGo() {
	var dirs []string
	inBlock := false
	for line := range strings.SplitSeq(w.text("go.work"), "\n") {
		line, _, _ = strings.Cut(line, "//")
		fields := strings.Fields(line)
		switch {
		case len(fields) == 0:
		case fields[0] == "use" && len(fields) > 1 && fields[1] == "(":
			inBlock = true
		case fields[0] == ")":
			inBlock = false
		case fields[0] == "use" && len(fields) > 1:
			dirs = append(dirs, path.Clean(strings.Trim(fields[1], `"`)))
		case inBlock:
			dirs = append(dirs, path.Clean(strings.Trim(fields[0], `"`)))
		}
	}
	w.add("go", dirs, "go.mod", func(text string) string {
		for line := range strings.SplitSeq(text, "\n") {
			if fields := strings.Fields(line); len(fields) > 1 && fields[0] == "module" {
				return strings.Trim(fields[1], `"`)
			}
		}
		return ""
	})
}

// openNode reads the workspaces of npm and yarn (package.json) and of pnpm.
func (w *Workspaces) openNode() {
	var globs []string
	var m struct{ Workspaces json.RawMessage }
	if json.Unmarshal([]byte(w.text("package.json")), &m) == nil && json.Unmarshal(m.Workspaces, &globs) != nil {
		var long struct{ Packages []string }
		_ = json.Unmarshal(m.Workspaces, &long) // any other shape has no packages
		globs = long.Packages
	}
	if text := w.text("pnpm-workspace.yaml"); text != "" {
		var p struct{ Packages []string }
		_ = yaml.Unmarshal([]byte(text), &p)
		globs = p.Packages
	}
	w.add("npm", w.find(globs, nil, "package.json"), "package.json", func(text string) string {
		var p struct{ Name string }
		_ = json.Unmarshal([]byte(text), &p)
		return p.Name
	})
}

func (w *Workspaces) openCargo() {
	text := w.text("Cargo.toml")
	globs := tomlStrings(text, "workspace", "members")
	dirs := w.find(globs, tomlStrings(text, "workspace", "exclude"), "Cargo.toml")
	w.virtual["cargo"] = !strings.Contains("\n"+text, "\n[package]")
	if len(globs) > 0 && !w.virtual["cargo"] {
		dirs = append(dirs, ".")
	}
	w.add("cargo", dirs, "Cargo.toml", func(text string) string { return first(tomlStrings(text, "package", "name")) })
}

func (w *Workspaces) openUV() {
	text := w.text("pyproject.toml")
	globs := tomlStrings(text, "tool.uv.workspace", "members")
	w.virtual["uv"] = !strings.Contains("\n"+text, "\n[project]")
	w.add("uv", w.find(globs, tomlStrings(text, "tool.uv.workspace", "exclude"), "pyproject.toml"), "pyproject.toml",
		func(text string) string { return first(tomlStrings(text, "project", "name")) })
}

func first(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[0]
}

// find returns the folders with a manifest that match one of the globs and none to
// exclude. A glob that starts with ! excludes too.
func (w *Workspaces) find(globs, exclude []string, manifest string) []string {
	clean := func(glob string) string { return path.Clean(strings.TrimPrefix(glob, "./")) }
	var dirs []string
	for _, glob := range globs {
		switch {
		case strings.HasPrefix(glob, "!"):
			exclude = append(exclude, glob[1:])
		case strings.Contains(glob, "**"):
			dirs = append(dirs, w.walk(clean(glob), manifest)...)
		default:
			found, _ := doublestar.Glob(os.DirFS(w.root), path.Join(clean(glob), manifest)) // a bad glob finds nothing
			for _, file := range found {
				dirs = append(dirs, path.Dir(file))
			}
		}
	}
	return slices.DeleteFunc(dirs, func(dir string) bool {
		return slices.ContainsFunc(exclude, func(glob string) bool {
			return matches(clean(glob), dir)
		})
	})
}

const maxDepth = 8

// walk is find for one glob with **.
func (w *Workspaces) walk(glob, manifest string) []string {
	var dirs []string
	_ = fs.WalkDir(os.DirFS(w.root), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil // unreadable: no package
		case d.IsDir() && name != "." && (d.Name() == "node_modules" || strings.HasPrefix(d.Name(), ".") || strings.Count(name, "/") >= maxDepth):
			return fs.SkipDir
		case d.Name() == manifest && matches(glob, path.Dir(name)):
			dirs = append(dirs, path.Dir(name))
		}
		return nil
	})
	return dirs
}

// tomlStrings returns the strings of KEY = "..." or KEY = ["...", ...] in [section].
// It reads what package managers write in manifests, not all of TOML.
func tomlStrings(text, section, key string) []string {
	var values []string
	current, open := "", false
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSpace(line)
		if !open {
			if strings.HasPrefix(line, "[") {
				current = strings.Trim(strings.TrimSpace(strings.SplitN(line, "#", 2)[0]), "[] ")
				continue
			}
			name, value, ok := strings.Cut(line, "=")
			if current != section || !ok || strings.TrimSpace(name) != key {
				continue
			}
			line = strings.TrimSpace(value)
			open = strings.HasPrefix(line, "[")
		}
		found, closed := quoted(line)
		values = append(values, found...)
		if !open || closed {
			return values
		}
	}
	return values
}

// quoted returns the strings in a line, and whether a bracket closes after them.
func quoted(line string) (values []string, closed bool) {
	for i := 0; i < len(line); i++ {
		switch c := line[i]; c {
		case '"', '\'':
			n := strings.IndexByte(line[i+1:], c)
			if n < 0 {
				return values, false
			}
			values = append(values, line[i+1:i+1+n])
			i += n + 1
		case '#':
			return values, false
		case ']':
			return values, true
		}
	}
	return values, false
}
