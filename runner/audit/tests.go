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
	skip       lang.Skip
	dead       int // branches that never run or fail
	exits      int // conditions under which it returns early
	measured   bool
}

// suite is all that the files of one language hold, before or after.
type suite struct {
	l     *lang.Language
	tests []*test
	files map[string]*testFile
	rest  []remainder
}

// testFile is one test file. Its facts are counted only when they may differ.
type testFile struct {
	raw   string
	facts func() fileFacts
}

// fileFacts are counts over one test file. hooks keep the tests of other files
// from running or failing.
type fileFacts struct{ focus, skips, blockSkips, hooks int }

// remainder is a file, or what is left of it without its tests.
type remainder struct {
	path, raw string
	src       lang.Source // zero: not read yet
	helper    bool        // serves tests only
}

// add reads the tests of one file. The rest waits until somebody asks for it.
func (s *suite) add(path, raw string) {
	l := s.l
	if !l.TestFiles.MatchString(path) || shapes().dataFolder.MatchString(path) {
		s.rest = append(s.rest, remainder{path: path, raw: raw, helper: shapes().testFolder.MatchString(path)})
		return
	}
	whole := lang.Mask(l, raw)
	text, code := []byte(whole.Text), []byte(whole.Code)
	for _, t := range l.Tests(whole) {
		s.tests = append(s.tests, &test{name: t.Name, file: path, head: t.Head, body: t.Body})
		for i := t.Start; i < t.End; i++ {
			if code[i] != '\n' {
				text[i], code[i] = ' ', ' '
			}
		}
	}
	src := lang.Source{Text: string(text), Code: string(code)}
	honest := func(found []string) int { return len(slices.DeleteFunc(found, l.Platform.MatchString)) }
	s.files[path] = &testFile{raw, sync.OnceValue(func() fileFacts {
		return fileFacts{
			focus: len(l.Focus.FindAllString(whole.Code, -1)), blockSkips: l.Skips(src)[lang.Skipped],
			skips: honest(l.FileSkip.FindAllString(raw, -1)), hooks: honest(l.Hooks.FindAllString(whole.Text, -1)),
		}
	})}
	// Where each file may hold tests, only the folder tells helpers from code.
	s.rest = append(s.rest, remainder{path, raw, src, servesTests(l, path)})
}

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
	all := slices.DeleteFunc(l.Define.FindAllStringSubmatchIndex(src.Code, -1), func(m []int) bool {
		return shapes().keyword.MatchString(src.Code[max(slices.Max(m[2:])-len("*default"), m[0]):slices.Max(m[2:])])
	})
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
var shapes = sync.OnceValue(func() (p struct{ route, testFolder, dataFolder, keyword, branch *regexp.Regexp }) {
	p.route = regexp.MustCompile(`^(?:/|--)[\w/:.-]{2,}$`)
	p.testFolder = regexp.MustCompile(`(?:^|/)(?:tests?|__tests__|spec|e2e|testdata|fixtures)/`)
	p.dataFolder = regexp.MustCompile(`(?:^|/)(?:testdata|test[-_]data|(?:__)?fixtures?(?:__)?)/`)
	p.keyword = regexp.MustCompile(`\b(?:if|for|while|switch|catch|else|return|match|try|finally|with|do|case|default|loop|except|func)$`)
	p.branch = regexp.MustCompile(`\b(?:if|elif|case|when|except|catch)\b|=>|&&|\|\||\b(?:and|or)\b| \? `)
	return p
})

// measure counts what the test checks.
func (t *test) measure(l *lang.Language) {
	if t.measured {
		return
	}
	t.measured = true
	whole := t.whole()
	alive, exits := l.Alive(t.body)
	t.exits = exits
	t.strength = l.Strength(t.head.Add(t.body.Cut(0, alive)))
	t.rows = len(l.Rows(whole))
	t.dead = l.Dead(whole)
	t.skip = l.SkipOf(whole)
	if t.name == "TestMain" && !strings.Contains(t.body.Code, ".Run(") && !strings.Contains(t.body.Code, "Main(") {
		t.skip = lang.Skipped
	}
}

func (t *test) whole() lang.Source {
	return t.head.Add(t.body)
}
