package hollow

import (
	"iter"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// bare match single trimmed lines.
var bare = sync.OnceValue(func() (p struct {
	asserts *regexp.Regexp // of one value, which one of the groups has
	equal   *regexp.Regexp // of two values, in JavaScript
	equals  *regexp.Regexp // of two values, in Rust
	pair    *regexp.Regexp // of two values
	steady  *regexp.Regexp // tests that have a reason to call twice
	machine *regexp.Regexp // conditions about the machine, not the environment
}) {
	re := regexp.MustCompile
	p.asserts = re(`^(?:assert!\((.+)\);|assert (\w.*[^,(\[{])|assert(?:\.ok)?\((.+)\);?)$`)
	p.equal = re(`^assert\.(?:\w*[eE]qual)\((.+)\);?$`)
	p.equals = re(`^assert_eq!\((.+)\);$`)
	p.pair = re(`^(?:await )?(?:self\.|assert\.|require\.)?(?:assert\w*!?|[Ee]qual\w*|strictEqual|deepEqual|` +
		`deepStrictEqual)\((.+)\);?$|^assert (.+ == .+)$|^expect\((.+\)\.to\w*[Ee]qual\(.+)\);?$|` +
		`^expect\((.+\)\.toBe\(.+)\);?$`)
	p.steady = re(`(?i)determin|stable|same|idempot|cach|memo|equal|pure|consist|repeat|twice|singleton|identi|` +
		`once|uniqu|again|order|hash|seed|reus|lazy|eq\b`)
	p.machine = re(`(?i)GOOS|GOARCH|platform|windows|win32|darwin|macos|linux|\bos\.name|version`)
	return p
})

// unchecked returns the new line that has the value of an old assertion, and asserts nothing: "let _ = x" of
// "assert!(x)"; empty: none.
func unchecked(assertion string, lines []string) string {
	if m := bare().equal.FindStringSubmatch(assertion); m != nil {
		// The second value is a message now.
		for _, call := range []string{"assert.ok(" + m[1] + ")", "assert(" + m[1] + ")"} {
			for _, form := range []string{call + ";", call} {
				if slices.Contains(lines, form) {
					return form
				}
			}
		}
	}
	if m := bare().equals.FindStringSubmatch(assertion); m != nil {
		for left, right := range cuts(m[1], ", ") {
			if form := "let _ = " + left + " == " + right + ";"; slices.Contains(lines, form) {
				return form
			}
		}
	}
	m := bare().asserts.FindStringSubmatch(assertion)
	if m == nil {
		return ""
	}
	value := m[1] + m[2] + m[3]
	if !strings.Contains(value, "(") { // not a call: a line with only the value has no effect
		return ""
	}
	for _, form := range []string{"let _ = " + value + ";", "_ = " + value, "void " + value + ";", value + ";"} {
		if slices.Contains(lines, form) {
			return form
		}
	}
	return ""
}

// Itself returns the line of a test that compares a call with the same call; empty: none, or the test is about that.
func Itself(test string) string {
	name, body, _ := strings.Cut(test, "\n")
	if bare().steady.MatchString(name) {
		return ""
	}
	for line := range strings.Lines(body) {
		line = strings.TrimSpace(line)
		for _, group := range bare().pair.FindStringSubmatch(line) {
			if group != line && twins(group) {
				return line
			}
		}
	}
	return ""
}

// twins reports whether a text is the same call twice, with a separator between them.
func twins(text string) bool {
	for _, by := range []string{", ", " == ", ").toEqual(", ").toBe(", ").toStrictEqual("} {
		for left, right := range cuts(text, by) {
			if left == right {
				return strings.Contains(left, "(") && !strings.Contains(left, "=>")
			}
		}
	}
	return false
}

// cuts yields what stands before and after each separator of a text.
func cuts(text, by string) iter.Seq2[string, string] {
	return func(yield func(left, right string) bool) {
		for at := 0; ; at += len(by) {
			i := strings.Index(text[at:], by)
			if i < 0 {
				return
			}
			if at += i; !yield(text[:at], text[at+len(by):]) {
				return
			}
		}
	}
}
