package hollow

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// muffles are patterns of code that keeps a failed assertion from failing its test.
var muffles = sync.OnceValue(func() (p struct {
	text  *regexp.Regexp // in the text of a test
	tuple *regexp.Regexp // a trimmed line
	fails *regexp.Regexp // a call that fails a test in Go
	rows  *regexp.Regexp // a loop over some rows of a table in Go
	any   *regexp.Regexp // an expectation of whatever exception
	some  *regexp.Regexp // an expectation of an exception
	early *regexp.Regexp // an end of the test that depends on the environment
}) {
	p.text = regexp.MustCompile(`\bexcept \(?AssertionError\b[^:\n]*:\s+(?:pass|\.\.\.)\s|` +
		`\bassert\.(?:rejects|doesNotReject)\([^\n]*\)\.catch\(\s*\(\w*\)\s*=>\s*(?:\{\s*\}|undefined|null)\s*\)|` +
		`\bsuppress\((?:\w+, )*(?:AssertionError|Exception|BaseException)\b|` +
		`\btry \{[^}]*\b(?:assert|expect)\b[^}]*\}\s*catch\s*(?:\(\w*\)\s*)?\{\s*(?://[^\n]*\s*)?\}|` +
		`\.is_(?:ok|err)\(\)\s*\|\|\s*\w+\.is_(?:ok|err)\(\)|` +
		`\.is_(?:some|none)\(\)\s*\|\|\s*\w+\.is_(?:some|none)\(\)|` +
		`\bdefer func\(\) \{\s*(?:_ = )?recover\(\)\s*(?://[^\n]*\s*)?\}\(\)|` + // a panic is what fails a test here
		`(?m:^\s*assert \((?:[^()]|\([^()]*\))*,\s*["'][^"'\n]*["'],?\s*\)\s*$)`)
	p.early = regexp.MustCompile(`(?i)if [^\n]*(?:getenv|lookupenv|environ|process\.env)[^\n]*(?:\{|` +
		`:|\))\s*return\b[^\n]*`)
	p.rows = regexp.MustCompile(`\brange (\w+)\[:\d+\]`) // rows[1:] leaves out a heading
	p.any = regexp.MustCompile(`\b(?:pytest\.raises|assertRaises)\((?:Base)?Exception\b`)
	p.some = regexp.MustCompile(`\b(?:pytest\.raises|assertRaises)\(`)
	p.tuple = regexp.MustCompile(`^assert \([^()]*(?:\([^()]*\)[^()]*)*, *["'][^"']*["']\)$`)
	p.fails = regexp.MustCompile(`^t\.(?:Errorf?|Fatalf?)\(`)
	return p
})

// Blunted says how a test that was there before lost an assertion to something that cannot fail; empty: it
// did not.
func Blunted(before, after string) string {
	p := muffles()
	if m := p.text.FindString(after); m != "" && !p.text.MatchString(before) {
		return "a failed assertion no longer counts: " + strings.Join(strings.Fields(m), " ")
	}
	if m := p.rows.FindStringSubmatch(after); m != nil && strings.Contains(before, "range "+m[1]+" {") {
		return "it looks at some rows of its table only: " + m[0]
	}
	if m := p.any.FindString(after); m != "" && p.some.MatchString(before) && !p.any.MatchString(before) {
		return "any exception is right now: " + m + ")"
	}
	if m := p.early.FindString(after); m != "" && !p.early.MatchString(before) && !bare().machine.MatchString(m) {
		return "it ends early now: " + strings.Join(strings.Fields(m), " ")
	}
	was, is := trimmed(before), trimmed(after)
	for _, line := range was {
		if !slices.Contains(is, line) {
			if left := unchecked(line, is); left != "" && !slices.Contains(was, left) {
				return "it no longer asserts: " + left
			}
		}
	}
	for _, line := range is {
		if slices.Contains(was, line) {
			continue
		}
		if p.tuple.MatchString(line) {
			return "a tuple is always true: " + line
		}
		if args, ok := strings.CutPrefix(line, "t.Log"); ok {
			args = strings.TrimPrefix(args, "f")
			lost := func(old string) bool {
				loc := p.fails.FindStringIndex(old)
				return loc != nil && "("+old[loc[1]:] == args && !slices.Contains(is, old)
			}
			if slices.ContainsFunc(was, lost) {
				return "a failure is only logged now: " + line
			}
		}
	}
	return ""
}

func trimmed(text string) (all []string) {
	for line := range strings.Lines(text) {
		all = append(all, strings.TrimSpace(line))
	}
	return all
}
