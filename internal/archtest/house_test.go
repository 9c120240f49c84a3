// Package archtest holds the house rules as tests: who may import whom, and what
// source may not contain. Each rule is a row with its reason, and each violation
// is one line.
package archtest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

// rule is one sentence about the whole tree.
type rule struct {
	name  string
	why   string
	check func(*tree) []violation
}

var rules = []rule{
	{"tools", "what serves only development stays out of the programs", checkTools},
	{"bans", "each row of the table says why", checkBans},
	{"names", "a package is named for its one job", checkNames},
	{"start-up", "ralph --version answers in milliseconds, and nothing runs before main", checkStartup},
	{"sleep", "a test that sleeps is slow and still fails on a busy machine; `// sleep: reason` in the line outranks it", checkSleep},
	{"glob", "the name of a user's folder is no pattern: in app[1] it matches nothing; use fs.Glob(os.DirFS(folder), pattern)", checkGlob},
	{"files", "a project's files may be links that lead out of it; open them with state/projectfs, or say in the line `// file: reason`", checkFiles},
	{"written", "a turn.Result says what the turn found, to all who look at it; what comes of it later makes another one, in runner/turn/amend.go", checkWritten},
	{"gofmt", "one format, no discussion", checkFormat},
	{"workplace", "the path of somebody's machine means nothing to a reader", checkWorkplace},
}

func TestHouse_keepsItsRules(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	tr, err := load(root)
	if err != nil {
		t.Fatal(err)
	}
	if len(tr.packages) < 15 {
		t.Fatalf("%d packages found in %s", len(tr.packages), root)
	}
	for _, r := range rules {
		t.Run(r.name, func(t *testing.T) {
			found := r.check(tr)
			for _, v := range found {
				t.Error(v)
			}
			if len(found) > 0 {
				t.Log("why:", r.why)
			}
		})
	}
}

// A rule that cannot fail is useless: this tree breaks each of them.
func TestRules_inABadTree_nameEachViolation(t *testing.T) {
	archive, err := txtar.ParseFile("testdata/bad.txtar")
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	var want []string
	for _, f := range archive.Files {
		text := strings.ReplaceAll(string(f.Data), "@WORKPLACE@", workplace)
		if f.Name == "want" {
			want = strings.Split(strings.TrimSpace(text), "\n")
			continue
		}
		path := filepath.Join(root, f.Name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	tr, err := load(root)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range rules {
		found := r.check(tr)
		if len(found) == 0 {
			t.Errorf("%s: no violation in the bad tree", r.name)
		}
		for _, v := range found {
			got = append(got, r.name+": "+v.String())
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
