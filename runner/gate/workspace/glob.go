package workspace

import (
	"path"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// BadGlob reports whether a glob is malformed and so matches nothing.
func BadGlob(glob string) bool { return !doublestar.ValidatePattern(glob) }

// Match compares a slash path with a glob in which ** stands for any number of
// folders, none included, and {a,b} for one of several. A glob without a slash
// is compared with the last name, one that ends with a slash means all below.
func Match(glob, file string) bool {
	glob = strings.TrimPrefix(glob, "./")
	if strings.HasSuffix(glob, "/") {
		glob += "**"
	}
	if !strings.Contains(glob, "/") && glob != "**" {
		file = path.Base(file)
	}
	return matches(glob, file)
}

func matches(glob, file string) bool {
	ok, _ := doublestar.Match(glob, file) // a bad glob matches nothing
	if parent, below := strings.CutSuffix(glob, "/**"); !ok && below {
		return matches(parent, file) // doublestar does so for a/**, but not for a*/**
	}
	return ok
}
