package values

import (
	"strings"
	"testing"
)

func TestLoud_withoutWhatSilencesALinter(t *testing.T) {
	for name, c := range map[string]struct{ before, after, text, muted string }{
		"a line":      {"a()\n", "// eslint-disable-next-line no-x\na()\n", "a()\n", "// eslint-disable-next-line no-x"},
		"at its end":  {"x = f()\n", "x = f()  # noqa: E501\n", "x = f()\n", "x = f()  # noqa: E501"},
		"one of old":  {"x = f()  # noqa\n", "x = f()  # noqa\ny = 1\n", "x = f()  # noqa\ny = 1\n", ""},
		"a lint":      {"fn a() {}\n", "#[allow(dead_code)]\nfn a() {}\n", "fn a() {}\n", "#[allow(dead_code)]"},
		"a crate":     {"#![deny(unused)]\nfn a() {}\n", "#![allow(unused)]\nfn a() {}\n", "#![deny(unused)]\nfn a() {}\n", "#![allow(unused)]; without #![deny(unused)]"},
		"other lines": {"a\n", "b // no lint here\n", "b // no lint here\n", ""},
	} {
		text, muted := Loud(c.before, c.after)
		if got := strings.Join(muted, "; "); text != c.text || got != c.muted {
			t.Errorf("%s: %q, %q, want %q, %q", name, text, got, c.text, c.muted)
		}
	}
}
