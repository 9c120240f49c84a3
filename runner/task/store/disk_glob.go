package store

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"ralph/state/projectfs"
)

// fitsGlob reports whether a glob matches a path in lower case: its base name or, with a slash, its end.
func fitsGlob(glob, name string) bool {
	name = strings.ToLower(filepath.ToSlash(name))
	if strings.Contains(glob, "/") {
		glob = "**/" + glob
	} else {
		name = path.Base(name)
	}
	ok, err := doublestar.Match(glob, name)
	return err == nil && ok
}

// matchesIn lists the paths below dir that match a slash pattern, sorted. Links in place of files are listed, too: reading
// them will report them.
func matchesIn(in projectfs.Dir, dir, pattern string) []string {
	const meta = `*?[{\`
	missing := func(at string) bool { _, err := in.Lstat(at); return err != nil && !projectfs.IsLink(err) }
	if !strings.ContainsAny(pattern, meta) {
		at := filepath.Join(dir, filepath.FromSlash(pattern))
		if missing(at) {
			return nil
		}
		return []string{at}
	}
	if parent, name := path.Split(pattern); !strings.ContainsAny(name, meta+"}") {
		paths := matchesIn(in, dir, path.Clean(parent)) // do not list these folders: there may be thousands
		for i := range paths {
			paths[i] = filepath.Join(paths[i], name)
		}
		paths = slices.DeleteFunc(paths, missing)
		slices.Sort(paths)
		return paths
	}
	names, err := doublestar.Glob(in.FS(dir), pattern, doublestar.WithNoFollow())
	if err != nil {
		return nil // a bad pattern matches nothing
	}
	for i, name := range names {
		names[i] = filepath.Join(dir, filepath.FromSlash(name))
	}
	slices.Sort(names)
	return names
}
