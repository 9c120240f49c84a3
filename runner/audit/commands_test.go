package audit

import (
	"testing"
)

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
