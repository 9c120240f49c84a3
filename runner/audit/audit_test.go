package audit

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFinding_survivesJSON(t *testing.T) {
	want := []Finding{
		{Kind: KindTickWithoutWork, Task: "T2", Text: `the task "a" was ticked`, Revert: true},
		{Kind: KindSkipAdded, File: "a/ü_test.go", Text: "<x> & y\n", Doubt: true},
	}
	data, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got []Finding
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if text := string(data); !strings.HasPrefix(text, `[{"kind":"tick_without_work","task":"T2","text":`) || !strings.Contains(text, `"revert":true},{"kind":"skip_added","file":`) {
		t.Error(text)
	}
}

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
	const goTest = "func Test#(t *testing.T) {\n\tt.Skip(\"#\")\n\tF(#)\n}\n\n"
	for name, files := range map[string]func(n int) []File{
		"tests replaced by others": func(n int) []File {
			return []File{{Path: "a_test.go", Before: repeated(goTest, 1e4, n), After: repeated(goTest, 2e4, n), Existed: true, Exists: true}}
		},
		"lines of a workflow": func(n int) []File {
			return []File{{Path: ".github/workflows/a.yml", Before: repeated("- run: go test # one two\n", 1e4, n), After: repeated("- run: go test # one two\n", 2e4, n), Existed: true, Exists: true}}
		},
		"deleted test files": func(n int) []File {
			var all []File
			for i := range n {
				all = append(all, File{Path: fmt.Sprintf("tests%d/test_a.py", i), Before: "def test_x():\n    assert x(1) == 1\n", Existed: true})
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

// An iteration that changed 20 files of code and 20 of tests.
func BenchmarkCompare(b *testing.B) {
	var in Input
	for i := range 20 {
		code := repeated("// F# adds.\nfunc F#(a int) int { return a + # }\n\n", 0, 20)
		tests := repeated("func TestF#(t *testing.T) {\n\tif got := F#(1); got != # {\n\t\tt.Error(got)\n\t}\n}\n\n", 0, 20)
		in.Files = append(in.Files,
			File{Path: fmt.Sprintf("p%d/p.go", i), Before: code, After: code + "func G() {}\n", Existed: true, Exists: true},
			File{Path: fmt.Sprintf("p%d/p_test.go", i), Before: tests, After: tests + "func TestG(t *testing.T) { G() }\n", Existed: true, Exists: true})
	}
	for b.Loop() {
		if found := Compare(in); len(found) > 0 {
			b.Fatal(found)
		}
	}
}
