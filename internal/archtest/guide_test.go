package archtest

import (
	"cmp"
	"flag"
	"fmt"
	"go/ast"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the generated part of AGENTS.md")

const (
	floorsStart = "<!-- generated: floors -->\n"
	floorsEnd   = "<!-- end -->"
)

func TestGenerated_floorsInTheGuide_areCurrent(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	tr, err := load(root, limits{})
	if err != nil {
		t.Fatal(err)
	}
	guide := filepath.Join(root, "AGENTS.md")
	data, err := os.ReadFile(guide)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, hasStart := strings.Cut(string(data), floorsStart)
	_, after, hasEnd := strings.Cut(rest, floorsEnd)
	if !hasStart || !hasEnd {
		t.Fatalf("AGENTS.md has no %q with %q after it", floorsStart, floorsEnd)
	}
	want := before + floorsStart + tr.floorTable() + floorsEnd + after
	switch {
	case want == string(data):
	case *update:
		if err := os.WriteFile(guide, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Error("the floors in AGENTS.md are stale; run: make generate")
	}
}

// floorTable has a row for each package: its floor and its imports of the
// module, without those of its tests.
func (t *tree) floorTable() string {
	imports := map[string]map[string]bool{}
	t.imports(func(p *pkg, f *file, _ *ast.ImportSpec, path string) {
		if target := inModule(path); target != "" && !f.test {
			if imports[p.path] == nil {
				imports[p.path] = map[string]bool{}
			}
			imports[p.path][target] = true
		}
	})
	var b strings.Builder
	b.WriteString("| floor | package | imports of ralph |\n|---|---|---|\n")
	for _, p := range slices.SortedFunc(slices.Values(t.packages), func(p, q *pkg) int {
		return cmp.Or(cmp.Compare(floors[q.path], floors[p.path]), cmp.Compare(p.path, q.path))
	}) {
		if floor, ok := floors[p.path]; ok {
			fmt.Fprintf(&b, "| %v | `%s` |", floor, p.path)
			for _, target := range slices.Sorted(maps.Keys(imports[p.path])) {
				fmt.Fprintf(&b, " `%s`", target)
			}
			b.WriteString(" |\n")
		}
	}
	return b.String()
}
