package audit

import (
	"testing"
)

func TestLostExit(t *testing.T) {
	const fails = "#!/bin/sh\nfailed=0\nfor t in *.t; do sh $t || failed=1; done\nexit $failed\n"
	for _, c := range []struct {
		name, path, before, after string
		want                      string
	}{
		{"zero", "tests/run.sh", fails, "#!/bin/sh\nfor t in *.t; do sh $t; done\nexit 0\n", "exit $failed"},
		{"failure counted", "tests/run.sh", fails, "#!/bin/sh\nfailed=0\nfor t in *.t; do sh $t || failed=$((failed + 1)); done\nexit $failed\n", ""},
		{"another variable", "tests/run.sh", fails, "#!/bin/sh\nexit $bad\n", ""},
		{"set -e", "tests/run.sh", fails, "#!/bin/sh\nset -eu\nsh a.t\n", ""},
		{"a helper", "tests/lib.sh", "fails=0\nbad() {\n  fails=$((fails + 1))\n}\n", "fails=0\nbad() {\n  echo bad\n}\n", "fails=$(("},
		{"a helper that ends", "tests/lib.sh", "bad() {\n  fails=$((fails + 1))\n}\n", "bad() {\n  echo bad; exit 1\n}\n", ""},
		{"another counter", "tests/lib.sh", "bad() {\n  fails=$((fails + 1))\n}\n", "bad() {\n  ((errors++))\n}\n", ""},
		{"exec", "tests/run.sh", fails, "#!/bin/sh\nexec bats .\n", ""},
		{"without set -e", "check.sh", "set -eu\nmake\nmake test\n", "make\nmake test\necho ok\n", "set -eu"},
		{"never failed", "tests/run.sh", "echo a\n", "echo b\n", ""},
		{"deleted", "tests/run.sh", fails, "", ""},
		{"not a script", "Makefile", "a:\n\texit 1\n", "a:\n", ""},
	} {
		if got := lostExit(c.path, c.before, c.after); got != c.want {
			t.Errorf("%s: %q", c.name, got)
		}
	}
}

func TestHidesFailure_targetForTests_whateverItRuns(t *testing.T) {
	for _, c := range []struct {
		line, lost string
		want       bool
	}{
		{"make test: @./t | grep -v FAIL || true", "make test: ./t", true},
		{"make check-unit: -./t; true", "make check-unit: @./t", true},
		{"make test: ./t | tee log", "make test: ./t", true},
		{"make test: set -o pipefail; ./t | tee log", "make test: ./t", false},
		{"make test: ./t -v", "make test: ./t", false},
		{"make clean: rm t || true", "make clean: rm t", false},
		{"make test: mkdir -p out || true", "make test: ./t", false},
		{"make check: -sh tests/run.sh", "make check: sh tests/run.sh", true},
		{"make check: @-sh tests/run.sh", "make check: @sh tests/run.sh", true},
		{"make check: sh tests/run.sh -v", "make check: -sh tests/run.sh", false},
		{"make check: -sh tests/run.sh -v", "make check: -sh tests/run.sh", false},
		{"make clean: -sh tests/run.sh", "make clean: sh tests/run.sh", false},
		{"make test: ./t a || true", "make test: ./t || true", false},
	} {
		if got := hidesFailure(c.line, []string{c.lost}, true); got != c.want {
			t.Errorf("%s: %v", c.line, got)
		}
	}
}
