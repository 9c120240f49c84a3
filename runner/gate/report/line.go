package report

import "strings"

// MessageLine returns the line of a test's message that names the error: the first
// that pytest marks with E, else the first.
func MessageLine(message string) string {
	first := ""
	for line := range strings.SplitSeq(strings.TrimSpace(message), "\n") {
		if rest, ok := strings.CutPrefix(line, "E "); ok {
			return strings.TrimSpace(rest)
		}
		if first == "" {
			first = strings.TrimSpace(line)
		}
	}
	return first
}

// ErrorLine returns the first line of an output that names an error, else the last.
func ErrorLine(output string) string {
	last := ""
	for line := range strings.SplitSeq(output, "\n") {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		last = line
		low := strings.ToLower(line)
		for _, word := range []string{"error", "fail", "not ok", "panic", "not found"} {
			if strings.Contains(low, word) {
				return line
			}
		}
	}
	return last
}
