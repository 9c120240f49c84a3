package report

import (
	"cmp"
	"strconv"
	"strings"

	"ralph/logs/lazy"
)

// pytest reads the sections and the short summary of pytest.
type pytest struct {
	c        *collector
	sections map[string]*Excerpt // "TestA.test_b" -> what the section says
	after    map[string]bool     // titles of those about errors after a test, which has its own result
	current  *Excerpt
}

func (p *pytest) line(line string) {
	switch {
	case strings.HasPrefix(line, "____") && strings.HasSuffix(line, "____"):
		title := strings.Trim(line, "_ ")
		for _, prefix := range []string{"ERROR at setup of ", "ERROR at teardown of ", "ERROR collecting "} {
			title = strings.TrimPrefix(title, prefix)
		}
		if len(p.sections) < maxTests {
			p.after[title] = strings.Contains(line, "ERROR at teardown of ")
			p.current = newMessage()
			p.sections[title] = p.current
		}
	case strings.HasPrefix(line, "====") && strings.HasSuffix(line, "===="):
		p.current = nil
		p.count(strings.Trim(line, "= "))
	case p.current != nil:
		p.current.WriteLine(line)
	case strings.HasPrefix(line, "FAILED "):
		p.failed(line[len("FAILED "):], false)
	case strings.HasPrefix(line, "ERROR "):
		p.failed(line[len("ERROR "):], true)
	default: // the last line of pytest -q has no bars
		if strings.Contains(line, " in ") && pytestEnd().MatchString(line) {
			p.count(line)
		}
	}
}

// dottedID returns the name of "tests/test_a.py::TestB::test_c[1]" in pytest's
// default reports: "tests.test_a.TestB.test_c[1]".
func dottedID(id string) (string, bool) {
	file, test, _ := strings.Cut(id, "::")
	module, ok := strings.CutSuffix(file, ".py")
	if !ok {
		return "", false
	}
	test, parameters, bracket := strings.Cut(test, "[")
	name := strings.ReplaceAll(module, "/", ".")
	if test != "" {
		name += "." + strings.ReplaceAll(test, "::", ".")
	}
	if bracket {
		name += "[" + parameters
	}
	return name, true
}

// failed reads "tests/test_a.py::TestB::test_c[1] - AssertionError: ...".
func (p *pytest) failed(rest string, isError bool) {
	id, why := p.split(rest)
	file, _, _ := strings.Cut(id, "::")
	if !strings.HasSuffix(file, ".py") || strings.Contains(file, " ") {
		return
	}
	message := p.sections[sectionOf(id)].String()
	message = cmp.Or(message, why)
	p.c.add(Test{Name: id, Status: Failed, Message: message, Loose: isError && p.after[sectionOf(id)]})
}

// split parts the id of a test from the reason after " - ". The parameters of a test may contain that, too: then a
// section has the whole id, or they end with the first bracket before it.
func (p *pytest) split(rest string) (id, why string) {
	for end := 0; ; end += len(" - ") {
		next := strings.Index(rest[end:], " - ")
		if next < 0 {
			break
		}
		if end += next; p.sections[sectionOf(rest[:end])] != nil {
			return rest[:end], rest[end+len(" - "):]
		}
	}
	id, why, _ = strings.Cut(rest, " - ")
	if !strings.Contains(id, "[") || strings.HasSuffix(id, "]") {
		return id, why
	}
	if parameters, after, ok := strings.Cut(rest, "] - "); ok {
		return parameters + "]", after
	}
	if strings.HasSuffix(rest, "]") {
		return rest, ""
	}
	return id, why
}

// sectionOf returns the title of the section about a test, or about a file that cannot be loaded.
func sectionOf(id string) string {
	file, test, ok := strings.Cut(id, "::")
	if !ok {
		return file
	}
	name, _, _ := strings.Cut(test, "[")
	return strings.ReplaceAll(name, "::", ".") + test[len(name):]
}

// count reads "1 failed, 3 passed, 1 skipped in 0.12s".
func (p *pytest) count(text string) {
	counts, _, ok := strings.Cut(text, " in ")
	if !ok {
		return
	}
	for part := range strings.SplitSeq(counts, ", ") {
		number, what, _ := strings.Cut(part, " ")
		n, err := strconv.Atoi(number)
		if err != nil {
			return
		}
		switch what {
		case "passed", "xpassed":
			p.c.count(n, 0, 0)
		case "skipped", "xfailed":
			p.c.count(0, 0, n)
		case "failed", "error", "errors":
			p.c.count(0, n, 0)
		default:
			p.c.known = true
		}
	}
}

// pytestEnd is the last line of pytest -q: "1 failed, 2 passed in 65.12s (0:01:05)".
var pytestEnd = lazy.Regexp(`^\d+ [a-z]+( [a-z]+)*(, \d+ [a-z]+( [a-z]+)*)* in \d+\.\d+s( \(\d+:\d\d:\d\d\))?$`)

func (p *pytest) end() {}

// unittest reads Python's own test runner.
type unittest struct {
	passed []string        // with -v
	failed map[string]bool // a test may fail several times: in subtests, and when it cleans up
	ran    int
	rule   bool // the previous line is a rule of "="
	block
}

func (u *unittest) line(line string) {
	rule := strings.HasPrefix(line, "======") && strings.Trim(line, "=") == ""
	switch {
	case rule:
		u.settle()
	case u.rule && (strings.HasPrefix(line, "FAIL: ") || strings.HasPrefix(line, "ERROR: ")):
		_, what, _ := strings.Cut(line, ": ")
		u.open(unittestName(what))
		if u.failed == nil {
			u.failed = map[string]bool{}
		}
		if whole := wholeTest(u.name); whole != u.name {
			u.of = whole
		}
		u.failed[wholeTest(u.name)] = true
	case strings.HasPrefix(line, "Ran ") && strings.Contains(line, " test"):
		u.settle()
		if n, err := strconv.Atoi(strings.Fields(line)[1]); err == nil {
			u.ran = n
			u.c.count(max(n-len(u.failed), 0), len(u.failed), 0)
			u.failed = nil
			for _, name := range u.passed {
				u.c.add(Test{Name: name, Status: Passed})
			}
			u.passed = nil
		}
	case u.ran > 0 && (strings.HasPrefix(line, "OK (") || strings.HasPrefix(line, "FAILED (")):
		u.skips(line)
	case u.name != "" && strings.Trim(line, "-") != "":
		u.text.WriteLine(line)
	case strings.HasSuffix(line, ") ... ok") && len(u.passed) < maxTests:
		u.passed = append(u.passed, unittestName(strings.TrimSuffix(line, " ... ok")))
	}
	u.rule = rule
}

// wholeTest is the name of a test without the parameters of a subtest: "test_a.T.test_b [x] (i=1)".
func wholeTest(name string) string {
	name, _, _ = strings.Cut(name, " ")
	return name
}

// unittestName returns "test_a.T.test_b" for "test_b (test_a.T)", the form of
// Python before 3.11, and for "test_b (test_a.T.test_b)".
func unittestName(text string) string {
	name, rest, ok := strings.Cut(text, " (")
	class, after, closed := strings.Cut(rest, ")")
	if !ok || !closed {
		return text
	}
	if !strings.HasSuffix(class, "."+name) {
		class += "." + name
	}
	return class + after
}

// skips reads "FAILED (failures=1, errors=1, skipped=1)".
func (u *unittest) skips(line string) {
	for part := range strings.FieldsFuncSeq(line, func(r rune) bool { return strings.ContainsRune(" (),", r) }) {
		if n, err := strconv.Atoi(strings.TrimPrefix(part, "skipped=")); err == nil &&
			strings.HasPrefix(part, "skipped=") {
			u.c.skipped += n
			u.c.passed = max(u.c.passed-n, 0)
		}
	}
}
