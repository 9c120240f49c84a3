package workspace

import (
	"path"
	"strings"
)

// BadGlob tells whether a glob can never be compared.
func BadGlob(glob string) bool {
	_, err := path.Match(glob, "")
	return err != nil
}

// Match compares a slash path with a glob in which ** stands for any number of
// folders, none included. A glob without a slash is compared with the last name.
func Match(glob, file string) bool {
	glob = strings.TrimPrefix(glob, "./")
	if strings.HasSuffix(glob, "/") {
		glob += "**"
	}
	if !strings.Contains(glob, "/") && glob != "**" {
		file = path.Base(file)
	}
	return matchParts(strings.Split(glob, "/"), strings.Split(file, "/"))
}

func matchParts(glob, file []string) bool {
	for i, g := range glob {
		if g == "**" {
			for j := i; j <= len(file); j++ {
				if matchParts(glob[i+1:], file[j:]) {
					return true
				}
			}
			return false
		}
		if i >= len(file) {
			return false
		}
		if ok, _ := path.Match(g, file[i]); !ok {
			return false
		}
	}
	return len(glob) == len(file)
}
