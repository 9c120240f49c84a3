package gate

// The files workspace*.go find the packages of a monorepo: workspaces of go, npm, pnpm,
// yarn, cargo and uv. They read manifests and run nothing.

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/BurntSushi/toml"
	"github.com/bmatcuk/doublestar/v4"
	"github.com/tidwall/gjson"
	"golang.org/x/mod/modfile"

	"ralph/state/projectfs"
)

// member is a package of a workspace.
type member struct {
	tool     string // go, npm, cargo or uv; empty: only the folder of a check
	dir      string // slash path relative to the project; "." for the project itself
	name     string // by which other packages refer to it; empty: unknown
	manifest string // its text
}

// workspaces are the packages of a project, of all its tools.
type workspaces struct {
	root    string
	members []member
	virtual map[string]bool // tools whose root manifest declares no package
}

// openWorkspaces reads the manifests. It ignores what it cannot read.
func openWorkspaces(root string) *workspaces {
	w := &workspaces{root: root, virtual: map[string]bool{}}
	w.openGo()
	w.openNode()
	w.openCargo()
	w.openUV()
	return w
}

// maxManifest bounds a manifest, in bytes.
const maxManifest = 4 << 20

// text returns a file of the project; empty if it cannot be read.
func (w *workspaces) text(elem ...string) string {
	data, _ := projectfs.In(w.root).Read(filepath.Join(append([]string{w.root}, elem...)...), maxManifest)
	return string(data)
}

// add adds the folders that have the manifest. name reads the package's name from it.
func (w *workspaces) add(tool string, dirs []string, manifest string, name func(text string) string) {
	slices.Sort(dirs)
	for _, dir := range slices.Compact(dirs) {
		if text := w.text(dir, manifest); text != "" && filepath.IsLocal(dir) {
			w.members = append(w.members, member{tool: tool, dir: dir, name: name(text), manifest: text})
		}
	}
}

func (w *workspaces) openGo() {
	w.add("go", usedDirs(w.text("go.work")), "go.mod", func(text string) string {
		return modfile.ModulePath([]byte(text))
	})
}

// usedDirs returns the folders of the use directives of a go.work. modfile.ParseWork can do that, but adds 80 KB to the
// program.
func usedDirs(text string) (dirs []string) {
	block := false
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "//")
		line = strings.TrimSpace(line)
		dir, isUse := strings.CutPrefix(line, "use")
		isUse = isUse && strings.TrimLeft(dir, " \t(\"`") != dir
		if isUse {
			line = strings.TrimSpace(dir)
		}
		switch {
		case isUse && strings.HasPrefix(line, "("):
			block = true
		case line == ")":
			block = false
		case line != "" && (isUse || block):
			dirs = append(dirs, path.Clean(strings.Trim(line, "\"`")))
		}
	}
	return dirs
}

var pnpmPackages = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^packages:.*\n(?:(?:[ \t\]#-].*)?\n)*`)
})

// openNode reads the workspaces of npm and yarn (package.json) and of pnpm.
func (w *workspaces) openNode() {
	list := gjson.Get(w.text("package.json"), "workspaces")
	if list.IsObject() {
		list = list.Get("packages")
	}
	var globs []string
	for _, glob := range list.Array() {
		globs = append(globs, glob.String())
	}
	if text := w.text("pnpm-workspace.yaml"); text != "" {
		var p struct{ Packages []string }
		_ = projectfs.UnmarshalYAML([]byte(pnpmPackages().FindString(text+"\n")), &p) // catalogs may have aliases
		globs = p.Packages
	}
	w.add("npm", w.find(globs, nil), "package.json",
		func(text string) string { return gjson.Get(text, "name").String() })
}

// tomlManifest is what ralph reads of a Cargo.toml or a pyproject.toml.
type tomlManifest struct {
	Package, Project *struct{ Name string } // nil: it declares no package
	Workspace        tomlWorkspace
	Tool             struct {
		UV struct{ Workspace tomlWorkspace }
	}
}

type tomlWorkspace struct{ Members, Exclude []string }

func parseTOML(text string) tomlManifest {
	var m tomlManifest
	_, _ = toml.Decode(text, &m) // a broken manifest declares no workspace
	return m
}

func (w *workspaces) openCargo() {
	root := parseTOML(w.text("Cargo.toml"))
	dirs := w.find(root.Workspace.Members, root.Workspace.Exclude)
	w.virtual["cargo"] = root.Package == nil
	if len(root.Workspace.Members) > 0 && root.Package != nil {
		dirs = append(dirs, ".")
	}
	w.add("cargo", dirs, "Cargo.toml", func(text string) string {
		if m := parseTOML(text); m.Package != nil {
			return m.Package.Name
		}
		return ""
	})
}

func (w *workspaces) openUV() {
	root := parseTOML(w.text("pyproject.toml"))
	w.virtual["uv"] = root.Project == nil
	dirs := w.find(root.Tool.UV.Workspace.Members, root.Tool.UV.Workspace.Exclude)
	w.add("uv", dirs, "pyproject.toml", func(text string) string {
		if m := parseTOML(text); m.Project != nil {
			return m.Project.Name
		}
		return ""
	})
}

// maxDepth is how deep find searches below a **.
const maxDepth = 8

// find returns the folders that match one of the globs and none to exclude. A
// glob that starts with ! excludes, too.
func (w *workspaces) find(globs, exclude []string) []string {
	clean := func(glob string) string { return path.Clean(strings.TrimPrefix(glob, "./")) }
	var dirs []string
	for _, glob := range globs {
		if strings.HasPrefix(glob, "!") {
			exclude = append(exclude, glob[1:])
			continue
		}
		deep := strings.Contains(glob, "**")
		// A bad glob finds nothing.
		_ = doublestar.GlobWalk(os.DirFS(w.root), clean(glob), func(dir string, d fs.DirEntry) error {
			name := path.Base(dir)
			if deep && dir != "." && (name == "node_modules" || name[0] == '.' || strings.Count(dir, "/") > maxDepth) {
				return doublestar.SkipDir
			}
			dirs = append(dirs, dir)
			return nil
		}, doublestar.WithNoFollow())
	}
	return slices.DeleteFunc(dirs, func(dir string) bool {
		return slices.ContainsFunc(exclude, func(glob string) bool { return matches(clean(glob), dir) })
	})
}
