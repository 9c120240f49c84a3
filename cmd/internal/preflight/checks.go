package preflight

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ralph/cmd/internal/cmdline"
	"ralph/cmd/internal/scaffold"
	"ralph/ptyexec"
	"ralph/runner/gate"
	"ralph/runner/git"
	"ralph/runner/git/history"
	"ralph/runner/rules"
)

// AdviceChecks says how to configure checks.
const AdviceChecks = `name them in .ralphrc, for example: TEST_COMMAND="make test"`

// Checks returns the checks of a run: the listed ones, else the commands of the
// options, else those detected in the project's files. Each is valid and has a
// unique name.
func (p *Project) Checks() (rows []gate.Check, detected bool) {
	if rows = p.Config.Checks(); len(rows) > 0 {
		return rows, false
	}
	for _, c := range []gate.Check{
		{Name: "build", Kind: gate.KindBuild, Command: p.Config.BuildCommand},
		{Name: "test", Kind: gate.KindTest, Command: p.Config.TestCommand},
		{Name: "lint", Kind: gate.KindLint, Command: p.Config.LintCommand},
	} {
		if c.Command != "" {
			rows = append(rows, c)
		}
	}
	if len(rows) > 0 || !p.Config.DetectChecks {
		return rows, false
	}
	rows = scaffold.Checks(p.Dir, OnPath)
	return rows, len(rows) > 0
}

// OnPath reports whether a program is on PATH.
func OnPath(program string) bool { _, err := exec.LookPath(program); return err == nil }

// FindChecks detects checks in a project that had none, if code or a manifest is
// among the changed files.
func FindChecks(dir string, changed []string) []gate.Check {
	if !slices.ContainsFunc(changed, scaffold.Telling) {
		return nil
	}
	return scaffold.Checks(dir, OnPath)
}

// Mode returns which failures block. Nobody asked for detected checks, and they may
// have failed for long, so they must only not get worse.
func (p *Project) Mode(detected bool) gate.Mode {
	switch {
	case p.Config.TestMode != "":
		return gate.Mode(p.Config.TestMode)
	case detected:
		return gate.ModeTDD
	}
	return gate.ModeGate
}

// AllChecks returns the checks of the project and of its packages.
func (p *Project) AllChecks() []gate.Check {
	rows, _ := p.Checks()
	return append(rows, gate.Rows(p.Dir, rows)...)
}

const (
	copyTimeout = 10 * time.Minute // of a check that has no timeout of its own
	outputKept  = 4 << 10          // bytes of a check's output
)

// dependencies are folders that git ignores but checks need. A copy of a state
// links to those of the project.
var dependencies = []string{"node_modules", ".venv", "venv", "vendor"}

// PassesIn runs a check in a temporary copy of a kept state.
func (p *Project) PassesIn(oid string, c gate.Check, sig *cmdline.Signals) (passes bool, took time.Duration, err error) {
	temp, err := os.MkdirTemp("", "ralph-state-")
	if err != nil {
		return false, 0, fmt.Errorf("make folder: %w", err)
	}
	defer os.RemoveAll(temp)
	dir, err := p.copyState(sig.Ctx, oid, temp)
	if err != nil {
		return false, 0, errors.Join(err, sig.Ctx.Err())
	}
	var out []byte
	exit, err := ptyexec.Run(sig.Ctx, ptyexec.Command{
		Args: []string{"/bin/sh", "-c", c.Command}, Dir: filepath.Join(dir, c.Dir), Env: p.Config.EnvFilter().Checks(p.Env),
		Pipe: true, Timeout: cmp.Or(c.Timeout, copyTimeout), Kill: sig.Kill,
	}, func(b []byte) bool {
		out = append(out, b...)
		out = out[max(0, len(out)-outputKept):]
		return false
	})
	ended := exit.Cause == ptyexec.CauseExited
	switch {
	case err != nil:
		err = fmt.Errorf("run check: %w", err)
	case exit.Cause == ptyexec.CauseCancelled:
		err = &cmdline.ExitError{Code: rules.ExitInterrupted, Text: "interrupted"}
	case ended && (exit.Code == 126 || exit.Code == 127):
		err = fmt.Errorf("the check cannot run: %s", strings.TrimSpace(string(out)))
	}
	return ended && exit.Code == 0, exit.Duration, err
}

// copyState checks a state out into temp and returns the project's folder there.
func (p *Project) copyState(ctx context.Context, oid, temp string) (string, error) {
	if err := history.Checkout(ctx, p.Dir, oid, temp); err != nil {
		return "", err
	}
	root, _ := git.Root(p.Dir)
	project, err := filepath.EvalSymlinks(p.Dir)
	if err != nil {
		return "", fmt.Errorf("copy state: %w", err)
	}
	rel, err := filepath.Rel(root, project)
	if err != nil {
		return "", fmt.Errorf("copy state: %w", err)
	}
	dir := filepath.Join(temp, rel)
	err = os.MkdirAll(dir, 0o755)
	for _, name := range dependencies {
		_, missing := os.Stat(filepath.Join(project, name))
		_, own := os.Lstat(filepath.Join(dir, name)) // the state has its own
		if err == nil && missing == nil && own != nil {
			err = os.Symlink(filepath.Join(project, name), filepath.Join(dir, name))
		}
	}
	if err != nil {
		return "", fmt.Errorf("copy state: %w", err)
	}
	return dir, nil
}
