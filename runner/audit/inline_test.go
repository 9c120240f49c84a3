package audit

import "testing"

func TestInline_codeBelowTheTests_isCode(t *testing.T) {
	const tests = "#[cfg(test)]\nmod tests {\n    #[test]\n    fn one() {\n        assert_eq!(1, 1);\n    }\n}\n"
	for name, c := range map[string]struct{ text, before, tests, after string }{
		"none":             {"fn a() {}\n", "fn a() {}\n", "", ""},
		"at the end":       {"fn a() {}\n" + tests, "fn a() {}\n", tests, ""},
		"code below":       {"fn a() {}\n" + tests + "fn b() {}\n", "fn a() {}\n", tests, "fn b() {}\n"},
		"a file of tests":  {"#[cfg(test)]\nmod tests;\nfn b() {}\n", "", "#[cfg(test)]\nmod tests;\n", "fn b() {}\n"},
		"on one line":      {"#[cfg(test)] use a::b;\nfn b() {}\n", "", "#[cfg(test)] use a::b;\n", "fn b() {}\n"},
		"two items":        {"#[cfg(test)]\nfn t() {}\nfn a() {}\n" + tests + "fn b() {}\n", "", "#[cfg(test)]\nfn t() {}\nfn a() {}\n" + tests, "fn b() {}\n"},
		"one never closed": {"#[cfg(test)]\nmod tests {\nfn b() {}\n", "", "#[cfg(test)]\nmod tests {\nfn b() {}\n", ""},
	} {
		if before, in, after := Inline(c.text); before != c.before || in != c.tests || after != c.after {
			t.Errorf("%s: %q, %q, %q", name, before, in, after)
		}
	}
	if got := productOf("#[cfg(test)]\nfn t() {}\nfn a() {}\n" + tests + "fn b() {}\n"); got != "fn a() {}\nfn b() {}\n" {
		t.Errorf("%q", got)
	}
}
