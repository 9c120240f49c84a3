package tmux

import (
	"crypto/sha256"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
)

// script writes commands in tmux's configuration language. Every byte with a
// meaning there is an octal escape, so that quotes, newlines, semicolons and "$"
// arrive unchanged. Arguments would not work: together they must stay below 16 KiB,
// and everybody could read them, and the environment of the caller, in the list of
// processes.
func script(commands [][]string) string {
	var b strings.Builder
	for _, command := range commands {
		for i, word := range command {
			if i > 0 {
				b.WriteByte(' ')
			}
			quote(&b, word)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func quote(b *strings.Builder, word string) {
	b.WriteByte('"')
	for i := range len(word) {
		c := word[i]
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.IndexByte("-_./=:%@,", c) >= 0:
			b.WriteByte(c)
		default:
			fmt.Fprintf(b, `\%03o`, c)
		}
	}
	b.WriteByte('"')
}

// withoutShell returns argv in a form that tmux runs without interpreting it: tmux passes a single
// argument to a shell.
func withoutShell(argv []string) []string {
	if len(argv) == 1 {
		return []string{"sh", "-c", `exec "$0"`, argv[0]}
	}
	return argv
}

// own reports whether tmux sets this variable for each pane.
func own(name string) bool {
	switch name {
	case "TMUX", "TMUX_PANE", "TERM", "TERM_PROGRAM", "TERM_PROGRAM_VERSION", "LINES", "COLUMNS", "PWD", "_":
		return true
	}
	return false
}

// Forward returns the part of an environment for a program in a pane: everything
// except what tmux sets there. If a name is repeated, the last one counts.
func Forward(env []string) []string {
	var out []string
	seen := map[string]bool{}
	for _, pair := range slices.Backward(env) {
		name, _, ok := strings.Cut(pair, "=")
		if !ok || name == "" || own(name) || seen[name] {
			continue
		}
		seen[name] = true
		out = append(out, pair)
	}
	slices.Reverse(out)
	return out
}

// Name returns the session name of the project in dir: "ralph-<folder>-<hash>".
// The hash is that of the whole path, so that two folders of one name differ. The
// name has only characters that tmux neither rewrites nor expands.
func Name(dir string) string {
	base := strings.Map(func(r rune) rune {
		if r != unicode.ReplacementChar && (unicode.IsLetter(r) || unicode.IsDigit(r) || r == '-' || r == '_') {
			return r
		}
		return '_'
	}, strings.TrimPrefix(filepath.Base(dir), "ralph-"))
	if short := []rune(base); len(short) > 40 {
		base = string(short[:40])
	}
	sum := sha256.Sum256([]byte(filepath.Clean(dir)))
	return fmt.Sprintf("ralph-%s-%x", base, sum[:2])
}
