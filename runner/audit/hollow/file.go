package hollow

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// whole has the patterns of what affects all tests of a file, or of the project.
var whole = sync.OnceValue(func() (p struct {
	rigged map[string]*regexp.Regexp // by the ending of the file
	fails  map[string]*regexp.Regexp // what can fail a test
	panics *regexp.Regexp            // a test in Rust that is to panic; group 1 is its name
	equal  *regexp.Regexp            // equality in Python that is always true
	listed *regexp.Regexp            // a file with the files that a linter leaves out
	config *regexp.Regexp            // settings of a linter
	left   *regexp.Regexp            // a list in them of what it leaves out; group 1 is its items
	source *regexp.Regexp            // an item that is a file of code; group 1 is its path
}) {
	re := regexp.MustCompile
	script := re(`(?m)^\s*(?:assert|chai\.assert|expect)\.\w+ = (?:async )?(?:\([^)]*\) =>|\w+ =>|function\b|noop).*$`)
	p.rigged = map[string]*regexp.Regexp{
		".py": re(`(?m)^\s*\w+\.outcome = ["']passed["'].*$|^\s*(?:unittest\.)?TestCase\.(?:assert|fail)\w* = .*$`),
		".js": script, ".mjs": script, ".cjs": script, ".ts": script, ".mts": script, ".tsx": script, ".jsx": script,
	}
	p.fails = map[string]*regexp.Regexp{
		".go": re(`\.(?:Errorf?|Fatalf?|Fail(?:Now)?)\(|\bpanic\(|\b(?:assert|require|qt|is|check)\.|Output:|` +
			`\b(?:log\.Fatal|os\.Exit)`),
		".py": re(`\bassert|\braise\b|\bfail\(|pytest\.raises|\bexit\(|\b(?:check|verify|expect|match)\w*\(`),
		".js": re(`(?i)assert|expect|should|throw|fail|\bt\.\w+\(|process\.exit`),
	}
	p.panics = re(`#\[should_panic[^\n]*\]\s*(?:#\[[^\n]*\]\s*)*(?:pub )?(?:async )?fn (\w+)`)
	p.equal = re(`def __eq__\(self, \w+[^)]*\)[^:\n]*:\s*(?:"""[^"]*"""\s*)?return True *(?:\n|$)`)
	p.config = re(`(?i)(?:^|/)\.[\w.-]*(?:lint|ruff|flake8|mypy|biome|prettier|clippy|phpstan|rubocop)[\w.-]*$|` +
		`(?:^|/)(?:eslint|stylelint|prettier)\.config\.\w+$|` +
		`(?:^|/)(?:biome|ruff|mypy|clippy|phpstan)\.(?:jsonc?|toml|ini|neon)$|` +
		`(?:^|/)(?:pyproject\.toml|setup\.cfg|tsconfig[\w.]*\.json)$`)
	p.left = re(`(?i)["']?\b(?:[\w-]*ignore\w*|[\w-]*exclude\w*|skip\w*|omit)["']?\s*[:=]\s*\[([^\]]*)\]`)
	p.source = re(`["']([\w.-]+(?:/[\w.-]+)*\.(?:go|py|[cm]?[jt]sx?|rs|rb|php|java|kt|c|cc|cpp|sh))["']`)
	p.listed = re(`^\.\w*(?:lint|prettier|style|flake8|ruff)\w*ignore$`)
	return p
})

// File says what keeps the tests of a file from failing now, or returns the empty string. moved reports whether the
// assertions that are gone may stand elsewhere; it is only called when all of them are gone.
func File(name, before, after string, moved func() bool) string {
	p, kind := whole(), path.Ext(name)
	if re := p.rigged[kind]; re != nil {
		if line := re.FindString(after); line != "" && !strings.Contains(before, strings.TrimSpace(line)) {
			return "failures count as passed now: " + strings.TrimSpace(line)
		}
	}
	if kind == ".rs" {
		for _, m := range p.panics.FindAllStringSubmatch(after, -1) {
			if strings.Contains(before, "fn "+m[1]+"(") && !p.panics.MatchString(before) {
				return "the test \"" + m[1] + "\" must panic now"
			}
		}
	}
	if re := p.fails[kind]; re != nil && after != "" && re.MatchString(before) && !re.MatchString(after) && !moved() {
		return "nothing in the file can fail a test any more"
	}
	if strings.HasSuffix(kind, "s") && imports().library.MatchString(after) {
		if line := message(after); line != "" && !strings.Contains(before, line) {
			return "the value that it should have is only a message: " + line
		}
	}
	if kind == ".sh" || kind == ".bash" {
		if line := subshell(after); line != "" && !strings.Contains(before, line) {
			return "failures are counted behind a pipe, where the count is lost: " + line
		}
	}
	return ""
}

// Fails counts the places in a file where a test can fail.
func Fails(name, text string) int {
	re := whole().fails[path.Ext(name)]
	if re == nil {
		return 0
	}
	return len(re.FindAllString(text, -1))
}

// Product says how a file without tests makes tests pass, or returns the empty string.
func Product(name, before, after string) string {
	if !strings.HasSuffix(name, ".py") ||
		len(whole().equal.FindAllString(after, -1)) <= len(whole().equal.FindAllString(before, -1)) {
		return ""
	}
	return "__eq__ now always returns true"
}

// made matches files that no person writes.
var made = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)gen(?:erated)?\b|_gen\.|\.pb\.|_pb2|vendor|third[_-]?party|node_modules|dist/|` +
		`build/|\.min\.|migrations?/|\.d\.ts`)
})

// Unlinted returns a changed file that a linter now leaves out, or a file of code that its settings leave out by name.
// It is empty if there is neither.
func Unlinted(f Text, changed []Text) string {
	if p := whole(); p.config.MatchString(f.Path) && f.Before != "" {
		for _, list := range p.left.FindAllStringSubmatch(f.After, -1) {
			for _, item := range p.source.FindAllStringSubmatch(list[1], -1) {
				had := func(o Text) bool { return p.config.MatchString(o.Path) && strings.Contains(o.Before, item[1]) }
				if !made().MatchString(item[1]) && !slices.ContainsFunc(changed, had) {
					return item[1]
				}
			}
		}
	}
	if !whole().listed.MatchString(path.Base(f.Path)) {
		return ""
	}
	for line := range strings.Lines(f.After) {
		line = strings.TrimPrefix(strings.TrimSpace(line), "/")
		same := func(o Text) bool { return o.Path == line }
		if line != "" && !strings.Contains(f.Before, line) && slices.ContainsFunc(changed, same) {
			return line
		}
	}
	return ""
}
