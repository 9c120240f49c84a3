package termtext

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestVisible_whatHides_isShown(t *testing.T) {
	for in, want := range map[string]string{
		"make test -run X":       "make test -run X",
		"make  test ":            "make␣␣test␣",
		" x":                     "␣x",
		"a\nrm -rf ~\t#":         "a⏎rm -rf ~⇥#",
		"cu\u200brl":             "cu<U+200B>rl",
		"a\u00a0b":               "a<U+00A0>b",
		"\u202eevil\x1b[8mx\x07": "<U+202E>evil<U+001B>[8mx<U+0007>",
		"e\u0301":                "e<U+0301>",
		"\u0085 \xff":            "<U+0085> <FF>",
		"größe 漢字 ✓":             "größe 漢字 ✓",
	} {
		if got := Visible(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestVisible_anyText_isOneCleanRow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "s")
		got := Visible(s)
		if Clean(got) != got || strings.ContainsAny(got, "\n\t") {
			t.Errorf("%q: %q", s, got)
		}
	})
}
