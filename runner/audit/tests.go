package audit

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"ralph/runner/audit/lang"
)

// test is one test of a file.
type test struct {
	name, file string
	head, body lang.Source // decorators with the line of the test; all behind it
	strength   int         // of its assertions
	rows       int         // of its tables
	skip       skip
	dead       int // branches that never run
	measured   bool
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
	l     *lang.Language
	tests []*test
	files map[string]fileFacts // test files
	rest  []remainder
}

// fileFacts are counts over one test file.
type fileFacts struct{ focus, skips, blockSkips int }

// remainder is a file, or what is left of it without its tests.
type remainder struct {
	path, raw string
	src       lang.Source // zero: not read yet
	helper    bool        // serves tests only
}

// add reads the tests of one file. The rest waits until somebody asks for it.
func (s *suite) add(path, raw string) {
	l := s.l
	if !l.TestFiles.MatchString(path) {
		s.rest = append(s.rest, remainder{path: path, raw: raw, helper: shapes().testFolder.MatchString(path)})
		return
	}
	src := lang.Mask(l, raw)
	focus := len(l.Focus.FindAllString(src.Code, -1))
	outside := []byte(src.Code)
	for _, t := range findTests(l, path, src) {
		s.tests = append(s.tests, &t.test)
		for i := t.start; i < t.end; i++ {
			if outside[i] != '\n' {
				outside[i] = ' '
			}
		}
	}
	src.Code = string(outside)
	s.files[path] = fileFacts{
		focus: focus, blockSkips: skips(l, src)[skipped],
		skips: len(slices.DeleteFunc(l.FileSkip.FindAllString(raw, -1), l.Platform.MatchString)),
	}
	// Where each file may hold tests, only the folder tells helpers from code.
	helper := !l.TestFiles.MatchString("src/x"+ext(path)) || shapes().testFolder.MatchString(path)
	s.rest = append(s.rest, remainder{path, raw, src, helper})
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

// definitions are what code outside of tests defines.
type definitions struct {
	code    map[string]string // each name with its text, up to the next definition
	helpers map[string]string // the same in files that serve tests only
	routes  map[string]bool   // strings that name something: "/old", "--old"
	modules map[string]bool   // base names of the files
}

// definitions reads the rest of the files.
func (s *suite) definitions() definitions {
	d := definitions{map[string]string{}, map[string]string{}, map[string]bool{}, map[string]bool{}}
	for _, r := range s.rest {
		if r.src.Code == "" {
			r.src = lang.Mask(s.l, r.raw)
		}
		if r.helper {
			define(d.helpers, s.l, r.src)
			continue
		}
		define(d.code, s.l, r.src)
		d.modules[module(r.path)] = true
		for _, t := range lang.Tokens(r.src) {
			if t.Kind == lang.String && shapes().route.MatchString(t.Text) {
				d.routes[t.Text] = true
			}
		}
	}
	return d
}

func define(defined map[string]string, l *lang.Language, src lang.Source) {
	all := l.Define.FindAllStringSubmatchIndex(src.Code, -1)
	for i, m := range all {
		end := len(src.Code)
		if i+1 < len(all) {
			end = all[i+1][0]
		}
		for g := 2; g+1 < len(m); g += 2 {
			if m[g] >= 0 {
				defined[src.Code[m[g]:m[g+1]]] += src.Text[m[0]:end]
			}
		}
	}
}

// shapes are the patterns that hold for all languages.
var shapes = sync.OnceValue(func() (p struct{ route, row, values, testFolder *regexp.Regexp }) {
	p.route = regexp.MustCompile(`^(?:/|--)[\w/:.-]{2,}$`)
	p.row = regexp.MustCompile(`^\s*(?:(?:"\w*\x01*"|'\w*\x01*'|\w+)\s*:\s*)?[\[{(].*[\]})],?\s*$|^\s*#\[(?:case|test_case)|\bpytest\.param\(|\bt\.Run\("|\.subTest\(`)
	p.values = regexp.MustCompile(`\bparametrize\(|@(?:Value|Csv|Enum)Source|\.each\(|#\[values|^\s*for\b.*\bin\b`)
	p.testFolder = regexp.MustCompile(`(?:^|/)(?:tests?|__tests__|spec|e2e|testdata|fixtures)/`)
	return p
})

type placed struct {
	test
	start, end int
}

// findTests cuts the tests out of a file.
func findTests(l *lang.Language, path string, src lang.Source) []placed {
	var found []placed
	for _, m := range l.Test.FindAllStringSubmatchIndex(src.Code, -1) {
		if len(found) > 0 && m[0] < found[len(found)-1].end && l.Extent != lang.Parens {
			continue // nested in a test: part of it
		}
		start := headStart(l, src, m[0])
		p := placed{start: start, end: bodyEnd(l, src.Code, m)}
		p.name, p.file = testName(src, m, p.end), path
		head := m[1]
		if l.Extent == lang.Parens {
			head = m[0]
		}
		p.head, p.body = src.Cut(start, head), src.Cut(head, p.end)
		found = append(found, p)
	}
	return found
}

func testName(src lang.Source, m []int, end int) string {
	for g := 2; g+1 < len(m); g += 2 {
		if m[g] >= 0 && m[g+1] > m[g] {
			return src.Text[m[g]:m[g+1]]
		}
	}
	for _, t := range lang.Tokens(src.Cut(m[1], end)) {
		if t.Kind == lang.String {
			return t.Text
		}
	}
	return strings.TrimSpace(src.Text[m[0]:m[1]])
}

// headStart is the start of the decorators above the line at pos; each may go
// over several lines, up to its closing bracket.
func headStart(l *lang.Language, src lang.Source, pos int) int {
	start := strings.LastIndexByte(src.Code[:pos], '\n') + 1
	open := 0
	for at := start; at > 0; {
		above := strings.LastIndexByte(src.Code[:at-1], '\n') + 1
		line := src.Code[above : at-1]
		open += strings.Count(line, ")") + strings.Count(line, "]") - strings.Count(line, "(") - strings.Count(line, "[")
		switch {
		case l.Heads.MatchString(line):
			start, open = above, 0
		case open <= 0 || strings.TrimSpace(line) == "":
			return start
		}
		at = above
	}
	return start
}

func bodyEnd(l *lang.Language, code string, m []int) int {
	switch l.Extent {
	case lang.Offside:
		return lang.IndentBlock(code, m[1]-1)
	case lang.Parens:
		at := m[1] - 1
		if code[at] == '`' {
			if i := strings.IndexByte(code[at+1:], '`'); i >= 0 {
				at += i + 2
			}
		}
		end := lang.Block(code, at, '(', ')')
		if rest := strings.TrimLeft(code[end:], " \t\n"); strings.HasPrefix(rest, "(") {
			end = lang.Block(code, end, '(', ')')
		}
		return end
	}
	return lang.Block(code, m[1], '{', '}')
}

// measure counts what the test checks.
func (t *test) measure(l *lang.Language) {
	if t.measured {
		return
	}
	t.measured = true
	whole := t.whole()
	alive := t.body.Cut(0, earlyReturn(t.body.Code))
	t.strength = strength(l, t.head.Add(alive))
	t.rows = len(tableRows(l, whole))
	t.dead = len(l.DeadBranch.FindAllString(whole.Code, -1))
	t.skip = skipOf(l, whole)
	if t.name == "TestMain" && !strings.Contains(t.body.Code, ".Run(") {
		t.skip = skipped
	}
}

// earlyReturn is where a bare return on the outer level of the body ends it.
func earlyReturn(code string) int {
	base, at := -1, 0
	for line := range strings.SplitAfterSeq(code, "\n") {
		trimmed := strings.TrimSpace(line)
		if at > 0 && trimmed != "" {
			if base < 0 {
				base = lang.Indent(line)
			}
			if lang.Indent(line) == base {
				switch strings.TrimSuffix(trimmed, ";") {
				case "return", "return 0", "exit 0", "return Ok(())", "return None", "return undefined":
					return at
				}
			}
		}
		at += len(line)
	}
	return len(code)
}

func (t *test) whole() lang.Source {
	return t.head.Add(t.body)
}

func strength(l *lang.Language, s lang.Source) int {
	n := 2*len(l.Assertion.FindAllString(s.Code, -1)) - len(l.Weak.FindAllString(s.Code, -1))
	for _, m := range l.Empty.FindAllStringSubmatch(s.Text, -1) {
		if len(m) == 1 || m[1] == m[2] {
			n -= 2
		}
	}
	return max(n, 0)
}

// tableRows are the lines that look like rows of a table; a table on one line
// counts by its brackets, or its values.
func tableRows(l *lang.Language, s lang.Source) []string {
	var rows []string
	text := strings.Split(s.Text, "\n")
	for i, line := range strings.Split(s.Code, "\n") {
		inner := strings.Count(line, "), (") + strings.Count(line, "], [") + strings.Count(line, "}, {")
		switch {
		case inner > 0:
			inner++
		case l.Wordy && shapes().values.MatchString(line):
			_, values, _ := strings.Cut(text[i], " in ")
			values, _, _ = strings.Cut(values, ";")
			inner = len(strings.Fields(values))
		case shapes().values.MatchString(line):
			inner = len(lang.Literals(lang.Source{Text: text[i], Code: line}))
		case strings.Count(text[i], "${") > 1 && strings.Contains(text[i], "|"):
			inner = 1 // of a tagged table
		case shapes().row.MatchString(line) && !l.Assertion.MatchString(line):
			inner = 1
		}
		for range inner {
			rows = append(rows, text[i])
		}
	}
	return rows
}

// skipOf is the worst of the skips of a test.
func skipOf(l *lang.Language, s lang.Source) skip {
	found := skips(l, s)
	for _, k := range []skip{skipped, asked, platform} {
		if found[k] > 0 {
			return k
		}
	}
	return runs
}

// skips counts the skips of each kind.
func skips(l *lang.Language, s lang.Source) map[skip]int {
	found := map[skip]int{}
	for _, m := range l.Skip.FindAllStringIndex(s.Code, -1) {
		condition := conditionOf(s, m[0])
		switch {
		case l.Platform.MatchString(condition + lineAt(s.Text, m[0])):
			found[platform]++
		case l.SoftSkip.MatchString(s.Code[m[0]:m[1]]) || condition != "" && !l.DeadBranch.MatchString(condition):
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
func conditionOf(s lang.Source, pos int) string {
	start := strings.LastIndexByte(s.Code[:pos], '\n') + 1
	before := s.Text[start:pos]
	if strings.Contains(before, "&&") || strings.Contains(before, "||") || strings.HasPrefix(strings.TrimSpace(before), "if") {
		return before
	}
	depth := lang.Indent(s.Code[start:])
	lines := strings.Split(s.Text[:start], "\n")
	for _, line := range slices.Backward(lines) {
		if strings.TrimSpace(line) == "" || lang.Indent(line) >= depth {
			continue
		}
		if strings.HasPrefix(strings.TrimSpace(line), "if") {
			return line
		}
		return ""
	}
	return ""
}
