package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"ralph/runner/task"
	"ralph/runner/task/disk"
)

// Found is a plan in a project.
type Found struct {
	Path   string // below the project's folder, as it was given
	Format string
}

// All lists the plans in dir, in the order of the table: the first is the one that a run
// takes when nobody names another.
func All(dir string, optionalSections []string) []Found {
	var all []Found
	for _, f := range formats() {
		paths := []string{}
		for _, pattern := range f.Where {
			paths = append(paths, openFirst(existing(dir, pattern), optionalSections)...)
		}
		if f.Find != nil {
			paths = append(paths, openFirst(f.Find(dir), optionalSections)...)
		}
		for _, path := range paths {
			if f.isAt(path) && !slices.ContainsFunc(all, func(o Found) bool { return o.Path == path }) {
				all = append(all, Found{path, f.Name})
			}
		}
	}
	return all
}

// openFirst puts the plans of features that are finished, and were left where they are, behind the others.
func openFirst(paths, optionalSections []string) []string {
	if len(paths) < 2 {
		return paths
	}
	var left, finished []string
	for _, path := range paths {
		if list, err := Load(path, optionalSections); err == nil && list.Total() > 0 && list.Remaining() == 0 {
			finished = append(finished, path)
		} else {
			left = append(left, path)
		}
	}
	return append(left, finished...)
}

// isAt reports whether a path holds what the row looks for: a file, or a folder with files.
func (f format) isAt(path string) bool {
	info, err := os.Stat(path)
	if link, noFile := os.Readlink(path); err != nil && noFile == nil && link != "" {
		return f.Files == nil && f.Program == nil // to nothing: that is not a reason to work without a plan
	}
	if err == nil && f.Program != nil {
		return info.IsDir()
	}
	if err == nil && info.IsDir() && f.Files == nil && f.Is == nil {
		return true // a folder in the plan's place is not a reason either: reading it says what is wrong
	}
	if err != nil || info.IsDir() != (f.Files != nil) || info.Mode()&fs.ModeSocket != 0 {
		return false
	}
	if f.Files == nil && f.Is == nil {
		return true
	}
	if f.Files == nil {
		data, _, err := disk.Read(path)
		return err == nil && f.Is(body(data))
	}
	names, err := disk.Files(path)
	return err == nil && len(f.ofFolder(names)) > 0
}

// Find returns the first of All. It is false if there is none.
func Find(dir string, optionalSections []string) (path string, ok bool) {
	all := All(dir, optionalSections)
	if len(all) == 0 {
		return "", false
	}
	return all[0].Path, true
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
	list, err := Load(path, optionalSections)
	if info, statErr := os.Stat(path); err != nil && statErr == nil && info.IsDir() && !strings.Contains(err.Error(), "two formats") {
		switch inside := within(path); len(inside) {
		case 0:
		case 1:
			list, err = Load(inside[0].Path, optionalSections)
		default:
			return task.List{}, fmt.Errorf("the folder %q holds several plans: %s; name one of them", given, names(dir, inside))
		}
	}
	switch {
	case errors.Is(err, fs.ErrNotExist) && given == "":
		return task.List{}, fmt.Errorf("the plan %q is a link to nothing", path)
	case errors.Is(err, fs.ErrNotExist):
		return task.List{}, fmt.Errorf("the plan %q does not exist", given)
	case err != nil:
		return task.List{}, fmt.Errorf("the plan cannot be used: %w", err)
	}
	return list, nil
}

// within lists the plans in a folder that somebody has named: a feature's, a project's, or that of features.
func within(folder string) []Found {
	all := All(folder, nil) // in any order
	for _, pattern := range []string{"{tasks.md,tasks/tasks.json,tasks.json,sprint-status.yaml}", "{*,specs/*}/tasks.md"} {
		for _, path := range existing(folder, pattern) {
			data, _, err := disk.Read(path)
			if f, noFormat := formatOf(path, body(data)); err == nil && noFormat == nil && !slices.ContainsFunc(all, func(o Found) bool { return o.Path == path }) {
				all = append(all, Found{path, f.Name})
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

// existing lists what a pattern of slash paths below dir names, sorted.
func existing(dir, pattern string) []string {
	if !strings.ContainsAny(pattern, `*?[{\`) { // also a link to nothing
		path := filepath.Join(dir, filepath.FromSlash(pattern))
		if _, err := os.Lstat(path); err != nil {
			return nil
		}
		return []string{path}
	}
	paths, err := doublestar.FilepathGlob(filepath.Join(escaped(dir), filepath.FromSlash(pattern)))
	if err != nil {
		return nil // a name that no pattern can hold
	}
	slices.Sort(paths)
	return paths
}

// escaped is a folder's name as a pattern that only it matches.
func escaped(dir string) string {
	var out []byte
	for _, c := range []byte(dir) {
		if c == '*' || c == '?' || c == '[' || c == '{' || c == '\\' {
			out = append(out, '\\')
		}
		out = append(out, c)
	}
	return string(out)
}
