package termtext

import (
	"math"
	"testing"
)

func TestCount_oneAndMany_differ(t *testing.T) {
	for got, want := range map[string]string{
		Count(0, "file"): "0 files", Count(1, "file"): "1 file", Count(2, "file"): "2 files",
		Counted(1, "test fails", "tests fail"): "1 test fails", Counted(12, "test fails", "tests fail"): "12 tests fail",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestThousands_everyThreeDigits_commas(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0", 999: "999", 1000: "1,000", -999: "-999", -1000: "-1,000", 1234567: "1,234,567", math.MinInt64: "-9,223,372,036,854,775,808",
	} {
		if got := Thousands(n); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}
