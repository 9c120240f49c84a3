package git

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// foreign is a folder that the project did not write: it counts always, or when
// one of the files beside it exists, or so many files are in it. A file beside
// may be one inside, which tells what made the folder.
type foreign struct {
	what   string
	beside []string
	many   int // 0: the number does not matter
}

// foreignTrees are known by their names.
var foreignTrees = map[string]foreign{
	"node_modules":     {what: "an installed tree"},
	"bower_components": {what: "an installed tree"},
	".venv":            {what: "an installed tree"},
	"venv":             {what: "an installed tree", beside: []string{"venv/pyvenv.cfg"}},
	".tox":             {what: "an installed tree"},
	".terraform":       {what: "an installed tree"},
	"vendor":           {what: "a vendored tree", beside: []string{"go.mod", "composer.json", "Gemfile", "Cargo.toml"}, many: 20},
	"third_party":      {what: "a vendored tree", many: 20},
	"__pycache__":      {what: "a built tree"},
	".gradle":          {what: "a built tree"},
	".next":            {what: "a built tree"},
	"target":           {what: "a built tree", beside: []string{"Cargo.toml", "pom.xml", "build.sbt"}},
	"dist":             {what: "a built tree", beside: []string{"package.json", "pyproject.toml", "setup.py"}},
	"build":            {what: "a built tree", beside: []string{"package.json", "pyproject.toml", "setup.py", "build.gradle", "build.gradle.kts", "build/CMakeCache.txt"}},
	"coverage":         {what: "a built tree", beside: []string{"coverage/lcov.info", "coverage/index.html", "coverage/coverage-final.json"}},
	".idea":            {what: "the settings of an editor"},
}

// refusedTrees returns one refusal for each foreign tree that HEAD does not
// have, the outermost, in the order of the files.
func refusedTrees(ctx context.Context, root string, files []string) ([]Refusal, error) {
	count := map[string]int{} // files in each folder with the name of a foreign tree
	var folders []string
	for _, f := range files {
		segments := strings.Split(f, "/")
		for i, name := range segments[:len(segments)-1] {
			if _, ok := foreignTrees[name]; !ok {
				continue
			}
			folder := path.Join(segments[:i+1]...)
			if count[folder]++; count[folder] == 1 {
				folders = append(folders, folder)
			}
		}
	}
	var found []Refusal
	var ask []string
	for _, folder := range folders { // an outer one comes before what is in it
		if !isForeign(root, folder, count[folder]) {
			continue
		}
		inner := false
		for _, outer := range ask {
			inner = inner || strings.HasPrefix(folder, outer+"/")
		}
		if inner {
			continue
		}
		ask = append(ask, folder)
		files := "files"
		if count[folder] == 1 {
			files = "file"
		}
		found = append(found, Refusal{folder + "/", fmt.Sprintf("%d %s, %s", count[folder], files, foreignTrees[path.Base(folder)].what)})
	}
	known, err := inHead(ctx, root, ask)
	if err != nil {
		return nil, err
	}
	var refused []Refusal
	for _, r := range found {
		if !known[strings.TrimSuffix(r.File, "/")] {
			refused = append(refused, r)
		}
	}
	return refused, nil
}

func isForeign(root, folder string, files int) bool {
	t := foreignTrees[path.Base(folder)]
	if t.beside == nil && t.many == 0 || t.many > 0 && files >= t.many {
		return true
	}
	for _, b := range t.beside {
		if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(path.Dir(folder)), b)); err == nil {
			return true
		}
	}
	return false
}

// inHead says which of the folders HEAD has.
func inHead(ctx context.Context, root string, folders []string) (map[string]bool, error) {
	known := map[string]bool{}
	if len(folders) == 0 {
		return known, nil
	}
	if _, err := run(ctx, root, "rev-parse", "-q", "--verify", "HEAD"); err != nil {
		return known, ctx.Err() // no commit yet: it has nothing
	}
	out, err := run(ctx, root, append([]string{"ls-tree", "-d", "-z", "--name-only", "HEAD", "--"}, folders...)...)
	if err != nil {
		return nil, err
	}
	for folder := range strings.SplitSeq(out, "\x00") {
		known[folder] = true
	}
	return known, nil
}
