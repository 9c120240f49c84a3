package names

import (
	"slices"
	"testing"
)

func TestQuoted_wordsBetweenBackticks_sorted(t *testing.T) {
	for text, want := range map[string][]string{
		"`todo count` prints how many (test: count)": {"count", "todo"},
		"`ls -l` and `rm --force`":                   {"force"},
		"no code, and an `open one":                  nil,
		"an `old\nline` is none":                     nil,
	} {
		if got := Quoted(text); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
