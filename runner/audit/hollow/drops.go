package hollow

import "strings"

// dropsFailures says whether a test of Python asserts in a try whose handler drops the failure.
func dropsFailures(body string) bool {
	lines := strings.Split(body, "\n")
	for i, line := range lines {
		if strings.TrimSpace(line) == "try:" && handlerDrops(lines[i+1:], indent(line)) {
			return true
		}
	}
	return false
}

// handlerDrops reads what follows a try of this depth, up to its first handler.
func handlerDrops(lines []string, depth int) bool {
	asserts := false
	for i, line := range lines {
		text := strings.TrimSpace(line)
		switch {
		case text == "":
		case indent(line) > depth:
			asserts = asserts || strings.HasPrefix(text, "assert ") || strings.HasPrefix(text, "self.assert")
		case !asserts || !patterns().catches.MatchString(text) || i+1 == len(lines):
			return false
		default:
			next := strings.TrimSpace(lines[i+1])
			fails := i+2 < len(lines) && strings.TrimSpace(lines[i+2]) == "else:" // that nothing was raised
			return !fails && (next == "pass" || next == "..." || next == "return")
		}
	}
	return false
}

func indent(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }
