package monitor

import (
	"slices"
	"testing"
)

func TestNames_range_hasAllDigits(t *testing.T) {
	for text, want := range map[string][]string{"q ctrl-c": {"q", "ctrl-c"}, "0 2..4 x": {"0", "2", "3", "4", "x"}, "..": {".."}, "": nil} {
		if got := keyNames(text); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
