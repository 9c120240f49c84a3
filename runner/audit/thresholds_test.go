package audit

import (
	"testing"
)

func TestWeakenedSetting_variableOfAMakefile_onlyThatOfCoverage(t *testing.T) {
	for _, c := range []struct {
		lost, added string
		want        bool
	}{
		{"MIN=85", "MIN=10", true}, {"COVERAGE_MIN := 85", "COVERAGE_MIN := 60", true}, {"MIN=85", "MIN=90", false},
		{"\"maxFunctionLines\": 12", "\"maxFunctionLines\": 400", true}, {"maxWorkers: 2", "maxWorkers: 4", false},
		{"max-complexity = 10", "max-complexity = 8", false}, {"max-complexity = 8", "max-complexity = 10", true},
		{"MIN_GO=22", "MIN_GO=21", false}, {"MINUTES=9", "MINUTES=5", false},
	} {
		if _, _, got := weakenedSetting([]string{c.lost}, []string{c.added}); got != c.want {
			t.Errorf("%s: %v", c.added, got)
		}
	}
}
