package report

import (
	"slices"
	"strconv"
	"strings"
)

// jest reads the default text of jest and vitest. It names failed tests only.
type jest struct {
	file string // jest: the file whose failures are being listed
	block
}

func (j *jest) line(line string) {
	rest := strings.TrimSpace(line)
	switch {
	case strings.HasPrefix(line, " FAIL  "), strings.HasPrefix(line, "FAIL  "): // vitest
		j.settle()
		j.open(vitestName(strings.TrimPrefix(rest, "FAIL  ")))
	case strings.HasPrefix(line, "FAIL "), strings.HasPrefix(line, "PASS "):
		j.settle()
		j.file = jestFile(line)
	case strings.HasPrefix(line, "  ● ") && j.file != "":
		j.settle()
		switch name := line[len("  ● "):]; name {
		case "Test suite failed to run":
			j.open(j.file)
		case "Console":
		default:
			j.open(j.file + " > " + strings.ReplaceAll(name, " › ", " > "))
		}
	case strings.HasPrefix(line, "⎯⎯"), strings.HasPrefix(line, "Summary of all failing tests"):
		j.settle()
	case strings.HasPrefix(line, "Test Suites: "), strings.HasPrefix(rest, "Test Files  "):
		j.settle()
		j.file = ""
		j.c.count(0, 0, 0)
	case strings.HasPrefix(line, "Tests:  "), strings.HasPrefix(rest, "Tests  "):
		j.count(rest)
	case j.name != "":
		j.text.WriteLine(line)
	}
}

// jestFile returns the file of "FAIL src/a b.test.js (5.1 s)"; empty: the line is none about a file that failed.
func jestFile(line string) string {
	file, failed := strings.CutPrefix(line, "FAIL ")
	if i := strings.LastIndex(file, " ("); i > 0 && strings.HasSuffix(file, " s)") {
		file = file[:i]
	}
	if !failed || !strings.Contains(file, ".") {
		return ""
	}
	return strings.TrimSpace(file)
}

// vitestName removes the name of the project, and the second name of a file that cannot be loaded.
func vitestName(name string) string {
	if strings.HasPrefix(name, "|") { // the project of a workspace
		_, name, _ = strings.Cut(name[1:], "| ")
	}
	if file, again, ok := strings.Cut(name, " [ "); ok && again == file+" ]" {
		name = file
	}
	return strings.TrimSpace(name)
}

// count reads "Tests:  1 failed, 2 passed, 3 total" and "Tests  1 failed | 2 passed (3)".
func (j *jest) count(line string) {
	if !j.c.known {
		return
	}
	words := strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(" ,|", r) })
	for i := 1; i < len(words); i++ {
		n, err := strconv.Atoi(words[i-1])
		if err != nil {
			continue
		}
		switch words[i] {
		case "passed":
			j.c.count(n, 0, 0)
		case "failed":
			j.c.count(0, n, 0)
		case "skipped", "todo":
			j.c.count(0, 0, n)
		}
	}
}

// nodeSpec reads the passed tests, and the failures and counts at the end of the
// output of node --test with its spec reporter.
type nodeSpec struct {
	parents []string // the open groups, by depth
	passed  []string // until the counts show that they are tests
	failed  []string // by the tree, until the list says why
	file    string   // "test at FILE:LINE:COLUMN"; empty before the list
	list    bool
	block
}

// tree reads a line of the tree: "▶ suite", "  ✔ test (0.1ms)", "✖ suite (0.2ms)". It returns false for any other line.
func (n *nodeSpec) tree(line string) bool {
	rest := strings.TrimLeft(line, " ")
	depth := (len(line) - len(rest)) / 2
	mark, name, ok := strings.Cut(rest, " ")
	switch {
	case !ok || n.list || depth > len(n.parents):
	case mark == "▶":
		n.parents = append(n.parents[:depth], name)
		return true
	case mark == "✔", mark == "✖":
		end := strings.LastIndex(name, " (")
		if end < 0 || !strings.HasSuffix(name, "ms)") || len(n.passed)+len(n.failed) >= maxTests {
			return false
		}
		name = name[:end]
		if depth >= len(n.parents) || n.parents[depth] != name { // else it closes the group
			to := &n.passed
			if mark == "✖" {
				to = &n.failed
			}
			*to = append(*to, strings.Join(append(slices.Clone(n.parents[:depth]), name), " > "))
		}
		n.parents = n.parents[:depth]
		return true
	}
	return false
}

// named records the passed tests.
func (n *nodeSpec) named() {
	for _, name := range n.passed {
		n.c.add(Test{Name: name, Status: Passed})
	}
	n.passed = nil
}

func (n *nodeSpec) line(line string) {
	switch {
	case n.tree(line):
	case line == "✖ failing tests:":
		n.list, n.c.known = true, true
	case strings.HasPrefix(line, "ℹ pass "), strings.HasPrefix(line, "ℹ fail "), strings.HasPrefix(line, "ℹ skipped "),
		strings.HasPrefix(line, "ℹ todo "):
		_, rest, _ := strings.Cut(line, " ")
		what, number, _ := strings.Cut(rest, " ")
		count, err := strconv.Atoi(strings.TrimSpace(number))
		if err != nil {
			return // the end of an output that was cut
		}
		n.named()
		switch what {
		case "pass":
			n.c.count(count, 0, 0)
		case "fail":
			n.c.count(0, count, 0)
		default:
			n.c.count(0, 0, count)
		}
	case !n.list:
	case strings.HasPrefix(line, "test at "):
		n.settle()
		n.file, _, _ = strings.Cut(line[len("test at "):], ":")
	case strings.HasPrefix(line, "✖ ") && n.file != "":
		n.settle()
		name, after := line[len("✖ "):], ""
		if i := strings.LastIndex(name, " ("); i > 0 {
			name, after = name[:i], name[i:]
		}
		if !strings.Contains(after, "# TODO") {
			n.open(n.whole(name))
		}
	case n.name != "" && !strings.Contains(line, "node:internal/"):
		n.text.WriteLine(line)
	}
}

// whole returns the name of a test in the list with the groups around it, as in the tree. The name of its file follows if
// a test in another file has the same name.
func (n *nodeSpec) whole(name string) string {
	i := slices.IndexFunc(n.failed, func(path string) bool { return path == name || strings.HasSuffix(path, " > "+name) })
	if i < 0 {
		return n.file + " > " + name
	}
	path := n.failed[i]
	n.failed = slices.Delete(n.failed, i, i+1)
	if at, twice := n.c.index[path]; twice && n.c.tests[at].Status == Failed {
		path += " (" + n.file + ")"
	}
	return path
}
