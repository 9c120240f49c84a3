package audit

import "strings"

// lines returns the trimmed lines of a text, without empty ones.
func lines(text string) []string {
	var all []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			all = append(all, line)
		}
	}
	return all
}

// diffLines returns the lines that one side has more often than the other.
func diffLines(was, is []string) (lost, added []string) {
	return without(was, is), without(is, was)
}

// without returns the lines that x has more often than y.
func without(x, y []string) (left []string) {
	have := map[string]int{}
	for _, line := range y {
		have[line]++
	}
	for _, line := range x {
		if have[line]--; have[line] < 0 {
			left = append(left, line)
		}
	}
	return left
}
