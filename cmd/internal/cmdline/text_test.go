package cmdline

import (
	"slices"
	"testing"

	"mvdan.cc/sh/v3/shell"
)

func TestQuote_anyArgv_isReadBackByAShell(t *testing.T) {
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"ralph", "-C", "/p/q"}, "ralph -C /p/q"},
		{[]string{"--max-iterations=1", "--model="}, "--max-iterations=1 --model="},
		{[]string{"MODEL=two words", "ralph"}, "MODEL='two words' ralph"}, // an assignment, not a command
		{[]string{"--allowed-tools=Bash(git *),Read"}, "--allowed-tools='Bash(git *),Read'"},
		{[]string{"", "it's", `a\b`, "$HOME `x`", "~"}, ""},
		{[]string{"two\nlines", "it's\n"}, ""},
	} {
		got := Quote(test.args...)
		if test.want != "" && got != test.want {
			t.Errorf("%q: %s, want %s", test.args, got, test.want)
		}
		if back, err := shell.Fields(got, func(string) string { return "expanded" }); err != nil || !slices.Equal(back, test.args) {
			t.Errorf("%s is read back as %q, %v", got, back, err)
		}
	}
}

func TestTexts_listItem_isNoFlag(t *testing.T) {
	in := []string{"add", "- [ ] one", "-[ ] two", "-", "-C", "--json", "-v"}
	want := []string{"add", " - [ ] one", " -[ ] two", "-", "-C", "--json", "-v"}
	if got := Texts(in); !slices.Equal(got, want) || in[1] != "- [ ] one" {
		t.Errorf("%q", got)
	}
}
