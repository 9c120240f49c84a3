// Package prose tells comments from code: text in, yes or no out.
package prose

import (
	"path"
	"regexp"
	"strings"
	"sync"
)

// patterns match trimmed lines, and tasks that are about what people read.
var patterns = sync.OnceValue(func() (p struct {
	comment map[string]*regexp.Regexp // by the ending of the file
	steers  *regexp.Regexp            // a comment that programs read
	builds  *regexp.Regexp            // a task that wants code
	named   *regexp.Regexp            // names of code, which may be any word
	asked   *regexp.Regexp
}) {
	re := regexp.MustCompile
	slashes, hash := re(`^(?://|/\*.*\*/$)`), re(`^#`)
	p.comment = map[string]*regexp.Regexp{".py": hash, ".rb": hash, ".sh": hash, ".bash": hash}
	for _, kind := range strings.Fields(".go .js .mjs .cjs .ts .mts .cts .jsx .tsx .rs .java .kt .c .h .cc .cpp " +
		".cs .swift .php .scala") {
		p.comment[kind] = slashes
	}
	p.steers = re(`^#!|^//(?:go|lint|nolint|export|extern|line)\b|^// ?\+build|^//\s*@ts-|^///\s*<|` +
		`(?i:eslint|prettier|istanbul|c8 ignore|v8 ignore|noqa|type: ?ignore|pylint|pragma|shellcheck|rubocop|mypy|` +
		`ruff|coding[:=]|noinspection|nosec|sourcemap|webpack|@jsx|@vite)`)
	p.named = re("`[^`\\n]*`")
	p.builds = re(`(?i)^\W*(?:add|implement|create|build|support|write|introduce|provide|develop|code)s?\b|` +
		`\b(?:must|shall)\b`)
	p.asked = re(`(?i)comment|descri|\bdocs?\b|doc-?string|document|explain|typo|spell|wording|licen[sc]e|header|` +
		`copyright|todo|fixme|annotat|\bnotes?\b|mention|clarif|readme|changelog|lint|format|pragma|\w+doc\b|` +
		`translat|attribut|credit|cite|refer|link`)
	return p
})

// Asked reports whether a task may be done by comments alone. One that does not say what to build may be.
func Asked(task string) bool {
	p := patterns()
	task = p.named.ReplaceAllString(task, "_")
	return !p.builds.MatchString(task) || p.asked.MatchString(task)
}

// Only reports whether two texts of a file of code differ in comments and blank lines alone.
func Only(name, before, after string) bool {
	re := patterns().comment[path.Ext(name)]
	if re == nil && strings.HasPrefix(before, "#!") {
		re = patterns().comment[".sh"]
	}
	return re != nil && before != after && code(re, before) == code(re, after)
}

// Code is a file of code without its lines of comments.
func Code(name, text string) string {
	if re := patterns().comment[path.Ext(name)]; re != nil {
		return code(re, text)
	}
	return text
}

// code is a text without its lines of comments.
func code(comment *regexp.Regexp, text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \t\r\n")
		trimmed := strings.TrimLeft(line, " \t")
		if trimmed != "" && (!comment.MatchString(trimmed) || patterns().steers.MatchString(trimmed)) {
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}
