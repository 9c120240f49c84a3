package tmux

import (
	"crypto/sha256"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
)

// script writes commands in tmux's configuration language. Every byte that
// could mean something there is an octal escape, so that quotes, newlines,
// semicolons and "$" arrive as they are. A script has no length bound, while
// all arguments of one tmux call together must stay below 16 KiB, and unlike
// arguments it cannot be read in the list of processes: it carries the
// caller's environment.
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

// arguments writes commands as arguments of the tmux program, which takes a
// semicolon at the end of any argument as the end of a command.
func arguments(commands [][]string) []string {
	var args []string
	for i, command := range commands {
		if i > 0 {
			args = append(args, ";")
		}
		for _, word := range command {
			if rest, found := strings.CutSuffix(word, ";"); found {
				word = rest + `\;`
			}
			args = append(args, word)
		}
	}
	return args
}

// direct returns argv in a form that tmux executes without a shell: tmux
// hands a single argument to one.
func direct(argv []string) []string {
	if len(argv) == 1 {
		return []string{"sh", "-c", `exec "$0"`, argv[0]}
	}
	return argv
}

// withEnv puts env in front of argv as arguments of env(1), for a tmux without
// the -e flag. The shell in between keeps a program whose path holds "=" a program.
func withEnv(env, argv []string) []string {
	words := append([]string{"env"}, env...)
	return append(append(words, "sh", "-c", `exec "$0" "$@"`), argv...)
}

// own lists the variables that tmux sets for each pane itself.
func own(name string) bool {
	switch name {
	case "TMUX", "TMUX_PANE", "TERM", "TERM_PROGRAM", "TERM_PROGRAM_VERSION", "LINES", "COLUMNS", "PWD", "_":
		return true
	}
	return false
}

// Forward returns the part of an environment that a program in a pane should
// see: everything but what tmux itself sets there. Of repeated names the last
// one counts.
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

// Name returns the session name of the project in dir: "ralph-<folder>-<hash>",
// where the hash is taken from the whole path, so that two folders of the same
// name differ. It holds only characters that tmux neither rewrites nor expands.
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
