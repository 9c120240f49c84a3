package statusblock

import (
	"slices"
	"strings"

	"ralph/logs/termtext"
)

// Learnings returns what a final message says was learned: its <learning> blocks, and the LEARNINGS of its status
// block. Code and quotations do not count: they are not the agent's own words.
func Learnings(final string) (found []string) {
	lines, own := strings.Split(termtext.Clean(final), "\n"), ""
	for i := 0; i < len(lines); i++ {
		if line := strings.TrimSpace(lines[i]); fence(line) != "" {
			i = fenceEnd(lines, i)
		} else if !strings.HasPrefix(line, ">") {
			own += lines[i] + "\n"
		}
	}
	for {
		_, rest, opened := strings.Cut(own, "<learning>")
		block, after, closed := strings.Cut(rest, "</learning>")
		if !opened || !closed {
			break
		}
		found, own = append(found, items(block)...), after
	}
	signal, _ := Parse(final)
	for _, l := range signal.Learnings {
		if !slices.Contains(found, l) {
			found = append(found, l)
		}
	}
	return found
}

// items returns the items of a list, or a text that is none as a whole.
func items(block string) (list []string) {
	for line := range strings.Lines(strings.TrimSpace(block)) {
		line = strings.TrimSpace(line)
		if len(line) > 1 && strings.ContainsRune("-*+", rune(line[0])) && line[1] == ' ' {
			list = append(list, line[2:])
		} else if line != "" {
			return []string{termtext.Unwrap(block)}
		}
	}
	return list
}
