package audit

import (
	"fmt"
	"strings"
	"testing"
)

// repeated writes the form n times; # is the number of each, from first on.
func repeated(form string, first, n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.ReplaceAll(form, "#", fmt.Sprint(first+i)))
	}
	return b.String()
}

// Steps are counted in allocations: they do not depend on what else runs.
func TestCompare_largeChange_costGrowsWithItsSize(t *testing.T) {
	const goTest = "func Test#(t *testing.T) {\n\tif v := F#(#, \"x#\"); v != # {\n\t\tt.Fatal(v)\n\t}\n}\n\n"
	const table = "func TestA(t *testing.T) {\n\tfor _, c := range cases {\n%s\t\tif F(c.a) != c.s {\n\t\t\tt.Fatal(c)\n\t\t}\n\t}\n}\n"
	rows := func(first, n int) string { return fmt.Sprintf(table, repeated("\t\t{#, \"a#\"},\n", first, n)) }
	for name, files := range map[string]func(n int) []File{
		"tests replaced by others": func(n int) []File {
			return []File{{"a_test.go", repeated(goTest, 1e4, n), repeated(goTest, 2e4, n), true, true}}
		},
		"rows replaced by others": func(n int) []File {
			return []File{{"a_test.go", rows(1e4, n), rows(2e4, n), true, true}}
		},
		"rows that became tests": func(n int) []File {
			return []File{{"a_test.go", rows(1e4, n), rows(1e4, 1) + repeated(goTest, 2e4, n), true, true}}
		},
		"tests on one line": func(n int) []File {
			return []File{{"a.test.js", repeated("it('#', () => { expect(f(#)).toBe(#) });", 1e4, n), repeated("it('#', () => { expect(f(#)).toBe(2) });", 1e4, n), true, true}}
		},
		"tests that nothing closes": func(n int) []File {
			return []File{{"a.test.js", repeated("it('#', () => { expect(f(#\n", 1e4, n), repeated("it('#', () => { expect(g(#\n", 1e4, n), true, true}}
		},
		"lines of a workflow": func(n int) []File {
			return []File{{".github/workflows/a.yml", repeated("- run: make test-# one two\n", 1e4, n), repeated("- run: make test-# one two\n", 2e4, n), true, true}}
		},
		"files of code and of tests": func(n int) []File {
			var all []File
			for i := range n {
				all = append(all, File{fmt.Sprintf("src%d/a.py", i), "def f(a):\n    return 1\n", "def f(a):\n    return 2\n", true, true},
					File{fmt.Sprintf("tests%d/test_a.py", i), "def test_x():\n    assert x(1) == 1\n", "def test_x():\n    assert x(1) == 2\n", true, true})
			}
			return all
		},
	} {
		t.Run(name, func(t *testing.T) {
			cost := func(n int) float64 {
				in := Input{Files: files(n)}
				return testing.AllocsPerRun(1, func() { Compare(in) })
			}
			if few, many := cost(20), cost(80); many > 6*few {
				t.Errorf("%.0f allocations for 20, %.0f for 80", few, many)
			}
		})
	}
}

func TestCompare_moreThanAnyoneWrites_isNotJudged(t *testing.T) {
	const goTest = "func Test#(t *testing.T) {\n\tt.Fatal(F(#))\n}\n"
	for name, files := range map[string][]File{
		"tests of one file":   {{"a_test.go", repeated(goTest, 0, maxTests+1), repeated(goTest, 0, 9), true, true}},
		"tests of many files": {{"a_test.go", repeated(goTest, 1e4, maxTests), "", true, false}, {"b_test.go", repeated(goTest, 2e4, maxTests), "", true, false}, {"c_test.go", "", repeated(goTest, 3e4, maxTests), false, true}},
		"lines of a workflow": {{".github/workflows/a.yml", repeated("- run: make test-#\n", 1e4, 4e3), repeated("- run: make test-#\n", 2e4, 4e3), true, true}},
	} {
		t.Run(name, func(t *testing.T) {
			if found := Compare(Input{Files: files}); len(found) > 0 {
				t.Error(found)
			}
		})
	}
}
