package store

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"ralph/runner/task"
	"ralph/state/projectfs"
)

// Found is a plan in a project.
type Found struct {
	Path   string // below the folder that All was given
	Format string
	dir    string  // that folder
	counts *counts // nil: it was not read
}

// counts says how many tasks a plan has, and how many are left.
type counts struct{ total, left int }

// Left returns the number of tasks that are left in the plan; 0 if it cannot be read.
func (f Found) Left(optionalSections []string) int {
	if f.counts != nil {
		return f.counts.left
	}
	return count(At(f.dir, f.Path, optionalSections)).left
}

func count(f File) counts {
	list, err := Load(f)
	if err != nil {
		return counts{}
	}
	return counts{list.Total(), list.Remaining()}
}

// All lists the plans in dir, in the order of the table. A run takes the first one if
// nobody names another.
func All(dir string, optionalSections []string) []Found {
	var all []Found
	in, known := projectfs.In(dir), map[string]bool{}
	for _, f := range formats() {
		found := []Found{}
		for _, pattern := range f.Where {
			found = append(found, openFirst(dir, matchesIn(in, dir, pattern), optionalSections)...)
		}
		if f.Find != nil {
			found = append(found, openFirst(dir, f.Find(dir), optionalSections)...)
		}
		for _, one := range found {
			if one.Format = f.Name; f.isAt(in, one.Path) && !known[one.Path] {
				all, known[one.Path] = append(all, one), true
			}
		}
	}
	return all
}

// openFirst sorts plans that are finished after the others.
func openFirst(dir string, paths, optionalSections []string) []Found {
	all := make([]Found, len(paths))
	task.Each(len(paths), func(i int) {
		all[i].Path, all[i].dir = paths[i], dir
		if len(paths) > 1 {
			c := count(At(dir, paths[i], optionalSections))
			all[i].counts = &c
		}
	})
	finished := func(f Found) int {
		if f.counts != nil && f.counts.total > 0 && f.counts.left == 0 {
			return 1
		}
		return 0
	}
	sort.SliceStable(all, func(i, j int) bool { return finished(all[i]) < finished(all[j]) })
	return all
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
		data, _, err := readStable(in, path)
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
	at := At(dir, path, optionalSections)
	list, err := Load(at)
	if info, statErr := at.Project().Lstat(path); err != nil && statErr == nil && info.IsDir() &&
		!strings.Contains(err.Error(), "two formats") {
		switch inside := within(path); len(inside) {
		case 0:
		case 1:
			list, err = Load(At(dir, inside[0].Path, optionalSections))
		default:
			return task.List{}, fmt.Errorf("the folder %q has several plans: %s; name one of them", given,
				names(dir, inside))
		}
	}
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

// within lists the plans in a folder that the user named: that of a feature, of several features, or of a project.
func within(folder string) []Found {
	all := All(folder, nil) // in any order
	for _, pattern := range []string{"{tasks.md,tasks/tasks.json,tasks.json,sprint-status.yaml}",
		"{*,specs/*,changes/*}/tasks.md"} {
		in := projectfs.In(folder)
		for _, path := range matchesIn(in, folder, pattern) {
			data, _, err := readStable(in, path)
			known := slices.ContainsFunc(all, func(o Found) bool { return o.Path == path })
			if f, noFormat := formatOf(path, body(data)); err == nil && noFormat == nil && !known {
				all = append(all, Found{Path: path, Format: f.Name, dir: folder})
			}
		}
		if len(all) > 0 {
			break
		}
	}
	return all
}

// names lists plans for people.
func names(dir string, all []Found) string {
	var texts []string
	for _, found := range all {
		if rel, err := filepath.Rel(dir, found.Path); err == nil {
			texts = append(texts, fmt.Sprintf("%s (%s)", filepath.ToSlash(rel), found.Format))
		}
	}
	return strings.Join(texts, ", ")
}
