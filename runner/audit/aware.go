package audit

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// awarePatterns match trimmed lines of code, by the ending of the file, and tasks that want such code.
var awarePatterns = sync.OnceValue(func() (p struct {
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
	p.asked = re(`(?i)\b(?:in|under|during|for|from|while|within|when) (?:\w+ )?(?:test(?:s|ing)?|pytest|unittest|` +
		`jest|vitest|mocha)\b|\btest(?:ing)?[ -](?:mode|env\w*|builds?|runs?|only|helpers?)\b`)
	return p
})

// awareLine says which line of a file asks whether a test runs; empty: no line that is not in the old text does.
// Tests inside Rust code are left out, and so are the settings of tools: vite.config.ts asks for its tests.
func awareLine(file, text, old string) string {
	re := awarePatterns().code[file[strings.LastIndexByte(file, '.')+1:]]
	if re == nil || isSetting(file) {
		return ""
	}
	for line := range strings.Lines(productOf(text)) {
		line = strings.TrimSpace(line)
		if re.MatchString(line) && !strings.HasPrefix(line, "//") && !strings.HasPrefix(line, "#") && !strings.Contains(old, line) {
			return "it now asks whether a test runs: " + line
		}
	}
	return ""
}

// isSetting reports whether a file is read by a tool, and not by the program: tools look for theirs beside
// the sources, not among them.
func isSetting(file string) bool {
	named, _ := path.Match("*.config.*", path.Base(file))
	return named && !slices.Contains(strings.Split(path.Dir(file), "/"), "src")
}
