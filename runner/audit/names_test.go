package audit

import (
	"slices"
	"testing"
)

func TestAsked_namesThatAVerbAsksFor(t *testing.T) {
	for text, want := range map[string][]string{
		"no more than 10 mails per minute, raise `RateLimited` above that": {"RateLimited"},
		"add a new `sent_count()` and `other`":                             {"sent_count"},
		"parse() must not raise `KeyError`; it doesn't add `Foo`":          nil,
		"Print after Close returns ErrClosed of this package":              {"ErrClosed"},
		"returns a GET or an Id, throws nothing; the Parser returns early": nil,
		"`make clean` should also remove core files":                       nil,
	} {
		if got := namesAsked(text); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestQuoted_wordsBetweenBackticks_sorted(t *testing.T) {
	for text, want := range map[string][]string{
		"`todo count` prints how many (test: count)": {"count", "todo"},
		"`ls -l` and `rm --force`":                   {"force"},
		"no code, and an `open one":                  nil,
		"an `old\nline` is none":                     nil,
	} {
		if got := quotedNames(text); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
