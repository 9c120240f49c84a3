// Package gate runs the checks that ralph makes itself after the agent's turn,
// each in a clean child process, compares them with what was red before, and
// tells the agent what matters.
//
//	Suite.Run: rows --> packages and files that changed --> run --> red? once more --> verdict --> Report
//	                                                         |           |               |
//	                                                 runner/gate/report  Flakes       Baseline
package gate

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ralph/ptyexec"
	"ralph/runner/gate/report"
)

// Result is what one check said.
type Result struct {
	Name     string        `json:"name"`
	Command  string        `json:"command"`          // as the user can type it in the project's folder
	Passed   bool          `json:"passed"`           // the command succeeded, in its last run
	Output   string        `json:"output,omitempty"` // stdout and stderr, without the middle of a long one
	Duration time.Duration `json:"duration_ns"`
	ExitCode int           `json:"exit_code"` // -1: ended by a signal, or never started
	TimedOut bool          `json:"timed_out,omitempty"`

	Check   Check   `json:"check"`
	Verdict Verdict `json:"verdict"`
	Blocks  bool    `json:"blocks,omitempty"` // nothing counts as done until it passes
	Reason  string  `json:"reason,omitempty"` // one sentence; empty for a check that passed
	// Tests is what the output or a report file says about single tests.
	Tests report.Summary `json:"tests"`
	// Blamed are the tests that fail now and passed before the run. When no
	// single test can be blamed, it is empty and the check itself is to blame.
	Blamed []report.Test `json:"blamed,omitempty"`
	Known  []string      `json:"known,omitempty"` // failed tests that failed before the run, too
	Flaky  []string      `json:"flaky,omitempty"` // tests, or the check's own name, that failed in one of two runs
	First  *Result       `json:"first,omitempty"` // the first of two runs; nil: it ran once
}

// Place is where checks run.
type Place struct {
	Dir  string // the project
	Env  []string
	Kill <-chan struct{} // closed: end at once
}

const (
	defaultTimeout = 10 * time.Minute
	headKept       = 8 << 10
	tailKept       = 24 << 10
)

// run runs one check once. Verdict and what follows from it are left to the caller.
func run(ctx context.Context, c Check, p Place) (Result, error) {
	timeout := c.Timeout
	if timeout == 0 {
		timeout = defaultTimeout
	}
	ask, err := instrument(c, p)
	if err != nil {
		return Result{}, fmt.Errorf("run check %q: %w", c.Name, err)
	}
	defer os.RemoveAll(ask.dir)
	dir := filepath.Join(p.Dir, filepath.FromSlash(c.Dir))
	if _, err := os.Stat(dir); err != nil {
		why := fmt.Sprintf("the folder %q does not exist", c.Dir)
		return Result{Name: c.Name, Command: c.Reproduce(), Check: c, Output: why, Tests: report.Summary{Nothing: why}, ExitCode: -1}, nil
	}
	out := &report.Excerpt{Head: headKept, Tail: tailKept}
	stream := report.NewStream(formatOf(c), out)
	began := time.Now()
	exit, err := ptyexec.Run(ctx, ptyexec.Command{
		Args: []string{"/bin/sh", "-c", ask.command}, Dir: dir, Env: ask.env,
		Pipe: true, Timeout: timeout, Kill: p.Kill,
	}, func(b []byte) bool { _, _ = stream.Write(b); return false })
	if err != nil {
		return Result{}, fmt.Errorf("run check %q: %w", c.Name, err)
	}
	if exit.Cause == ptyexec.CauseCancelled {
		return Result{}, cmp.Or(context.Cause(ctx), context.Canceled) // without a cause it was Kill
	}
	r := Result{Name: c.Name, Command: c.Reproduce(), Check: c, Passed: exit.Code == 0 && exit.Cause == ptyexec.CauseExited,
		Duration: exit.Duration, ExitCode: exit.Code, TimedOut: exit.Cause == ptyexec.CauseTimeout}
	r.Tests = ask.read(stream.Close(), dir, began)
	r.Output = ask.hide(out.String())
	if r.Tests.Nothing == "" && strings.Contains(r.Output, "No rule to make target") && !hasMakefile(dir) {
		r.Tests.Nothing = "there is no makefile"
	}
	if r.TimedOut {
		r.Output += fmt.Sprintf("\n(timeout: ended after %s)", timeout)
	}
	return r, nil
}

func hasMakefile(dir string) bool {
	return slices.ContainsFunc([]string{"GNUmakefile", "makefile", "Makefile"}, func(name string) bool {
		_, err := os.Stat(filepath.Join(dir, name))
		return err == nil
	})
}

// formatOf is what to read an output as: only tests are told apart.
func formatOf(c Check) report.Format {
	if c.Format == report.Auto && cmp.Or(c.Kind, KindTest) != KindTest {
		return report.ExitCode
	}
	return c.Format
}
