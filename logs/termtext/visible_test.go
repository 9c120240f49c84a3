package termtext

import (
	"encoding/json"
	"maps"
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

func TestJSON_anyText_isInertAndMeansTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.String().Draw(t, "s") + rapid.SampledFrom([]string{"", "\u009b2J", "\u202e", "\U000e0041", "e\u0301\u0301\u0301", "\u2028", "\x7f"}).Draw(t, "more")
		data, err := json.MarshalIndent(map[string]string{in: in}, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		got := JSON(string(data))
		if Clean(got) != got {
			t.Errorf("%q is not inert", got)
		}
		var want, back map[string]string
		if err := json.Unmarshal(data, &want); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(got), &back); err != nil || !maps.Equal(want, back) {
			t.Errorf("%q became %q, %v", want, back, err)
		}
	})
}
