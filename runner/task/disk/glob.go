package disk

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Fits reports whether a glob matches a path in lower case: its base name or, with a slash, its end.
func Fits(glob, name string) bool {
	name = strings.ToLower(filepath.ToSlash(name))
	if strings.Contains(glob, "/") {
		glob = "**/" + glob
	} else {
		name = path.Base(name)
	}
	ok, err := doublestar.Match(glob, name)
	return err == nil && ok
}

// Matches lists the paths below dir that match a slash pattern, sorted.
func Matches(dir, pattern string) []string {
	const meta = `*?[{\`
	if !strings.ContainsAny(pattern, meta) { // also a link to nothing
		at := filepath.Join(dir, filepath.FromSlash(pattern))
		if _, err := os.Lstat(at); err != nil {
			return nil
		}
		return []string{at}
	}
	if parent, name := path.Split(pattern); !strings.ContainsAny(name, meta+"}") {
		paths := Matches(dir, path.Clean(parent)) // do not list these folders: there may be thousands
		for i := range paths {
			paths[i] = filepath.Join(paths[i], name)
		}
		paths = slices.DeleteFunc(paths, func(at string) bool { _, err := os.Stat(at); return err != nil })
		slices.Sort(paths)
		return paths
	}
	paths, err := doublestar.FilepathGlob(filepath.Join(escaped(dir), filepath.FromSlash(pattern)))
	if err != nil {
		return nil // a bad pattern matches nothing
	}
	slices.Sort(paths)
	return paths
}

// escaped returns a folder's name as a pattern that only it matches.
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
