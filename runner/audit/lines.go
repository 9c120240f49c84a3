package audit

import "strings"

// lines are the lines of a text, trimmed, without empty ones.
func lines(text string) []string {
	var all []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			all = append(all, line)
		}
	}
	return all
}

// diffLines returns the lines that only one side has, or has more often than the
// other, in any order.
func diffLines(was, is []string) (lost, added []string) {
	return without(was, is), without(is, was)
}

// without is what x has more often than y.
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
