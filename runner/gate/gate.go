// Package gate runs the checks that ralph makes itself after the agent's turn,
// each in a clean child process.
package gate

import (
	"context"
	"fmt"
	"strings"
	"time"

	"ralph/ptyexec"
)

// Check is one command that has to succeed.
type Check struct {
	Name    string
	Command string        // for sh -c, in the project
	Timeout time.Duration // 0: 10 minutes
}

// Result is what one check said.
type Result struct {
	Name     string
	Command  string
	Passed   bool
	Output   string // of stdout and stderr, the beginning and the end where it was long
	Duration time.Duration
}

// Place is where checks run.
type Place struct {
	Dir  string
	Env  []string
	Kill <-chan struct{} // closed: end at once
}

const defaultTimeout = 10 * time.Minute

// Run runs the checks in order and stops at the first that fails: what comes
// later would only repeat its noise. The error is ralph's own: no shell, or the
// context ended.
func Run(ctx context.Context, checks []Check, p Place) ([]Result, error) {
	var results []Result
	for _, c := range checks {
		r, err := run(ctx, c, p)
		if err != nil {
			return results, err
		}
		results = append(results, r)
		if !r.Passed {
			break
		}
	}
	return results, nil
}

func run(ctx context.Context, c Check, p Place) (Result, error) {
	timeout := c.Timeout
	if timeout == 0 {
		timeout = defaultTimeout
	}
	var out excerpt
	exit, err := ptyexec.Run(ctx, ptyexec.Command{
		Args: []string{"/bin/sh", "-c", c.Command}, Dir: p.Dir, Env: p.Env,
		Pipe: true, Timeout: timeout, Kill: p.Kill,
	}, func(b []byte) bool { out.add(b); return false })
	if err != nil {
		return Result{}, fmt.Errorf("run check %q: %w", c.Name, err)
	}
	if exit.Cause == ptyexec.CauseCancelled {
		return Result{}, context.Cause(ctx)
	}
	r := Result{Name: c.Name, Command: c.Command, Passed: exit.Code == 0 && exit.Cause == ptyexec.CauseExited,
		Output: out.String(), Duration: exit.Duration}
	if exit.Cause == ptyexec.CauseTimeout {
		r.Output += fmt.Sprintf("\n(ended after %s)", timeout)
	}
	return r, nil
}

const (
	headKept = 8 << 10
	tailKept = 24 << 10
)

// excerpt keeps the beginning and the end of an output of any size.
type excerpt struct {
	head, tail []byte
	lost       int
}

func (e *excerpt) add(b []byte) {
	if room := headKept - len(e.head); room > 0 {
		n := min(room, len(b))
		e.head = append(e.head, b[:n]...)
		b = b[n:]
	}
	e.tail = append(e.tail, b...)
	if over := len(e.tail) - 2*tailKept; over > 0 {
		cut := len(e.tail) - tailKept
		e.lost += cut
		e.tail = append(e.tail[:0], e.tail[cut:]...)
	}
}

func (e *excerpt) String() string {
	tail, lost := e.tail, e.lost
	if over := len(tail) - tailKept; over > 0 {
		tail, lost = tail[over:], lost+over
	}
	text := string(e.head) + string(tail)
	if lost > 0 {
		text = fmt.Sprintf("%s\n... (%d bytes left out) ...\n%s", e.head, lost, tail)
	}
	return strings.TrimRight(strings.ToValidUTF8(text, "\uFFFD"), "\r\n")
}
