package store

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"ralph/runner/task"
	"ralph/state/projectfs"
)

// Found is a plan in a project.
type Found struct {
	Path   string // below the folder that All was given
	Format string
}

// All lists the plans in dir, in the order of the table. A run takes the first one if
// nobody names another.
func All(dir string, optionalSections []string) []Found {
	var all []Found
	in, known := projectfs.In(dir), map[string]bool{}
	for _, f := range formats() {
		var found []string
		for _, pattern := range f.Where {
			found = append(found, openFirst(dir, matchesIn(in, dir, pattern), optionalSections)...)
		}
		if f.Find != nil {
			found = append(found, openFirst(dir, f.Find(dir), optionalSections)...)
		}
		for _, one := range found {
			if f.isAt(in, one) && !known[one] {
				all, known[one] = append(all, Found{one, f.Name}), true
			}
		}
	}
	return all
}

// openFirst sorts plans whose open tasks all wait for a person after the others, and those that are finished last.
func openFirst(dir string, paths, optionalSections []string) []string {
	if len(paths) < 2 {
		return paths
	}
	var open, waiting, finished []string
	for _, path := range paths {
		list, err := Load(At(dir, path, optionalSections))
		_, begins := list.Next()
		switch {
		case err != nil || list.Total() == 0 || begins: // a broken one is not passed over in silence
			open = append(open, path)
		case list.Remaining() > 0:
			waiting = append(waiting, path)
		default:
			finished = append(finished, path)
		}
	}
	return slices.Concat(open, waiting, finished)
}

// isAt reports whether a path has what the row looks for: a file, or a folder with files.
func (f format) isAt(in projectfs.Dir, path string) bool {
	info, err := in.Lstat(path)
	if projectfs.IsLink(err) || err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return f.Files == nil && f.Program == nil // a link is no reason to work without a plan: reading it will report it
	}
	if err != nil {
		return false
	}
	if f.Program != nil {
		return info.IsDir()
	}
	if info.IsDir() && f.Files == nil && f.Is == nil {
		return true // neither is a folder in place of the plan: reading it will report what is wrong
	}
	if info.IsDir() != (f.Files != nil) || info.Mode()&fs.ModeSocket != 0 {
		return false
	}
	if f.Files == nil && f.Is == nil {
		return true
	}
	if f.Files == nil {
		data, err := readStable(in, path)
		return err == nil && f.Is(body(data))
	}
	names, err := filesIn(in, path)
	return err == nil && len(f.ofFolder(names)) > 0
}

// Find returns the first of All. It is false if there is none.
func Find(dir string, optionalSections []string) (path string, ok bool) {
	if all := All(dir, optionalSections); len(all) > 0 {
		return all[0].Path, true
	}
	return "", false
}

// Locate loads the project's plan: given, which may be relative to dir, or else the result of
// Find. Its Path is empty if there is no plan. The error says why the plan cannot be used.
func Locate(dir, given string, optionalSections []string) (task.List, error) {
	path := given
	if path == "" {
		found, ok := Find(dir, optionalSections)
		if !ok {
			return task.List{}, nil
		}
		path = found
	} else if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	path = below(dir, path)
	list, err := Load(At(dir, path, optionalSections))
	switch {
	case projectfs.Refused(err) != nil:
		return task.List{}, fmt.Errorf("%w; name the file itself with --plan", err)
	case errors.Is(err, fs.ErrNotExist):
		return task.List{}, fmt.Errorf("the plan %q does not exist", given)
	case err != nil:
		return task.List{}, err
	}
	return list, nil
}

// below returns a path without the links outside of the project: as it is below dir or, if it is elsewhere, where it
// leads to.
func below(dir, path string) string {
	if _, err := projectfs.In(dir).Lstat(path); err == nil || projectfs.Refused(err) != nil {
		return path
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return path // reading it will report it
	}
	if root, err := filepath.EvalSymlinks(dir); err == nil {
		if rel, err := filepath.Rel(root, real); err == nil && filepath.IsLocal(rel) {
			return filepath.Join(dir, rel)
		}
	}
	return real
}
