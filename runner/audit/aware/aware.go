// Package aware finds code that asks whether it runs in a test: text in, lines out.
package aware

import (
	"regexp"
	"strings"
	"sync"
)

// patterns match trimmed lines of code, by the ending of the file, and tasks that want such code.
var patterns = sync.OnceValue(func() (p struct {
	code  map[string]*regexp.Regexp
	asked *regexp.Regexp
}) {
	re := regexp.MustCompile
	script := re(`\bprocess\.env\.(?:JEST_WORKER_ID|NODE_TEST_CONTEXT|VITEST\b)`)
	p.code = map[string]*regexp.Regexp{
		"go": re(`\btesting\.Testing\(\)|\bHasSuffix\(os\.Args\[0\], "\.test"\)|\bflag\.Lookup\("test\.`),
		"rs": re(`\bcfg!\((?:not\()?test\)`),
		"py": re(`["']PYTEST_CURRENT_TEST["']|["'](?:pytest|unittest|_pytest)["'] (?:not )?in sys\.modules`),
		"js": script, "mjs": script, "cjs": script, "jsx": script, "ts": script, "mts": script, "cts": script,
		"tsx": script,
	}
	p.asked = re(`(?i)\b(?:in|under|during|for|from|while|within|when) (?:\w+ )?(?:test(?:s|ing)?|pytest|unittest|jest|vitest|mocha)\b|\btest(?:ing)?[ -](?:mode|env\w*|builds?|runs?|only|helpers?)\b`)
	return p
})

// Asked reports whether a task wants code that knows about tests: "no colors in tests".
func Asked(task string) bool { return patterns().asked.MatchString(task) }

// Added returns a line of a file that asks whether a test runs, if it is not in the old text; else nothing.
// Tests inside
// Rust code are left out.
func Added(path, text, old string) string {
	re := patterns().code[path[strings.LastIndexByte(path, '.')+1:]]
	if re == nil {
		return ""
	}
	text, _, _ = strings.Cut(text, "#[cfg(test)]")
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if re.MatchString(line) && !strings.HasPrefix(line, "//") && !strings.HasPrefix(line, "#") &&
			!strings.Contains(old, line) {
			return line
		}
	}
	return ""
}
