// Package act runs `ralph VERB` for a program that shows a run: that is how such a program acts. A verb
// says in its last line what it did, or why it failed.
package act

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"

	"ralph/logs/termtext"
)

// Ralph is how to run verbs.
type Ralph struct {
	Command []string      // the program, and the words before a verb: ralph -C DIR
	Dir     string        // working directory; empty: this process's
	Bound   time.Duration // of each verb; zero: what the verb usually needs
	Most    int           // bytes of its output to keep; 0: all
}

// Said is what a verb printed.
type Said struct {
	Out     []byte // to stdout, up to Ralph.Most bytes
	Size    int    // bytes that it wrote to stdout
	Text    string // the last line on stdout, clean
	Problem string // the last line on stderr, clean, without the name of the program
	Err     error  // it could not run, did not end in time, or ended with another exit code than 0
}

// In is ralph in the project in a folder.
func In(program, dir string) Ralph { return Ralph{Command: []string{program, "-C", dir}, Dir: dir} }

// usual is how long verbs may take: most of them only read and write files in .ralph.
const usual = 10 * time.Second

// boundOf is how long a verb may take.
func boundOf(name string) time.Duration {
	switch name {
	case "undo": // writes files and a commit
		return 5 * time.Minute
	case "diff", "agent": // wait for git, and for agents that list their models
		return 30 * time.Second
	}
	return usual
}

// maxArg is how many bytes an argument may have. Linux takes 128 KiB.
const maxArg = 100 << 10

// Run runs a verb. If it does not end in time, Run kills it.
func (r Ralph) Run(ctx context.Context, args ...string) Said {
	for _, arg := range args {
		if len(arg) > maxArg || strings.ContainsRune(arg, 0) {
			return Said{Err: fmt.Errorf("a text has at most %d bytes, and no NUL", maxArg)}
		}
	}
	bound := cmp.Or(r.Bound, boundOf(args[0]))
	ctx, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	cmd := exec.CommandContext(ctx, r.Command[0], slices.Concat(r.Command[1:], args)...)
	out, problem := keeper{most: r.Most}, keeper{most: none}
	cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = r.Dir, &out, &problem, time.Second
	err := cmd.Run()
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		err = lateError{bound}
	}
	return Said{Out: out.first, Size: out.size, Text: lastLine(out.last), Problem: Problem(problem.last), Err: err}
}

// Output returns what a verb writes to stdout, or why it failed.
func (r Ralph) Output(ctx context.Context, args ...string) ([]byte, error) {
	s := r.Run(ctx, args...)
	return s.Out, s.Failure()
}

// Line is what a person is told: the last line that the verb printed, or why it failed.
func (s Said) Line() string {
	if err := s.Failure(); err != nil {
		return err.Error()
	}
	return cmp.Or(s.Text, s.Problem)
}

// Failure says in one line why the verb failed, in its own words if it has any. Nil: it did not fail.
func (s Said) Failure() error {
	said := cmp.Or(s.Problem, s.Text)
	if s.Err == nil || s.Late() || said == "" {
		return s.Err
	}
	return errors.New(said)
}

// Late is true if the verb did not end in time.
func (s Said) Late() bool {
	_, late := errors.AsType[lateError](s.Err)
	return late
}

// Problem is the last line of what a verb wrote to stderr, without the name of the program.
func Problem(stderr []byte) string { return strings.TrimPrefix(lastLine(stderr), "ralph: ") }

func lastLine(out []byte) string {
	text := strings.TrimSpace(termtext.Clean(string(out[max(len(out)-tail, 0):])))
	return termtext.Line(text[strings.LastIndexByte(text, '\n')+1:])
}

type lateError struct{ bound time.Duration }

// Error implements error.
func (e lateError) Error() string { return fmt.Sprintf("ralph did not answer within %s", e.bound) }

// tail is how many bytes a last line may have.
const tail = 4096

// none is the most of a keeper that keeps only the last bytes.
const none = -1

// keeper keeps the first bytes of a stream, and the last ones.
type keeper struct {
	most, size  int // most: of first; 0: all
	first, last []byte
}

// Write implements io.Writer.
func (k *keeper) Write(p []byte) (int, error) {
	first := p
	if k.most != 0 {
		first = p[:min(len(p), max(k.most-k.size, 0))]
	}
	k.first, k.size = append(k.first, first...), k.size+len(p)
	k.last = append(k.last, p...)
	k.last = bytes.Clone(k.last[max(len(k.last)-tail, 0):])
	return len(p), nil
}
