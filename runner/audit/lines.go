package audit

import (
	"strings"

	"ralph/runner/audit/values"
)

// lines returns the trimmed lines of a text, without empty ones.
func lines(text string) (all []string) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			all = append(all, line)
		}
	}
	return all
}

// diffLines returns the lines that one side has more often than the other.
func diffLines(was, is []string) (lost, added []string) {
	return values.Without(was, is), values.Without(is, was)
}
