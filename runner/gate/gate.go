// Package gate runs the project's checks after the agent's turn, each in a child
// process of its own, compares the results with the baseline, and writes feedback
// for the agent.
//
//	Suite.Run: checks --> those that the change affects --> run --> failed? run again --> verdict --> Report
//	                                                         |                              |
//	                                                 runner/gate/report                  Baseline
package gate

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"

	"ralph/ptyexec"
	"ralph/runner/gate/report"
	"ralph/runner/sandbox"
)

// Result is the result of one check.
type Result struct {
	Name     string        `json:"name"`
	Command  string        `json:"command"`          // that the user can type in the project's folder
	Passed   bool          `json:"passed"`           // the command succeeded; if it ran twice, the second time
	Output   string        `json:"output,omitempty"` // stdout and stderr; of long output the beginning and the end
	Duration time.Duration `json:"duration_ns"`
	ExitCode int           `json:"exit_code"` // -1: ended by a signal, or not started
	TimedOut bool          `json:"timed_out,omitempty"`

	Check   Check   `json:"check"`
	Verdict Verdict `json:"verdict"`
	Blocks  bool    `json:"blocks,omitempty"` // no task is done until it passes
	// BlocksEnd: it blocks no task, but no run is complete until it passes. Only in ModeAuto.
	BlocksEnd bool   `json:"blocks_end,omitempty"`
	Reason    string `json:"reason,omitempty"` // one sentence; empty if the check passed
	// Elsewhere is where people see a check that ran on other machines; empty: ralph ran it.
	Elsewhere string `json:"elsewhere,omitempty"`
	// Tests are the single tests, from the output and from report files.
	Tests report.Summary `json:"tests"`
	// Blamed are the failed tests that are not in the baseline. It is empty if the
	// check itself is to blame, because its tests are not known.
	Blamed []report.Test `json:"blamed,omitempty"`
	Known  []string      `json:"known,omitempty"` // failed tests that the baseline has, too
	New    []string      `json:"new,omitempty"`   // failed tests that never passed; in ModeTDD and ModeAuto
	Own    []string      `json:"own,omitempty"`   // those of Blamed that are only blamed because they belong to the task
	Flaky  []string      `json:"flaky,omitempty"` // names of tests, or of the check, that failed in one of two runs
	First  *Result       `json:"first,omitempty"` // the first of two runs; nil: there was one
}

// Place is where checks run.
type Place struct {
	Dir  string // the project
	Env  []string
	Kill <-chan struct{} // closed: kill the check
	Box  sandbox.Box     // contains the check; zero: nothing does
}

const (
	defaultTimeout     = 10 * time.Minute
	headKept, tailKept = 8 << 10, 24 << 10
)

// run runs a check once. The caller sets Verdict and everything that depends on it.
func run(ctx context.Context, c Check, p Place) (Result, error) {
	timeout := cmp.Or(c.Timeout, defaultTimeout)
	req, err := prepare(c, p)
	if err != nil {
		return Result{}, fmt.Errorf("run check %q: %w", c.Name, err)
	}
	defer os.RemoveAll(req.dir)
	dir := filepath.Join(p.Dir, filepath.FromSlash(c.Dir))
	if _, err := os.Stat(dir); err != nil {
		r := result(c)
		r.ExitCode, r.Output = -1, fmt.Sprintf("the folder %q does not exist", c.Dir)
		r.Tests.Nothing = r.Output
		return r, nil
	}
	out := &report.Excerpt{Head: headKept, Tail: tailKept}
	stream := report.NewStream(formatOf(c), out)
	began := time.Now()
	cmd, err := p.Box.Wrap(ptyexec.Command{
		Args: []string{"/bin/sh", "-c", req.command}, Dir: dir, Env: req.env,
		Pipe: true, Timeout: timeout, Kill: p.Kill,
	}, req.dir)
	var exit ptyexec.Exit
	if err == nil {
		exit, err = ptyexec.Run(ctx, cmd, func(b []byte) bool { _, _ = stream.Write(b); return false })
	}
	if err != nil {
		return Result{}, fmt.Errorf("run check %q: %w", c.Name, err)
	}
	if exit.Cause == ptyexec.CauseCancelled {
		return Result{}, cmp.Or(context.Cause(ctx), context.Canceled) // no cause: Kill was closed
	}
	r := result(c)
	r.Passed = exit.Code == 0 && exit.Cause == ptyexec.CauseExited
	r.Duration, r.ExitCode, r.TimedOut = exit.Duration, exit.Code, exit.Cause == ptyexec.CauseTimeout
	r.Tests = req.read(stream.Close(), dir, began)
	r.Output = req.hide(out.String())
	if r.Tests.Nothing == "" && !r.Passed && strings.Contains(r.Output, "No rule to make target") && len(glob(dir, "{GNUm,m,M}akefile")) == 0 {
		r.Tests.Nothing = "there is no makefile"
	}
	if r.TimedOut {
		r.Output += fmt.Sprintf("\n(timeout: ended after %s)", timeout)
	}
	return r, nil
}

// Elsewhere returns the result of a required check that other machines ran, or have not finished, for the reason in
// pending. It blocks the end of the run, if it blocks at all.
func Elsewhere(name, where, output, pending string, passed bool) Result {
	r := Result{Name: name, Command: "open " + where, Check: Check{Name: name, Command: where, Format: report.ExitCode},
		Passed: passed, Output: output, Elsewhere: where, Reason: pending, Verdict: VerdictPassed}
	switch {
	case pending != "":
		r.Verdict = VerdictSkipped
	case !passed:
		r.Verdict, r.BlocksEnd, r.ExitCode, r.Reason = VerdictFailed, true, 1, "fails"
	}
	return r
}

func result(c Check) Result { return Result{Name: c.Name, Command: c.Reproduce(), Check: c} }

// glob returns the files in dir that match a slash pattern. A malformed one matches nothing.
func glob(dir, pattern string) []string {
	files, _ := doublestar.Glob(os.DirFS(dir), path.Clean(pattern))
	return files
}

// formatOf returns the format of the output. ralph detects it only for tests.
func formatOf(c Check) report.Format {
	if c.Format == report.Auto && cmp.Or(c.Kind, KindTest) != KindTest {
		return report.ExitCode
	}
	return c.Format
}
