package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

// tree is a module with a package for each way to end.
const tree = `
-- go.mod --
module m

go 1.26
-- good/good_test.go --
package good

import "testing"

func TestPass(t *testing.T) { t.Log("quiet"); t.Run("sub", func(t *testing.T) {}) }
-- skips/skips_test.go --
package skips

import "testing"

func TestSkip(t *testing.T) { t.Skip("no tmux") }
-- long/long_test.go --
package long

import "testing"

func TestTable(t *testing.T) {
	if testing.Short() {
		t.Skip("long: every row")
	}
}

func TestScript(t *testing.T) {
	if testing.Short() {
		defer t.Log("WORK=$WORK")
		t.Skip("long: a script")
	}
}
-- fails/fails_test.go --
package fails

import "testing"

func TestFail(t *testing.T) { t.Run("sub", func(t *testing.T) { t.Error("bad") }) }
-- broken/broken_test.go --
package broken

var x = undefined
-- dies/dies_test.go --
package dies

import (
	"fmt"
	"os"
	"testing"
)

func TestDie(t *testing.T) { fmt.Println("dying"); os.Exit(4) }
-- empty/empty.go --
package empty
`

func TestRun_eachEnd_isPrintedAndCounted(t *testing.T) {
	dir := t.TempDir()
	for _, f := range txtar.Parse([]byte(tree)).Files {
		path := filepath.Join(dir, f.Name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	tests := []struct {
		name   string
		strict bool
		args   string
		code   int
		want   string
	}{
		{"all good", true, "./good ./empty", 0, "ok  \tm/good\t2 passed so far\n2 passed, 0 failed, 0 skipped\n"},
		{"verbose", false, "-v ./good", 0, "=== RUN   TestPass\n    good_test.go:5: quiet\n=== RUN   TestPass/sub\n" +
			"--- PASS: TestPass\n    --- PASS: TestPass/sub\nPASS\nok  \tm/good\n2 passed, 0 failed, 0 skipped\n"},
		{"a skip", false, "./skips", 0, "skip\tm/skips\tTestSkip: skips_test.go:5: no tmux\nok  \tm/skips\t0 passed so far\n0 passed, 0 failed, 1 skipped\n"},
		{"a skip where nothing may be missing", true, "./skips", 1, "skip\tm/skips\tTestSkip: skips_test.go:5: no tmux\nok  \tm/skips\t0 passed so far\n" +
			"RALPH_REQUIRE=all: a skipped test is a failure; skipped: 1\n0 passed, 0 failed, 1 skipped\n"},
		{"a table that is too long for now", true, "-short ./long", 0, "left out\tm/long\ta script: TestScript; every row: TestTable\nok  \tm/long\t0 passed so far\nleft out by -short, named above: 2 with their cases\n0 passed, 0 failed, 0 skipped\n"},
		{"the same table in full", true, "./long", 0, "ok  \tm/long\t2 passed so far\n2 passed, 0 failed, 0 skipped\n"},
		{"a failure, with the shuffle seed", false, "-shuffle=7 ./fails", 1, "    fails_test.go:5: bad\n--- FAIL: TestFail/sub\n--- FAIL: TestFail\n" +
			"FAIL\tm/fails\n-test.shuffle 7\n0 passed, 2 failed, 0 skipped\n"},
		{"no build", false, "./broken", 1, "# m/broken [m/broken.test]\nbroken/broken_test.go:3:9: undefined: undefined\n" +
			"FAIL\tm/broken [build failed]\n0 passed, 1 failed, 0 skipped\n"},
		{"an exit in a test", false, "./dies", 1, "FAIL\tm/dies\n--- unfinished: TestDie\ndying\n0 passed, 1 failed, 0 skipped\n"},
		{"a bad flag", false, "-timeout=x ./good", 1, "go test: exit status 2\n0 passed, 1 failed, 0 skipped\n"},
	}
	times := regexp.MustCompile(`( \(|\t)[0-9.]+s\)?|\t?\(cached\)`)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var out strings.Builder
			g := &gate{out: &out, strict: tt.strict}
			code := g.run(dir, append([]string{"-vet=off"}, strings.Fields(tt.args)...))
			got := times.ReplaceAllString(out.String(), "")
			if diff := cmp.Diff(tt.want, got); diff != "" || code != tt.code {
				t.Errorf("exit code %d, want %d\n%s", code, tt.code, diff)
			}
		})
	}
}
