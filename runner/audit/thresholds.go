package audit

import (
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// settingPatterns tell which settings are weaker than others.
var settingPatterns = sync.OnceValue(func() (p struct {
	pair, number, least, most, strict, lenient, list *regexp.Regexp
	level                                            map[string]int
}) {
	p.pair = regexp.MustCompile(`^["']?([\w@/.-]+)["']?\s*[:=]\s*(.+)$`)
	p.number = regexp.MustCompile(`\d+(?:\.\d+)?`)
	p.least = regexp.MustCompile(`(?i)fail[-_.]?under|threshold|` +
		`\b(?:lines|branches|functions|statements)\b|^target:\s*\d+%|min\w*.?cover|` +
		`^(?:cov(?:erage)?_?)?min(?:imum)?(?:_?cov(?:erage)?)?\s*[:?]?=`)
	p.most = regexp.MustCompile(`(?i)^["']?max[-_]?(?:function|line|file|len|complexity|depth|param|statement|` +
		`nested|warning|arg|local|branch|return|class)\w*["']?\s*[:=]`)
	p.strict = regexp.MustCompile(`(?i)^strict|^no[A-Z]|^disallow_|^warn_|^check_|^fail_on|` +
		`^forceConsistent|^exactOptional|^useUnknown`)
	p.lenient = regexp.MustCompile(`(?i)^ignore_(?:errors|missing)|^skip_|^skipLibCheck|^passWithNoTests`)
	p.list = regexp.MustCompile(`(?i)^(?:lint\.)?(?:extend-)?(?:ignore|exclude|omit|disable)$`)
	p.level = map[string]int{"off": 1, "allow": 1, "warn": 2, "warning": 2, "error": 3, "deny": 3, "forbid": 4}
	return p
})

// weakenedSetting finds a setting that is weaker than before. Only lines that set the same
// key, or differ only in their numbers, are compared: a change may have many lines.
func weakenedSetting(lost, added []string) (before, after string, ok bool) {
	p := settingPatterns()
	byKey, byShape := map[string][]string{}, map[string][]string{}
	for _, is := range added {
		if y := p.pair.FindStringSubmatch(is); y != nil {
			byKey[y[1]] = append(byKey[y[1]], is)
		}
		shape := p.number.ReplaceAllString(is, "0")
		byShape[shape] = append(byShape[shape], is)
	}
	for _, was := range lost {
		if p.least.MatchString(was) || p.most.MatchString(was) {
			for _, is := range byShape[p.number.ReplaceAllString(was, "0")] {
				if lowered(was, is) || p.most.MatchString(was) && raised(was, is) {
					return was, is, true
				}
			}
		}
		if x := p.pair.FindStringSubmatch(was); x != nil {
			for _, is := range byKey[x[1]] {
				if weaker(was, is) {
					return was, is, true
				}
			}
		}
	}
	return "", "", false
}

// lowered reports whether a line with a threshold differs only in its numbers, and at
// least one is lower and none is higher.
func lowered(was, is string) bool {
	return settingPatterns().least.MatchString(was) && onlyLower(was, is)
}

// raised reports whether a line differs only in its numbers, and at least one is higher and none is lower.
func raised(was, is string) bool { return onlyLower(is, was) }

func onlyLower(was, is string) bool {
	p := settingPatterns()
	if p.number.ReplaceAllString(was, "0") != p.number.ReplaceAllString(is, "0") {
		return false
	}
	now := p.number.FindAllString(is, -1)
	lower := false
	for i, text := range p.number.FindAllString(was, -1) {
		b, err := strconv.ParseFloat(text, 64)
		a, err2 := strconv.ParseFloat(now[i], 64)
		if err != nil || err2 != nil || a > b {
			return false
		}
		lower = lower || a < b
	}
	return lower
}

// weaker reports whether both lines set the same key, the second to a weaker level, the
// weaker boolean or a longer list of exceptions.
func weaker(was, is string) bool {
	p := settingPatterns()
	x, y := p.pair.FindStringSubmatch(was), p.pair.FindStringSubmatch(is)
	if x == nil || y == nil || x[1] != y[1] {
		return false
	}
	b, a := items(x[2]), items(y[2])
	switch {
	case len(b) == 0 || len(a) == 0:
		return false
	case p.list.MatchString(x[1]):
		return len(a) > len(b) && len(Without(b, a)) == 0
	case p.level[a[0]] > 0:
		return p.level[b[0]] > p.level[a[0]]
	}
	return p.strict.MatchString(x[1]) && b[0] == "true" && a[0] == "false" ||
		p.lenient.MatchString(x[1]) && b[0] == "false" && a[0] == "true"
}

// items returns the words of a value in lower case: ["warn", 2] gives warn and 2.
func items(value string) []string {
	return strings.FieldsFunc(strings.ToLower(value), func(r rune) bool { return strings.ContainsRune(` "'[]{},`, r) })
}

// lintPatterns match settings of linters.
var lintPatterns = sync.OnceValue(func() (p struct {
	config *regexp.Regexp // path of the settings
	left   *regexp.Regexp // a list in them of what a linter leaves out; group 1 is its items
	source *regexp.Regexp // an item that is a file of code; group 1 is its path
	listed *regexp.Regexp // name of a file with the files that a linter leaves out
	made   *regexp.Regexp // files that no person writes
}) {
	re := regexp.MustCompile
	p.config = re(`(?i)(?:^|/)\.[\w.-]*(?:lint|ruff|flake8|mypy|biome|prettier|clippy|phpstan|rubocop)[\w.-]*$|` +
		`(?:^|/)(?:eslint|stylelint|prettier)\.config\.\w+$|` +
		`(?:^|/)(?:biome|ruff|mypy|clippy|phpstan)\.(?:jsonc?|toml|ini|neon)$|` +
		`(?:^|/)(?:pyproject\.toml|setup\.cfg|tsconfig[\w.]*\.json)$`)
	p.left = re(`(?i)["']?\b(?:[\w-]*ignore\w*|[\w-]*exclude\w*|skip\w*|omit)["']?\s*[:=]\s*\[([^\]]*)\]`)
	p.source = re(`["']([\w.-]+(?:/[\w.-]+)*\.(?:go|py|[cm]?[jt]sx?|rs|rb|php|java|kt|c|cc|cpp|sh))["']`)
	p.listed = re(`^\.\w*(?:lint|prettier|style|flake8|ruff)\w*ignore$`)
	p.made = re(`(?i)gen(?:erated)?\b|_gen\.|\.pb\.|_pb2|vendor|third[_-]?party|node_modules|dist/|` +
		`build/|\.min\.|migrations?/|\.d\.ts`)
	return p
})

// unlinted returns a changed file that a linter now leaves out, or a file of code that its settings leave out by name.
// It is empty if there is neither.
func unlinted(f File, changed []File) string {
	if p := lintPatterns(); p.config.MatchString(f.Path) && f.Before != "" {
		for _, list := range p.left.FindAllStringSubmatch(f.After, -1) {
			for _, item := range p.source.FindAllStringSubmatch(list[1], -1) {
				had := func(o File) bool { return p.config.MatchString(o.Path) && strings.Contains(o.Before, item[1]) }
				if !lintPatterns().made.MatchString(item[1]) && !slices.ContainsFunc(changed, had) {
					return item[1]
				}
			}
		}
	}
	if !lintPatterns().listed.MatchString(path.Base(f.Path)) {
		return ""
	}
	for line := range strings.Lines(f.After) {
		line = strings.TrimPrefix(strings.TrimSpace(line), "/")
		same := func(o File) bool { return o.Path == line }
		if line != "" && !strings.Contains(f.Before, line) && slices.ContainsFunc(changed, same) {
			return line
		}
	}
	return ""
}
