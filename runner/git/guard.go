package git

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"ralph/logs"
	"ralph/logs/termtext"
	"ralph/runner/git/command"
	"ralph/state"
	"ralph/state/projectfs"
)

// maxCommitted is the size, in bytes, above which ralph commits no file.
const maxCommitted = 1 << 20

// Refusal is a file that ralph does not commit, and why. If File ends with a slash, it is a folder.
type Refusal = state.Refusal

func covers(r Refusal, file string) bool {
	return r.File == file || strings.HasSuffix(r.File, "/") && strings.HasPrefix(file, r.File)
}

// guard returns the files that ralph must not commit: those that configure ralph, add a secret, are larger than 1 MiB,
// link out of the repository, or are nested repositories; and, as one Refusal each, foreign folders that are not in
// HEAD. It runs at most two git processes.
func guard(ctx context.Context, root string, files []string) ([]Refusal, error) {
	refused, err := refusedTrees(ctx, root, files)
	if err != nil {
		return nil, fmt.Errorf("guard commit: %w", err)
	}
	var rest []string
	suspects := map[string][]logs.Secret{} // by file
	for _, f := range files {
		if slices.ContainsFunc(refused, func(r Refusal) bool { return covers(r, f) }) {
			continue
		}
		secrets, why := suspect(root, f)
		switch {
		case why != "":
			refused = append(refused, Refusal{File: f, Why: why})
		case len(secrets) > 0:
			suspects[f] = secrets
			rest = append(rest, f)
		}
	}
	committed, err := command.Contents(ctx, root, "HEAD", rest)
	if err != nil {
		return nil, fmt.Errorf("guard commit: %w", err)
	}
	for _, f := range rest {
		i := slices.IndexFunc(suspects[f], func(s logs.Secret) bool { return !strings.Contains(committed[f], s.Text) })
		if i >= 0 {
			refused = append(refused, Refusal{File: f, Why: "holds what looks like " + suspects[f][i].Name})
		}
	}
	return refused, nil
}

// refusedTrees returns one Refusal for each foreign tree that HEAD does not have.
func refusedTrees(ctx context.Context, root string, files []string) ([]Refusal, error) {
	var refused []Refusal
	var dirs []string
	for _, t := range foreignTrees(root, files) {
		refused = append(refused, Refusal{File: t.Dir, Why: t.Why})
		dirs = append(dirs, t.Dir)
	}
	known, err := command.Contents(ctx, root, "HEAD", dirs)
	return slices.DeleteFunc(refused, func(r Refusal) bool { _, is := known[r.File]; return is }), err
}

// suspect returns the secrets in a file, or why ralph never commits it, whatever is in HEAD.
func suspect(root, file string) (secrets []logs.Secret, why string) {
	name := filepath.Join(root, filepath.FromSlash(file))
	info, err := os.Lstat(name)
	target, out := leadsOut(root, name)
	switch {
	case strings.HasSuffix(file, "/"):
		return nil, "is a nested repository"
	case strings.HasSuffix("/"+file, "/.ralphrc"), strings.HasSuffix("/"+file, "/.ralph/config.yaml"):
		return nil, "decides how ralph runs; review it and commit it yourself"
	case out:
		return nil, fmt.Sprintf("leads out of the repository, to %q", target)
	case err != nil || !info.Mode().IsRegular():
		return nil, ""
	case info.Size() > maxCommitted:
		return nil, fmt.Sprintf("is larger than 1 MiB: %d bytes", info.Size())
	}
	data, err := projectfs.Above(name).Read(name, maxCommitted)
	if err != nil {
		return nil, "cannot be read: " + err.Error()
	}
	if path.Base(file) == ".env" && strings.Contains(string(data), "=") {
		return []logs.Secret{{Name: "settings with passwords", Text: string(data)}}, ""
	}
	return logs.Secrets(string(data)), ""
}

// leadsOut returns the target of a symbolic link, and whether it is outside root. It
// returns false for any other file.
func leadsOut(root, link string) (target string, out bool) {
	target, err := os.Readlink(link)
	if err != nil {
		return "", false
	}
	end := target
	if !filepath.IsAbs(end) {
		end = filepath.Join(filepath.Dir(link), end)
	}
	if real, err := filepath.EvalSymlinks(link); err == nil {
		end = real
	}
	rel, err := filepath.Rel(root, end)
	return target, err != nil || !filepath.IsLocal(rel)
}

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
		found = append(found, foreignTree{folder + "/", fmt.Sprintf("%s, %s", termtext.Count(count[folder], "file"),
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
