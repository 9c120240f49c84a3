package protect

import (
	"os"
	"path"
	"path/filepath"
	"slices"

	"ralph/runner/task/store"
)

// Watched returns the paths that change with the plan: its files, and the folder that has them. None: there
// is no plan, or a program keeps it.
func Watched(f store.File, plan store.Plan) []string {
	info, err := os.Stat(f.Path)
	switch {
	case err != nil || info.IsDir() && Paths(f, plan)[0] == f.Path:
		return nil
	case info.IsDir():
		return append(Paths(f, plan), f.Path)
	}
	return Paths(f, plan)
}

// Paths returns the files of the plan.
func Paths(f store.File, plan store.Plan) (all []string) {
	dir, names := f.Path, plan.List.Files
	switch {
	case slices.Contains(names, path.Base(f.Name)): // the plan is one of the files
		dir = filepath.Dir(f.Path)
	case len(names) == 0:
		for _, t := range plan.List.Tasks { // of a folder with one file
			if t.File != "" && !slices.Contains(names, t.File) {
				names = append(names, t.File)
			}
		}
	}
	for _, name := range names {
		all = append(all, filepath.Join(dir, filepath.FromSlash(name)))
	}
	if len(all) == 0 && f.Path != "" {
		return []string{f.Path}
	}
	return all
}

// Roots returns the paths that contain the plan: a folder, or its files.
func Roots(f store.File, plan store.Plan) []string {
	if info, err := os.Stat(f.Path); f.Path == "" || err == nil && info.IsDir() {
		return slices.DeleteFunc([]string{f.Path}, func(path string) bool { return path == "" })
	}
	return Paths(f, plan)
}
