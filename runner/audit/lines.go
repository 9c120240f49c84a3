package audit

import "strings"

// lines returns the trimmed lines of a text, without empty ones.
func lines(text string) (all []string) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			all = append(all, line)
		}
	}
	return all
}

// Without returns the lines that x has more often than y.
func Without(x, y []string) (left []string) {
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
