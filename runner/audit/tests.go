package audit

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// test is one test of a file.
type test struct {
	name, file string
	head, body source // decorators with the line of the test; all behind it
	strength   int    // of its assertions
	rows       int    // of its tables
	skip       skip
	dead       int // branches that never run
}

// skip says how a test is kept from running.
type skip int

const (
	runs     skip = iota
	platform      // skipped on some machines only
	asked         // skipped under another condition
	skipped       // never runs
)

// suite is all that the files of one language hold, before or after.
type suite struct {
	tests []test
	// defined maps each name that code outside of tests defines to its text.
	defined map[string]string
	helpers map[string]string // the same for what test files define outside of tests
	routes  map[string]bool   // strings of code outside of tests that name something: "/old", "--old"
	modules map[string]bool   // base names of files outside of tests
	files   map[string]fileFacts
}

// fileFacts are counts over one test file.
type fileFacts struct{ focus, skips, blockSkips int }

func newSuite() *suite {
	return &suite{defined: map[string]string{}, helpers: map[string]string{}, routes: map[string]bool{}, modules: map[string]bool{}, files: map[string]fileFacts{}}
}

// add reads one file.
func (s *suite) add(l *language, path, raw string) {
	src := mask(l, raw)
	rest := []byte(src.code)
	if l.testFiles.MatchString(path) {
		outside := []byte(src.code)
		for _, t := range findTests(l, path, src) {
			s.tests = append(s.tests, t.test)
			for i := t.start; i < t.end; i++ {
				if rest[i] != '\n' {
					rest[i], outside[i] = ' ', ' '
				}
			}
		}
		s.files[path] = fileFacts{
			focus: len(l.focus.FindAllString(src.code, -1)), blockSkips: skips(l, source{src.text, string(outside)})[skipped],
			skips: len(slices.DeleteFunc(l.fileSkip.FindAllString(raw, -1), l.platform.MatchString)),
		}
		if !l.testFiles.MatchString("src/x" + ext(path)) { // tests and code are in different files
			define(s.helpers, l, string(rest), src)
			return
		}
	}
	define(s.defined, l, string(rest), src)
	s.addRoutes(source{src.text, string(rest)})
	s.modules[module(path)] = true
}

func ext(path string) string { return path[strings.LastIndexByte(path, '.'):] }

// module is the name by which other code knows the file.
func module(path string) string {
	name := path[strings.LastIndexByte(path, '/')+1:]
	name, _, _ = strings.Cut(name, ".")
	switch name {
	case "index", "main", "mod", "lib", "__init__", "app", "utils", "util", "types":
		return ""
	}
	return name
}

// define remembers what the code defines: each name with the text up to the
// next definition.
func define(defined map[string]string, l *language, code string, src source) {
	all := l.define.FindAllStringSubmatchIndex(code, -1)
	for i, m := range all {
		end := len(code)
		if i+1 < len(all) {
			end = all[i+1][0]
		}
		for g := 2; g+1 < len(m); g += 2 {
			if m[g] >= 0 {
				defined[code[m[g]:m[g+1]]] += src.text[m[0]:end]
			}
		}
	}
}

func (s *suite) addRoutes(src source) {
	for _, t := range tokens(src) {
		if t.kind == tokenString && shapes().route.MatchString(t.text) {
			s.routes[t.text] = true
		}
	}
}

// shapes are the patterns that hold for all languages.
var shapes = sync.OnceValue(func() (p struct{ route, row, values *regexp.Regexp }) {
	p.route = regexp.MustCompile(`^(?:/|--)[\w/:.-]{2,}$`)
	p.row = regexp.MustCompile(`^\s*(?:(?:"\w*\x01*"|'\w*\x01*'|\w+)\s*:\s*)?[\[{(].*[\]})],?\s*$|^\s*#\[(?:case|test_case)|\bpytest\.param\(|\bt\.Run\("|\.subTest\(`)
	p.values = regexp.MustCompile(`\bparametrize\(|@(?:Value|Csv|Enum)Source|\.each\(|#\[values|^\s*for\b.*\bin\b`)
	return p
})

type placed struct {
	test
	start, end int
}

// findTests cuts the tests out of a file.
func findTests(l *language, path string, src source) []placed {
	var found []placed
	for _, m := range l.test.FindAllStringSubmatchIndex(src.code, -1) {
		if len(found) > 0 && m[0] < found[len(found)-1].end && l.extent != parens {
			continue // nested in a test: part of it
		}
		start := headStart(l, src, m[0])
		p := placed{start: start, end: bodyEnd(l, src.code, m)}
		p.name, p.file = testName(src, m, p.end), path
		head := m[1]
		if l.extent == parens {
			head = m[0]
		}
		p.head, p.body = src.cut(start, head), src.cut(head, p.end)
		p.measure(l)
		found = append(found, p)
	}
	return found
}

func (s source) cut(from, to int) source {
	return source{s.text[from:max(from, to)], s.code[from:max(from, to)]}
}

func testName(src source, m []int, end int) string {
	for g := 2; g+1 < len(m); g += 2 {
		if m[g] >= 0 && m[g+1] > m[g] {
			return src.text[m[g]:m[g+1]]
		}
	}
	for _, t := range tokens(src.cut(m[1], end)) {
		if t.kind == tokenString {
			return t.text
		}
	}
	return strings.TrimSpace(src.text[m[0]:m[1]])
}

// headStart is the start of the decorators above the line at pos.
func headStart(l *language, src source, pos int) int {
	start := strings.LastIndexByte(src.code[:pos], '\n') + 1
	open := 0
	for start > 0 {
		above := strings.LastIndexByte(src.code[:start-1], '\n') + 1
		line := src.code[above : start-1]
		open += strings.Count(line, ")") + strings.Count(line, "]") - strings.Count(line, "(") - strings.Count(line, "[")
		isHead := l.heads.MatchString(line)
		if !isHead && (open <= 0 || strings.TrimSpace(line) == "") {
			break
		}
		start = above
		if isHead {
			open = 0
		}
	}
	return start
}

func bodyEnd(l *language, code string, m []int) int {
	switch l.extent {
	case offside:
		return indentBlock(code, m[1]-1)
	case parens:
		at := m[1] - 1
		if code[at] == '`' {
			if i := strings.IndexByte(code[at+1:], '`'); i >= 0 {
				at += i + 2
			}
		}
		end := block(code, at, '(', ')')
		if rest := strings.TrimLeft(code[end:], " \t\n"); strings.HasPrefix(rest, "(") {
			end = block(code, end, '(', ')')
		}
		return end
	}
	return block(code, m[1], '{', '}')
}

// measure counts what the test checks.
func (t *test) measure(l *language) {
	whole := t.whole()
	alive := t.body.cut(0, earlyReturn(t.body.code))
	t.strength = strength(l, source{t.head.text + alive.text, t.head.code + alive.code})
	t.rows = len(tableRows(l, whole))
	t.dead = len(l.deadBranch.FindAllString(whole.code, -1))
	t.skip = skipOf(l, whole)
}

// earlyReturn is where a bare return on the outer level of the body ends it.
func earlyReturn(code string) int {
	base, at := -1, 0
	for line := range strings.SplitAfterSeq(code, "\n") {
		trimmed := strings.TrimSpace(line)
		if at > 0 && trimmed != "" {
			if base < 0 {
				base = indent(line)
			}
			if indent(line) == base && strings.TrimSuffix(trimmed, ";") == "return" {
				return at
			}
		}
		at += len(line)
	}
	return len(code)
}

func (t test) whole() source {
	return source{t.head.text + t.body.text, t.head.code + t.body.code}
}

func strength(l *language, s source) int {
	n := 2*len(l.assertion.FindAllString(s.code, -1)) - len(l.weak.FindAllString(s.code, -1))
	for _, m := range l.empty.FindAllStringSubmatch(s.text, -1) {
		if len(m) == 1 || m[1] == m[2] {
			n -= 2
		}
	}
	return max(n, 0)
}

// tableRows are the lines that look like rows of a table; a table on one line
// counts by its brackets, or its values.
func tableRows(l *language, s source) []string {
	var rows []string
	text := strings.Split(s.text, "\n")
	for i, line := range strings.Split(s.code, "\n") {
		inner := strings.Count(line, "), (") + strings.Count(line, "], [") + strings.Count(line, "}, {")
		switch {
		case inner > 0:
			inner++
		case shapes().values.MatchString(line):
			inner = len(literals(source{text[i], line}))
		case shapes().row.MatchString(line) && !l.assertion.MatchString(line):
			inner = 1
		}
		for range inner {
			rows = append(rows, text[i])
		}
	}
	return rows
}

// skipOf is the worst of the skips of a test.
func skipOf(l *language, s source) skip {
	found := skips(l, s)
	for _, k := range []skip{skipped, asked, platform} {
		if found[k] > 0 {
			return k
		}
	}
	return runs
}

// skips counts the skips of each kind.
func skips(l *language, s source) map[skip]int {
	found := map[skip]int{}
	for _, m := range l.skip.FindAllStringIndex(s.code, -1) {
		condition := conditionOf(s, m[0])
		switch {
		case l.platform.MatchString(condition + lineAt(s.text, m[0])):
			found[platform]++
		case l.softSkip.MatchString(s.code[m[0]:m[1]]) || condition != "" && !l.deadBranch.MatchString(condition):
			found[asked]++
		default:
			found[skipped]++
		}
	}
	return found
}

func lineAt(s string, pos int) string {
	start := strings.LastIndexByte(s[:pos], '\n') + 1
	line, _, _ := strings.Cut(s[start:], "\n")
	return line
}

// conditionOf is the line of the if around pos, or the line before && or ||;
// empty when there is none.
func conditionOf(s source, pos int) string {
	start := strings.LastIndexByte(s.code[:pos], '\n') + 1
	before := s.text[start:pos]
	if strings.Contains(before, "&&") || strings.Contains(before, "||") || strings.HasPrefix(strings.TrimSpace(before), "if") {
		return before
	}
	depth := indent(s.code[start:])
	lines := strings.Split(s.text[:start], "\n")
	for _, line := range slices.Backward(lines) {
		if strings.TrimSpace(line) == "" || indent(line) >= depth {
			continue
		}
		if strings.HasPrefix(strings.TrimSpace(line), "if") {
			return line
		}
		return ""
	}
	return ""
}
