package report

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"ralph/logs/lazy"
)

// telling has expressions for the line of a message that says what was expected, the best first: pytest, the YAML of TAP,
// testify, jest, Rust, and the names of exceptions.
var telling = sync.OnceValue(func() (all []*regexp.Regexp) {
	for _, text := range []string{`^E\s+(\S.*)`, `^error:\s*(.*)`, `^Error:\s+(\S.*)`, `^(Expected\b.*)`, `^(assertion .* failed.*)`,
		`^((?:[\w.]+\.)?\w*(?:Error|Exception|Failure)\b(?: \[\w+\])?:.*)`} {
		all = append(all, regexp.MustCompile(text))
	}
	return all
})

var (
	// place matches a line that says only where a test failed.
	place = lazy.Regexp(`^(?:Traceback \(most recent|thread '.*panicked at|duration_ms:|location:|type:|failureType:|Error Trace:|\S+:\d+:$)`)
	// compared matches a line that belongs to the one before it.
	compared = lazy.Regexp(`(?i)^(?:left|right|expected|actual|received|want|got)\b.*?[:=]|[!=]==?`)
)

// MessageLine returns the line of a test's message that says what was expected, with the values that follow it; else the
// first line.
func MessageLine(message string) string {
	var lines []string
	for line := range strings.SplitSeq(message, "\n") {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	at, text := slices.IndexFunc(lines, func(line string) bool { return !place().MatchString(line) }), ""
	if at < 0 {
		return strings.Join(lines[:min(1, len(lines))], "")
	}
	text = lines[at]
	for _, r := range telling() {
		match := func(line string) bool { return r.MatchString(line) }
		if i := slices.IndexFunc(lines, match); i >= 0 {
			for strings.HasPrefix(lines[0], "Traceback ") && slices.ContainsFunc(lines[i+1:], match) { // the last cause counts
				i += 1 + slices.IndexFunc(lines[i+1:], match)
			}
			at, text = i, strings.Trim(r.FindStringSubmatch(lines[i])[1], "'")
			break
		}
	}
	text = strings.TrimPrefix(text, "|-")
	for _, next := range lines[at+1 : min(at+4, len(lines))] {
		if text != "" && !strings.HasSuffix(text, ":") && !compared().MatchString(next) {
			break
		}
		text = strings.TrimSpace(text + " " + next)
	}
	return text
}

// ErrorLine returns the first line of an output that names an error, else the last.
func ErrorLine(output string) string {
	last, missing := "", ""
	for line := range strings.SplitSeq(output, "\n") {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		last = line
		low := strings.ToLower(line)
		if strings.HasSuffix(line, ": No such file or directory") {
			missing = line
		}
		if missing != "" && strings.HasSuffix(line, "Error 127") { // make says so first if a program is missing
			return missing
		}
		for _, word := range []string{"error", "fail", "not ok", "panic", "not found"} {
			if strings.Contains(low, word) {
				return line
			}
		}
	}
	return last
}
