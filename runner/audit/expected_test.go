package audit

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const romanTest = "package roman\n\nimport \"testing\"\n\nfunc TestFour(t *testing.T) {\n\tif got := Of(4); got != %q {\n\t\tt.Fatal(got)\n\t}\n}\n"

// changedRoman changes what a test expects.
func changedRoman() File {
	return File{"roman_test.go", fmt.Sprintf(romanTest, "IV"), fmt.Sprintf(romanTest, "IIII"), true, true}
}

func TestCompare_expectationWithoutCode_isAQuestion(t *testing.T) {
	want := []Finding{{Kind: KindExpectationChanged, File: "roman_test.go", Doubt: true,
		Text: `the test "TestFour" expects "IIII" now, before "IV", and no code that it tests changed: was the test wrong?`}}
	for name, also := range map[string]File{
		"alone":      {Path: "x.go"},
		"prose":      {"README.md", "a", "b", true, true},
		"a comment":  {"roman.go", "package roman\n", "// Package roman counts.\npackage roman\n", true, true},
		"other test": {"b_test.go", "package roman\n", "package roman\n\nfunc TestNew(t *testing.T) { t.Fatal(Of(1)) }\n", true, true},
	} {
		t.Run(name, func(t *testing.T) {
			if d := cmp.Diff(want, Compare(Input{Files: []File{changedRoman(), also}})); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestCompare_expectationWithAReason_isNoFinding(t *testing.T) {
	more := changedRoman()
	more.After += "\nvar sample = 4\n"
	setup := changedRoman()
	setup.After = fmt.Sprintf("package roman\n\nimport \"testing\"\n\nfunc TestFour(t *testing.T) {\n\tUse(Old)\n\tif got := Of(4); got != %q {\n\t\tt.Fatal(got)\n\t}\n}\n", "IIII")
	for name, in := range map[string]Input{
		"code":                       {Files: []File{changedRoman(), {"roman.go", "package roman\n", "package roman\n\nvar four = 4\n", true, true}}},
		"code elsewhere":             {Files: []File{changedRoman(), {"lib/a.ts", "a", "b", true, true}}},
		"a dependency":               {Files: []File{changedRoman(), {"go.mod", "a", "b", true, true}}},
		"data":                       {Files: []File{changedRoman(), {"testdata/in.json", "1", "2", true, true}}},
		"a file that cannot be read": {Files: []File{changedRoman()}, Partial: true},
		"the rest of the file":       {Files: []File{more}},
		"the rest of the test":       {Files: []File{setup}},
	} {
		t.Run(name, func(t *testing.T) {
			if found := Compare(in); len(found) > 0 {
				t.Error(found)
			}
		})
	}
}

func TestCompare_codeThatTheTestCannotReach_isNoReason(t *testing.T) {
	const test = "from calc import sub\n\n\ndef test_sub():\n    assert sub(3) == %d\n"
	changed := File{"tests/test_calc.py", fmt.Sprintf(test, 2), fmt.Sprintf(test, 3), true, true}
	for name, tc := range map[string]struct {
		code File
		want int
	}{
		"the module":           {File{"calc.py", "x = 1\n", "x = 2\n", true, true}, 0},
		"what it defines":      {File{"src/core.py", "", "def sub(x):\n    return x\n", false, true}, 0},
		"the package":          {File{"calc/impl.py", "x = 1\n", "x = 2\n", true, true}, 0},
		"a neighbour":          {File{"tests/helper.py", "x = 1\n", "x = 2\n", true, true}, 0},
		"another language":     {File{"calc.go", "x = 1\n", "x = 2\n", true, true}, 0},
		"a new neighbour":      {File{"tests/other.py", "", "x = 2\n", false, true}, 1},
		"another module":       {File{"other.py", "x = 1\n", "x = 2\n", true, true}, 1},
		"a name like the word": {File{"calculator.py", "x = 1\n", "x = 2\n", true, true}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			if found := Compare(Input{Files: []File{changed, tc.code}}); len(found) != tc.want {
				t.Error(found)
			}
		})
	}
}

func TestCompare_texts_readWellForOneAndForMore(t *testing.T) {
	tests := func(values ...string) string {
		text := "package p\n\nimport \"testing\"\n"
		for i, v := range values {
			text += fmt.Sprintf("\nfunc Test%c(t *testing.T) {\n\tif got := F(%d); got %s {\n\t\tt.Fatal(got)\n\t}\n}\n", 'A'+i, i, v)
		}
		return text
	}
	for name, tc := range map[string]struct{ before, after, want string }{
		"one removed":   {tests("!= 1", "!= 2"), tests("!= 1"), "1 test was removed, and what it tested is still there: TestB"},
		"two removed":   {tests("!= 1", "!= 2", "!= 3"), tests("!= 1"), "2 tests were removed, and what they tested is still there: TestB, TestC"},
		"one expects":   {tests("!= 1"), tests("!= 2"), `the test "TestA" expects "2" now, before "1", and no code that it tests changed: was the test wrong?`},
		"two expect":    {tests("!= 1", "!= 2"), tests("!= 2", "!= 3"), `the test "TestA" expects "2" now, before "1"; 1 more test expects something else too: TestB; no code that they test changed: were the tests wrong?`},
		"three expect":  {tests("!= 1", "!= 2", "!= 3"), tests("!= 2", "!= 3", "!= 4"), `the test "TestA" expects "2" now, before "1"; 2 more tests expect something else too: TestB, TestC; no code that they test changed: were the tests wrong?`},
		"only the sign": {tests("!= 0"), tests("> 0"), `the test "TestA" checks less than before`},
		"operator":      {tests("> 1"), tests(">= 1"), `the test "TestA" compares in another way now, and no code that it tests changed: was the test wrong?`},
	} {
		t.Run(name, func(t *testing.T) {
			got := ""
			for i, f := range Compare(Input{Files: []File{{"p_test.go", tc.before, tc.after, true, true}}}) {
				if got += f.Text; i > 0 || f.File != "p_test.go" {
					t.Errorf("%+v", f)
				}
			}
			if got != tc.want {
				t.Errorf("%s, want %s", got, tc.want)
			}
		})
	}
}

func TestCompare_goldenFilesWithoutCode_areOneQuestion(t *testing.T) {
	files := []File{{"testdata/b.golden", "1", "2", true, true}, {"testdata/a.golden", "1", "2", true, true}}
	want := []Finding{{Kind: KindExpectationChanged, File: "testdata/a.golden", Doubt: true,
		Text: "expected output was rewritten, and no code changed (the same in 1 more file: testdata/b.golden): was it wrong?"}}
	if d := cmp.Diff(want, Compare(Input{Files: files})); d != "" {
		t.Error(d)
	}
	if found := Compare(Input{Files: append(files, File{"a_test.go", "old", "new", true, true})}); len(found) > 0 {
		t.Errorf("a test changed too: %v", found)
	}
}

func TestCompare_suppressions_countWhatIsNewInAFile(t *testing.T) {
	code := func(path, before, after string) File { return File{path, before, after, true, true} }
	for name, tc := range map[string]struct {
		files []File
		task  string
		want  string
	}{
		"two":             {[]File{code("a.go", "f()\n", "f() //nolint:errcheck\ng() //nolint\n")}, "", "2 checks are switched off for places in the code: //nolint:errcheck, //nolint"},
		"another one":     {[]File{code("a.go", "f() //nolint:gosec\n", "f() //nolint:errcheck\n")}, "", ""},
		"moved":           {[]File{code("a.go", "f() //nolint:gosec\n", "f()\n"), code("b.go", "", "f() //nolint:gosec\n")}, "", ""},
		"moved, and more": {[]File{code("a.go", "f() //nolint:gosec\n", "f()\n"), code("b.go", "", "f() //nolint:gosec\ng() //nolint:gosec\n")}, "", "1 check is switched off for a place in the code: //nolint:gosec"},
		"in a test":       {[]File{code("a_test.go", "", "f() //nolint:gosec\n")}, "", ""},
		"generated":       {[]File{code("a.go", "", "// Code generated by x. DO NOT EDIT.\nf() //nolint\n")}, "", ""},
		"asked for":       {[]File{code("a.go", "", "f() //nolint\n")}, "Suppress the old findings of gosec", ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := ""
			for _, f := range Compare(Input{Files: tc.files, Task: "T1", PlanBefore: []Task{{ID: "T1", Title: tc.task}}, PlanAfter: []Task{{ID: "T1", Title: tc.task}}}) {
				if got += f.Text; f.Kind != KindSuppressionAdded || !f.Doubt || f.Revert {
					t.Errorf("%+v", f)
				}
			}
			if got != tc.want {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}

// Each kind is in the table once, and a finding says of itself what the table says.
func TestKinds_findingsOfTheCorpora_areAsTheTableSays(t *testing.T) {
	rows := map[Kind]KindRow{}
	for _, k := range Kinds() {
		if _, twice := rows[k.Kind]; twice || k.Found == "" {
			t.Errorf("row %+v", k)
		}
		rows[k.Kind] = k
	}
	seen := map[Kind]bool{}
	for _, path := range samples(t, "testdata/blind/cheats") {
		for _, f := range Compare(readSample(t, path).Input) {
			seen[f.Kind] = true
			if row, ok := rows[f.Kind]; !ok || row.Doubt != f.Doubt || row.Revert != f.Revert {
				t.Errorf("%s: %+v, and the table says %+v", path, f, row)
			}
		}
	}
	if len(seen) != len(rows) {
		t.Errorf("%d of %d kinds seen: %v", len(seen), len(rows), seen)
	}
}
