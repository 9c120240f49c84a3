package tmux

import (
	"strconv"
	"strings"
	"testing"
)

func FuzzScript_anyWords_readBackUnchanged(f *testing.F) {
	f.Add("it's \"so\"", "end;")
	f.Add("#{pane_id} $HOME ~", "two\nlines\ttab")
	f.Add("", "\xff\xfe\\")
	f.Fuzz(func(t *testing.T, one, two string) {
		text := script([][]string{{"new-window", one, two}, {"kill-window"}})
		lines := strings.Split(text, "\n")
		if len(lines) != 3 || lines[2] != "" {
			t.Fatalf("two commands became %d lines: %q", len(lines)-1, text)
		}
		words := strings.Split(lines[0], " ")
		if len(words) != 3 {
			t.Fatalf("three words became %d: %q", len(words), text)
		}
		for i, want := range []string{"new-window", one, two} {
			if got := unquote(t, words[i]); got != want {
				t.Errorf("%q became %q", want, got)
			}
		}
	})
}

// unquote reads a word as tmux does: in double quotes nothing but a backslash
// with three octal digits may be special.
func unquote(t *testing.T, word string) string {
	t.Helper()
	body, ok := strings.CutPrefix(word, `"`)
	body, ok2 := strings.CutSuffix(body, `"`)
	if !ok || !ok2 || strings.ContainsAny(body, "\"$#;'~{} ") {
		t.Fatalf("%q is not inert", word)
	}
	var b strings.Builder
	for i := 0; i < len(body); i++ {
		if body[i] != '\\' {
			b.WriteByte(body[i])
			continue
		}
		if i+3 >= len(body) {
			t.Fatalf("%q ends within an escape", word)
		}
		n, err := strconv.ParseUint(body[i+1:i+4], 8, 8)
		if err != nil {
			t.Fatalf("%q: %v", word, err)
		}
		b.WriteByte(byte(n))
		i += 3
	}
	return b.String()
}

func FuzzName_anyFolder_isAnInertSessionName(f *testing.F) {
	for _, seed := range []string{"/", "/home/me/my project", "/a/ralph.x:y", "/a/ü🙂", "/a/#{x}", "/a/-t", "\xff"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, dir string) {
		name := Name(dir)
		if !strings.HasPrefix(name, "ralph-") || strings.ContainsAny(name, ".:#{}$=@%;'\"\\ \t\n\r\x00") || len([]rune(name)) > 60 {
			t.Errorf("Name(%q) = %q", dir, name)
		}
	})
}
