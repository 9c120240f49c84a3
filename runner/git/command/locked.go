package command

import "strings"

// locked returns the lock file that git found in its way, empty if that is not what it
// said. Only git's own words tell: the file may be gone by now.
func locked(said string) string {
	_, file, found := strings.Cut(said, "Unable to create '")
	file, _, exists := strings.Cut(file, "': File exists")
	if !found || !exists || !strings.HasSuffix(file, ".lock") {
		return ""
	}
	return file
}
