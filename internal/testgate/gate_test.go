package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"ralph/internal/world"
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
-- once/once_test.go --
package once

import (
	"os"
	"testing"
)

// These fail in the first of all runs.
func TestOnce(t *testing.T) {
	t.Run("sub", func(t *testing.T) {
		if first("once") {
			t.Error("by chance")
		}
	})
}

func TestGood(t *testing.T) {}

func first(name string) bool {
	_, err := os.Stat(name)
	return err != nil && os.WriteFile(name, nil, 0o600) == nil
}
-- often/often_test.go --
package often

import (
	"os"
	"testing"
)

func TestEveryOther(t *testing.T) {
	if os.Remove("odd") != nil {
		_ = os.WriteFile("odd", nil, 0o600)
		t.Error("by chance")
	}
}
-- race/race_test.go --
package race

import (
	"os"
	"testing"
)

func TestRace(t *testing.T) {
	if _, err := os.Stat("raced"); err != nil {
		_ = os.WriteFile("raced", nil, 0o600)
		t.Error("WARNING: DATA" + " RACE")
	}
}
-- main/main_test.go --
package main

import (
	"os"
	"testing"
)

func TestMain(m *testing.M) { m.Run(); os.Exit(1) }

func TestGood(t *testing.T) {}
-- crash/crash_test.go --
package crash

import (
	"os"
	"testing"
	"time"
)

func TestA(t *testing.T) {}

func TestB(t *testing.T) {
	if _, err := os.Stat("crashed"); err != nil {
		_ = os.WriteFile("crashed", nil, 0o600)
		switch mode() {
		case "panic":
			panic("by chance")
		case "hang":
			time.Sleep(time.Hour) // sleep: the test hangs
		}
		os.Exit(4)
	}
}

func TestC(t *testing.T) {
	if mode() == "behind" {
		t.Error("behind it")
	}
}

func mode() string {
	text, _ := os.ReadFile("mode")
	return string(text)
}
-- many/many_test.go --
package many

import "testing"

func TestA(t *testing.T) { t.Fail() }
func TestB(t *testing.T) { t.Fail() }
func TestC(t *testing.T) { t.Fail() }
func TestD(t *testing.T) { t.Fail() }
func TestE(t *testing.T) { t.Fail() }
func TestF(t *testing.T) { t.Fail() }
`

// plant writes the tree.
func plant(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for _, f := range txtar.Parse([]byte(tree)).Files {
		path := filepath.Join(dir, f.Name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// times matches what differs from run to run.
var times = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`( \(|\t)[0-9.]+s\)?|\t?\(cached\)`)
})

const once = "    once_test.go:12: by chance\n--- FAIL: TestOnce/sub\n--- FAIL: TestOnce\nFAIL\tm/once\nagain, alone: m/once TestOnce\n"

func TestRun_failedTest_runsAgainAlone(t *testing.T) {
	tests := []struct {
		name, args, mode string
		known            string
		code             int
		want             string // the end of the output
	}{
		{"by chance", "./once", "", "", 0, once +
			"flaky: m/once TestOnce failed, and passed 2 times alone; with this name in LIST, the next time is a failure\n" +
			"        once_test.go:12: by chance\n    --- FAIL: TestOnce/sub\n    --- FAIL: TestOnce\n3 passed, 0 failed, 0 skipped\n"},
		{"by chance, with -v", "-v ./once", "", "", 0, "flaky: m/once TestOnce failed, and passed 2 times alone; with this name in LIST, the next time is a failure\n" +
			"        once_test.go:12: by chance\n        --- FAIL: TestOnce/sub\n    --- FAIL: TestOnce\n3 passed, 0 failed, 0 skipped\n"},
		{"by chance once more", "./once", "", "m/once\tTestOnce # seen in a night\n", 1, once +
			"it passes alone, but it was flaky before, which is a failure now: m/once TestOnce\n1 passed, 2 failed, 0 skipped\n"},
		{"another one is in the list", "./once", "", "m/once TestGood\n", 0, "3 passed, 0 failed, 0 skipped\n"},
		{"for a reason", "./fails", "", "", 1, "it is no better alone: m/fails TestFail\n0 passed, 2 failed, 0 skipped\n"},
		{"one of three times", "./often", "", "", 1, "it is no better alone: m/often TestEveryOther\n0 passed, 1 failed, 0 skipped\n"},
		{"for a reason and by chance", "./once ./fails", "", "", 1, "--- FAIL: TestOnce\n3 passed, 2 failed, 0 skipped\n"},
		{"a race", "./race", "", "", 1, "m/race: not the failure of a test, or a data race, so it stays\n0 passed, 1 failed, 0 skipped\n"},
		{"outside of the tests", "./main", "", "", 1, "m/main: not the failure of a test, or a data race, so it stays\n1 passed, 1 failed, 0 skipped\n"},
		{"no build", "./broken", "", "", 1, "m/broken: not the failure of a test, or a data race, so it stays\n0 passed, 1 failed, 0 skipped\n"},
		{"too many", "./many", "", "", 1, "6 tests do not fail by chance, so none runs again\n0 passed, 6 failed, 0 skipped\n"},
		{"an exit", "./crash", "", "", 0, "m/crash ended before 1 of its tests; they run now\nok  \tm/crash\t2 passed so far\nagain, alone: m/crash TestB\n" +
			"flaky: m/crash TestB failed, and passed 2 times alone; with this name in LIST, the next time is a failure\n3 passed, 0 failed, 0 skipped\n"},
		{"a panic", "./crash", "panic", "", 0, "3 passed, 0 failed, 0 skipped\n"},
		{"a test that hangs", "-timeout=2s ./crash", "hang", "", 0, "3 passed, 0 failed, 0 skipped\n"},
		{"a crash before a failure", "./crash", "behind", "", 1, "again, alone: m/crash TestC\n    crash_test.go:26: behind it\n--- FAIL: TestC\n" +
			"    crash_test.go:26: behind it\n--- FAIL: TestC\nFAIL\tm/crash\nit is no better alone: m/crash TestC\n" +
			"flaky: m/crash TestB failed, and passed 2 times alone; with this name in LIST, the next time is a failure\n2 passed, 2 failed, 0 skipped\n"},
		{"a bad flag", "-timeout=x ./good", "", "", 1, "go test: exit status 2\n0 passed, 1 failed, 0 skipped\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if strings.HasSuffix(tt.args, "./crash") {
				world.Long(t, "crashes")
			}
			t.Parallel()
			dir := plant(t)
			if err := os.WriteFile(filepath.Join(dir, "crash/mode"), []byte(tt.mode), 0o600); err != nil {
				t.Fatal(err)
			}
			list := filepath.Join(t.TempDir(), "list")
			if err := os.WriteFile(list, []byte("# a comment\n\n"+tt.known), 0o600); err != nil {
				t.Fatal(err)
			}
			known, err := readKnown(list)
			if err != nil {
				t.Fatal(err)
			}
			var out strings.Builder
			g := &gate{out: &out, known: known, list: "LIST"}
			code := g.run(dir, append([]string{"-vet=off"}, strings.Fields(tt.args)...))
			if got := times().ReplaceAllString(out.String(), ""); !strings.HasSuffix(got, tt.want) || code != tt.code {
				t.Errorf("exit code %d, want %d\n%s\nwant at its end\n%s", code, tt.code, got, tt.want)
			}
		})
	}
}

func TestReadKnown_noSuchFile_isAnError(t *testing.T) {
	if _, err := readKnown(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("no error")
	}
}

func TestRun_eachEnd_isPrintedAndCounted(t *testing.T) {
	dir := plant(t)
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
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var out strings.Builder
			g := &gate{out: &out, strict: tt.strict}
			code := g.run(dir, append([]string{"-vet=off"}, strings.Fields(tt.args)...))
			got := times().ReplaceAllString(out.String(), "")
			if diff := cmp.Diff(tt.want, got); diff != "" || code != tt.code {
				t.Errorf("exit code %d, want %d\n%s", code, tt.code, diff)
			}
		})
	}
}
