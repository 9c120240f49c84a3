package archtest

import (
	"cmp"
	"flag"
	"fmt"
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

// floorTable has a row for each package: its floor and its job.
func (t *tree) floorTable() string {
	var b strings.Builder
	b.WriteString("| floor | package | job |\n|---|---|---|\n")
	for _, p := range slices.SortedFunc(slices.Values(t.packages), func(p, q *pkg) int {
		return cmp.Or(cmp.Compare(floors[q.path], floors[p.path]), cmp.Compare(p.path, q.path))
	}) {
		if floor, ok := floors[p.path]; ok {
			fmt.Fprintf(&b, "| %d | `%s` | %s |\n", floor, p.path, p.job())
		}
	}
	return b.String()
}

// job is what the comment of a package says after its name.
func (p *pkg) job() string {
	doc := strings.TrimSuffix(strings.TrimSuffix(p.doc, "."), ":")
	for _, start := range []string{"Package " + p.name + " ", "Command " + filepath.Base(p.path) + " "} {
		doc = strings.TrimPrefix(doc, start)
	}
	return strings.TrimPrefix(doc, "is ")
}
