package command

import "strings"

// locked returns the lock file that stopped git; empty if its error is a different one. It reads git's message because
// the file may be gone by now.
func locked(said string) string {
	_, file, found := strings.Cut(said, "Unable to create '")
	file, _, exists := strings.Cut(file, "': File exists")
	if !found || !exists || !strings.HasSuffix(file, ".lock") {
		return ""
	}
	return file
}
