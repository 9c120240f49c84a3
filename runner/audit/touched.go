package audit

import (
	"sort"
	"strings"
)

// TouchedTests names the tests in a file that were written or changed. A change between two tests touches neither.
func TouchedTests(f File) (names []string) {
	l := languageOf(f.Path)
	if l == nil || !f.Exists || f.Before == f.After {
		return nil
	}
	was := l.bodies(f.Before)
	for name, body := range l.bodies(f.After) {
		if body != was[name] {
			names = append(names, name)
		}
	}
	sort.Strings(names)
	return names
}

// ChangedTests names the tests that a file had and whose lines are changed or gone.
func ChangedTests(f File) (names []string) {
	l := languageOf(f.Path)
	if l == nil {
		return nil
	}
	is := l.bodies(f.After)
	for name, body := range l.bodies(f.Before) {
		if LosesLines(body, is[name]) {
			names = append(names, name)
		}
	}
	sort.Strings(names)
	return names
}

// LosesLines reports whether a text had lines that are changed or gone now. Blank lines and indentation do not count.
func LosesLines(before, after string) bool { return len(Without(lines(before), lines(after))) > 0 }

// bodies returns the text of each test in a file, by its name. A test ends where a line begins that is indented no
// deeper than its first one, and is more than a closing bracket.
func (l *language) bodies(text string) map[string]string {
	all := map[string]string{}
	name, in, indent := "", false, 0
	for line := range strings.Lines(text) {
		trimmed := strings.TrimSpace(line)
		depth := len(line) - len(strings.TrimLeft(line, " \t"))
		switch {
		case trimmed == "":
			continue
		case l.test.MatchString(trimmed):
			name, in, indent = l.nameOf(trimmed), true, depth
		case in && name == "": // the name is on a line below: #[test]
			name = l.nameOf(trimmed)
		case in && depth <= indent && !strings.ContainsAny(trimmed[:1], "})]") && trimmed != "end":
			in = false
		}
		if in && name != "" {
			all[name] += line
		}
	}
	return all
}
