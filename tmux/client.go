// Package tmux makes typed calls to the tmux program: it opens a session with the
// runner and the monitor side by side, attaches to it, and asks how its panes
// ended. Nothing goes through a shell or is typed into a pane.
package tmux

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"
)

// Errors to test for with errors.Is.
var (
	ErrNotInstalled = errors.New("tmux is not installed")
	ErrNoServer     = errors.New("no tmux server is running")
	ErrDuplicate    = errors.New("a tmux session of this name exists")
	ErrGone         = errors.New("the tmux session or pane is gone")
)

// Client calls one tmux server.
type Client struct {
	Path   string   // the program; empty: "tmux" found on PATH
	Socket string   // name of a private server (-L); empty: $TMUX's server, else the default one
	Env    []string // environment of the tmux client itself; nil: this process's
}

// command prepares a call of the tmux program with the working directory dir. The error wraps ErrNotInstalled.
func (c *Client) command(ctx context.Context, dir string, args ...string) (*exec.Cmd, error) {
	name := cmp.Or(c.Path, "tmux")
	path, err := exec.LookPath(name)
	if err != nil {
		return nil, fmt.Errorf("find %q: %w", name, ErrNotInstalled)
	}
	if c.Socket != "" {
		args = append([]string{"-L", c.Socket}, args...)
	}
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Dir = dir
	cmd.Env = c.Env
	if cmd.Env == nil {
		cmd.Env = cmd.Environ()
	}
	if dir != "" {
		// tmux takes PWD if it names the same folder.
		cmd.Env = append(cmd.Env[:len(cmd.Env):len(cmd.Env)], "PWD="+dir)
	}
	cmd.WaitDelay = 2 * time.Second
	return cmd, nil
}

// run sends commands to the server in one queue, so that nothing happens between
// them, and returns what they print, without the last newline. dir is the working
// directory of new panes; empty: this process's.
func (c *Client) run(ctx context.Context, dir string, commands ...[]string) (string, error) {
	args := []string{"source-file", "-"}
	if commands[0][0] == "new-session" {
		args = append([]string{"start-server", ";"}, args...)
	}
	return c.call(ctx, dir, commands[0][0], script(commands), args)
}

// ask sends a short command as arguments, which every tmux understands.
func (c *Client) ask(ctx context.Context, command ...string) (string, error) {
	args := slices.Clone(command)
	for i, word := range args { // for tmux, a semicolon at the end of an argument ends a command
		if rest, found := strings.CutSuffix(word, ";"); found {
			args[i] = rest + `\;`
		}
	}
	return c.call(ctx, "", command[0], "", args)
}

func (c *Client) call(ctx context.Context, dir, name, stdin string, args []string) (string, error) {
	cmd, err := c.command(ctx, dir, args...)
	if err != nil {
		return "", err
	}
	var out, bad bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &bad
	if err := cmd.Run(); err != nil {
		return "", failure(name, bad.String(), err)
	}
	return strings.TrimSuffix(out.String(), "\n"), nil
}

// failure returns an error that names the command and what tmux printed.
func failure(command, stderr string, err error) error {
	text := strings.TrimSpace(stderr)
	kind := error(nil)
	switch {
	case strings.Contains(text, "no server running"), strings.Contains(text, "error connecting to"),
		strings.Contains(text, "server exited"), strings.Contains(text, "lost server"):
		kind = ErrNoServer
	case strings.Contains(text, "duplicate session"):
		kind = ErrDuplicate
	case strings.Contains(text, "can't find"),
		strings.Contains(text, "no current target"),
		strings.Contains(text, "no sessions"): // the server is about to end
		kind = ErrGone
	case text == "":
		return fmt.Errorf("run tmux %s: %w", command, err)
	}
	if kind == nil {
		return fmt.Errorf("run tmux %s: %s", command, text)
	}
	return fmt.Errorf("run tmux %s: %w (%s)", command, kind, text)
}

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
	return slices.Contains([]string{"TMUX", "TMUX_PANE", "TERM", "TERM_PROGRAM", "TERM_PROGRAM_VERSION", "LINES", "COLUMNS", "PWD", "_"}, name)
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
