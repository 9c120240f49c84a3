package lessons

import (
	"slices"
	"strings"
)

// Notes returns the files of the project that list the patterns.
func Notes(project string) []string { return shared(project, false) }

// Revert removes the change from before to after from the current text of such a file. Other iterations and people may
// have added to the list of patterns since: their lines stay. ok is false if the rest of the file has changed since.
func Revert(now, after, before string) (text string, ok bool) {
	rest, list := split(now)
	restAfter, added := split(after)
	restBefore, had := split(before)
	switch restAfter {
	case restBefore:
	case rest:
		rest = restBefore
	default:
		return "", false
	}
	list = slices.DeleteFunc(list, func(line string) bool {
		return slices.Contains(added, line) && !slices.Contains(had, line)
	})
	for _, line := range had {
		if !slices.Contains(added, line) && !slices.Contains(list, line) {
			list = append(list, line)
		}
	}
	return insert(strings.SplitAfter(rest, "\n"), list), true
}

// split separates the list of patterns from the rest of a file.
func split(text string) (rest string, list []string) {
	lines := strings.SplitAfter(text, "\n")
	at := heading(lines)
	if at < 0 {
		return text, nil
	}
	end := at + 1
	for end < len(lines) && strings.HasPrefix(lines[end], "- ") {
		end++
	}
	return strings.Join(slices.Concat(lines[:at+1], lines[end:]), ""), slices.Clone(lines[at+1 : end])
}

func heading(lines []string) int {
	return slices.IndexFunc(lines, func(line string) bool { return strings.TrimSpace(line) == patterns })
}

// insert adds patterns below their heading, and the heading if it is missing.
func insert(lines, fresh []string) string {
	at := heading(lines)
	switch {
	case len(fresh) == 0:
	case at < 0:
		lines = slices.Concat([]string{patterns + "\n"}, fresh, []string{"\n"}, lines)
	default:
		if !strings.HasSuffix(lines[at], "\n") {
			lines[at] += "\n"
		}
		lines = slices.Insert(lines, at+1, fresh...)
	}
	return strings.Join(lines, "")
}
