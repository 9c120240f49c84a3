package gate

import (
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// badGlob reports whether a glob is malformed and so matches nothing.
func badGlob(glob string) bool { return !doublestar.ValidatePattern(glob) }

// MatchGlob reports whether a slash path matches a glob. ** stands for any number of folders, including none, and {a,b} for
// one of several words. A glob without a slash matches the last name; one that ends with a slash matches everything in
// that folder.
func MatchGlob(glob, file string) bool {
	glob = strings.TrimPrefix(glob, "./")
	if strings.HasSuffix(glob, "/") {
		glob += "**"
	}
	if !strings.Contains(glob, "/") && glob != "**" {
		file = path.Base(file)
	}
	return matches(glob, file)
}

// Touched reports whether a changed file matches one of the globs. Without globs, any change does, and none.
func Touched(files, globs []string) bool {
	return len(globs) == 0 || slices.ContainsFunc(files, func(file string) bool {
		return slices.ContainsFunc(globs, func(glob string) bool { return MatchGlob(glob, file) })
	})
}

func matches(glob, file string) bool {
	ok, _ := doublestar.Match(glob, file) // a bad glob matches nothing
	if parent, below := strings.CutSuffix(glob, "/**"); !ok && below {
		return matches(parent, file) // doublestar lets a/** match a, but not a*/**
	}
	return ok
}
