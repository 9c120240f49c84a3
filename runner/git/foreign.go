package git

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// foreignTree is a folder that the project did not write itself: an installed, vendored or built tree.
type foreignTree struct {
	Dir string // ends with a slash
	Why string // "60 files, a vendored tree"
}

// foreignKind says what a folder with some name is. It always counts if beside and many are not set,
// else if one of the paths exists or it contains that many files.
type foreignKind struct {
	what   string
	beside []string // paths relative to the parent folder
	many   int      // number of files; 0: not set
}

// foreignKinds are the rows, by the name of the folder.
var foreignKinds = sync.OnceValue(func() map[string]foreignKind {
	return map[string]foreignKind{
		"node_modules":     {what: "an installed tree"},
		"bower_components": {what: "an installed tree"},
		".venv":            {what: "an installed tree"},
		"venv":             {what: "an installed tree", beside: []string{"venv/pyvenv.cfg"}},
		".tox":             {what: "an installed tree"},
		".terraform":       {what: "an installed tree"},
		"vendor": {what: "a vendored tree",
			beside: []string{"go.mod", "composer.json", "Gemfile", "Cargo.toml"}, many: 20},
		"third_party": {what: "a vendored tree", many: 20},
		"__pycache__": {what: "a built tree"},
		".gradle":     {what: "a built tree"},
		".next":       {what: "a built tree"},
		"target":      {what: "a built tree", beside: []string{"Cargo.toml", "pom.xml", "build.sbt"}},
		"dist":        {what: "a built tree", beside: []string{"package.json", "pyproject.toml", "setup.py"}},
		"build": {what: "a built tree", beside: []string{"package.json", "pyproject.toml", "setup.py",
			"build.gradle", "build.gradle.kts", "build/CMakeCache.txt"}},
		"coverage": {what: "a built tree", beside: []string{"coverage/lcov.info", "coverage/index.html",
			"coverage/coverage-final.json"}},
		".idea": {what: "the settings of an editor"},
	}
})

// foreignTrees returns the outermost foreign trees that contain the files, in their order.
// files are slash-separated paths relative to root.
func foreignTrees(root string, files []string) []foreignTree {
	count := map[string]int{} // files below each folder with a name of the table
	var folders []string
	for _, f := range files {
		segments := strings.Split(f, "/")
		for i, name := range segments[:len(segments)-1] {
			if _, ok := foreignKinds()[name]; !ok {
				continue
			}
			folder := path.Join(segments[:i+1]...)
			if count[folder]++; count[folder] == 1 {
				folders = append(folders, folder)
			}
		}
	}
	var found []foreignTree
	for _, folder := range folders { // outer folders come first
		inner := slices.ContainsFunc(found, func(t foreignTree) bool { return strings.HasPrefix(folder, t.Dir) })
		if inner || !isForeign(root, folder, count[folder]) {
			continue
		}
		files := "files"
		if count[folder] == 1 {
			files = "file"
		}
		found = append(found, foreignTree{folder + "/", fmt.Sprintf("%d %s, %s", count[folder], files,
			foreignKinds()[path.Base(folder)].what)})
	}
	return found
}

func isForeign(root, folder string, files int) bool {
	k := foreignKinds()[path.Base(folder)]
	if k.beside == nil && k.many == 0 || k.many > 0 && files >= k.many {
		return true
	}
	return slices.ContainsFunc(k.beside, func(b string) bool {
		_, err := os.Stat(filepath.Join(root, filepath.FromSlash(path.Dir(folder)), b))
		return err == nil
	})
}
